"""PortAudio through sounddevice, loaded when asked for: files and pipes need neither."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .card import DeviceError

_INSTALL = {
    "linux": "install it: `apt-get install libportaudio2` on Debian and Ubuntu, `dnf install portaudio` on Fedora",
    "darwin": "install it: `brew install portaudio`, or `pip install --force-reinstall sounddevice`, which brings it",
    "win32": "install it: `pip install --force-reinstall sounddevice`, which brings it",
}
_CHECK = "check that the system's sound works, as with `velavox devices`"
_FREE = "close the program that uses it, or choose the sound server's device, which several may use"
_ALLOW = "allow it: in the system's privacy settings for microphones, or on Linux as a member of the group audio"

# PortAudio's error codes, and what hosts say where PortAudio knows no better: errno from ALSA, HRESULT from Windows.
INVALID_RATE, _INVALID_DEVICE, _UNAVAILABLE = -9997, -9996, -9985
_HOST_SAYS = (
    (("Permission denied", "Access is denied", "Access denied"), "the system does not allow access", _ALLOW),
    (("busy", "in use"), "it is in use", _FREE),
    (("No such", "Connection refused", "Connection terminated"), "it is not there", "plug it in, or start the sound server"),
)


def sounddevice() -> Any:
    """The module, PortAudio initialised; DeviceError where that cannot be."""
    try:
        import sounddevice
    except ImportError:
        raise DeviceError("the Python module sounddevice is missing", "install it: `pip install sounddevice`") from None
    except OSError:
        remedy = _INSTALL.get(sys.platform, "install it with the system's package manager")
        raise DeviceError("the sound library PortAudio is missing", remedy) from None
    except Exception as error:  # its own PortAudioError, which cannot be named as the import has failed
        raise DeviceError(f"PortAudio does not start: {one_line(error)}", _CHECK) from None
    return sounddevice


def refresh() -> None:
    """Have PortAudio look for devices again; it ends every stream of this process, other modules' too."""
    sd = sounddevice()
    try:
        if sd._initialized:  # not where the last attempt has failed
            sd._terminate()
        sd._initialize()
    except sd.PortAudioError as error:
        raise DeviceError(f"PortAudio does not start: {one_line(error)}", _CHECK) from None


def explained(error: Exception, what: str) -> DeviceError:
    """What PortAudio refused for `what` (as "input 'Yeti'"), with the remedy."""
    code = error.args[1] if len(error.args) > 1 else 0
    text = one_line(error)
    if code == _UNAVAILABLE:
        return DeviceError(f"{what}: it is in use, or gone", _FREE)
    if code == _INVALID_DEVICE:
        return DeviceError(f"{what}: it is not there", "plug it in; `velavox devices` lists what there is")
    if code == INVALID_RATE:
        return DeviceError(f"{what}: it refuses this rate", "give another --rate, or none")
    for words, cause, remedy in _HOST_SAYS:
        if any(word.lower() in text.lower() for word in words):
            return DeviceError(f"{what}: {cause}", remedy)
    return DeviceError(f"{what}: {text}", _CHECK)


def one_line(error: Exception) -> str:
    """PortAudio's and the host's words."""
    host = error.args[2] if len(error.args) > 2 else None
    text = f"{error.args[0] if error.args else type(error).__name__}{f' ({host[2]})' if host else ''}"
    return " ".join(text.split())


@contextmanager
def quiet() -> Iterator[None]:
    """Drop what libraries write to the process's stderr, from any thread, while Python's goes on: ALSA and PortAudio tell
    there what is reported here as one line. Where that cannot be, as with no stderr, nothing is dropped."""
    python = sys.stderr
    try:
        stderr = os.dup(2)
    except OSError:  # closed: there is nobody to tell
        stderr = -1
    if stderr < 0:
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if python is not None:
        with suppress(OSError, ValueError):  # the terminal has gone
            python.flush()
    os.dup2(nowhere, 2)
    os.close(nowhere)
    encoding, errors = getattr(python, "encoding", None), getattr(python, "errors", None)
    ours = sys.stderr = open(os.dup(stderr), "w", buffering=1, encoding=encoding, errors=errors)  # noqa: SIM115
    try:
        yield
    finally:
        sys.stderr = python
        os.dup2(stderr, 2)
        os.close(stderr)
        with suppress(OSError, ValueError):  # what it has yet to write cannot be written: the terminal has gone
            ours.close()

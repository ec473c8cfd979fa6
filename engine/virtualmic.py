"""A microphone that is not there: what is played into it, chat programs hear as a microphone.

On Linux it is made, a sink to play into and a source that gives what it plays, and removed at the end, unless a program still
listens: the server would at once connect that one to another microphone, mostly the speaker's own (measured: correlation
1.000 with the raw voice). The source then stays, silent. On macOS and Windows a virtual cable has to be installed, and is
found by its name.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from . import devices, soundserver
from .card import DeviceError

CABLES = (  # what a cable is called as an output and, for those who listen, as an input
    ("BlackHole", "BlackHole"),
    ("CABLE Input", "CABLE Output"),
    ("VoiceMeeter Input", "VoiceMeeter Output"),
)
LEAVING = 0.3  # s for a server to answer when a run ends, and has no more to spare
_PID = "velavox.pid"  # says on the server whose it is


class VirtualMic:
    """A virtual microphone to play into.

    Attributes:
        output: the device to play to, as `SoundCard` takes it.
        pick: the microphone to pick in a chat program.
        kept: after the end, that it was left in place, silent, since a program listens to it.
    """

    def __init__(self, output: str | int, pick: str) -> None:
        self.output, self.pick = output, pick
        self.kept = False

    def renew(self) -> None:
        """Bring it back if it has gone, as after a restart of the sound server. DeviceError if that cannot be."""


class _Served(VirtualMic):
    """By the sound server: a null sink, and a source that remaps its monitor, since programs hide monitors from the list of
    microphones."""

    def __init__(self, name: str) -> None:
        slug = re.sub(r"\W+", "_", name.casefold(), flags=re.ASCII).strip("_") or "mic"
        self._sink, self._source = f"velavox_{slug}", f"velavox_{slug}_mic"
        self._changing = threading.Lock()  # held while it is made or removed
        self._made = self._removed = False
        super().__init__(self._sink, name)

    def claim(self) -> None:
        """DeviceError if another run that goes on has one of this name. What other runs left behind, `renew` takes over."""
        found = self._modules()
        for arguments in found.values():
            pid = re.search(rf"{re.escape(_PID)}=(\d+)", arguments)
            if pid and _runs(int(pid[1])):
                what = f"the virtual microphone {self.pick!r} belongs to process {pid[1]}"
                raise DeviceError(what, "end that, or give another name")
        if found and soundserver.streams_at("output", self._sink):  # a run that has taken it over
            raise DeviceError(f"something plays into the virtual microphone {self.pick!r}", "end that, or give another name")

    def renew(self) -> None:
        with self._changing:
            self._make()

    def _make(self) -> None:
        found = self._modules()
        if len(found) == 2 and (self._made or self._listened_to()):
            self._made = True
            return
        self._unload(found)
        # norewinds: else the first callback may take 2 s
        form = ["format=float32le", "rate=48000", "channels=1", "channel_map=mono"]
        sink = [f"sink_name={self._sink}", f"sink_properties={self._properties(f'{self.pick} (velavox)')}"]
        self._load("module-null-sink", *sink, *form, "norewinds=1")
        monitor = f"{self._sink}.monitor"
        more = f"device.master_device={monitor}"  # PipeWire does not say it
        source = [f"source_name={self._source}", f"source_properties={self._properties(self.pick, more)}"]
        self._load("module-remap-source", f"master={monitor}", *source, *form)
        self._made = True

    def remove(self) -> None:
        """Take it away for good, unless a program listens to it; nothing where it has gone, or nobody answers."""
        self._removed = True  # before the lock: who holds it, in a thread that was left behind, loads nothing more
        held = self._changing.acquire(timeout=LEAVING)
        if not held:  # by somebody who waits for a server that hangs
            return
        try:
            with suppress(DeviceError):
                self.kept = self._listened_to(LEAVING)
                if not self.kept:
                    self._unload(self._modules(LEAVING), LEAVING)
        finally:
            self._changing.release()

    def _listened_to(self, seconds: float = soundserver.SECONDS) -> bool:
        return soundserver.streams_at("input", self._source, seconds) > 0

    def _properties(self, description: str, more: str = "") -> str:
        inner = f'device.description="{description}" {_PID}={os.getpid()} {more}'
        return "'{}'".format(inner.replace("'", r"\'"))

    def _load(self, *words: str) -> None:
        if self._removed:
            raise DeviceError(f"the virtual microphone {self.pick!r} has been removed", "make another one")
        soundserver.ask("load-module", *words)

    def _modules(self, seconds: float = soundserver.SECONDS) -> dict[str, str]:
        """Numbers and arguments of its modules, in the order of loading."""
        names = {f"sink_name={self._sink}", f"source_name={self._source}"}
        rows = [line.split("\t") for line in soundserver.ask("list", "short", "modules", seconds=seconds).splitlines()]
        return {row[0]: row[2] for row in rows if len(row) > 2 and names & set(row[2].split())}

    def _unload(self, modules: dict[str, str], seconds: float = soundserver.SECONDS) -> None:
        for number in reversed(modules):  # the source first, which hangs on the sink
            with suppress(DeviceError):  # it has gone already
                soundserver.ask("unload-module", number, seconds=seconds)


@contextmanager
def virtual_microphone(name: str) -> Iterator[VirtualMic]:
    """A microphone called `name` while the context lasts; where a cable stands in, it has a name of its own (`pick`).

    Raises:
        ValueError: the name is empty, or has a double quote, a backslash or what cannot be printed.
        DeviceError: no sound server, or no cable is installed.
    """
    if not name.strip() or not name.isprintable() or set(name) & set('"\\'):
        raise ValueError(f"virtual microphone {name!r}: give a name without double quotes and backslashes")
    if sys.platform != "linux":
        yield _cable()
        return
    mic = _Served(name)
    mic.claim()
    try:
        mic.renew()
        yield mic
    finally:
        mic.remove()


def _cable() -> VirtualMic:
    outputs = [d for d in devices.devices() if d.output]
    for played, heard in CABLES:
        for device in outputs:
            if played.casefold() in device.name.casefold():
                return VirtualMic(played, device.name if played == heard else heard)
    mac = sys.platform == "darwin"
    remedy = "BlackHole (https://existential.audio/blackhole)" if mac else "VB-Cable (https://vb-audio.com/Cable)"
    raise DeviceError("there is no virtual cable, such as BlackHole, VB-Cable or VoiceMeeter", f"install {remedy}")


def _runs(pid: int) -> bool:
    """Whether there is such a process, apart from this one: in a container every run has the same number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return pid != os.getpid()

"""A sound card for tests: a private PulseAudio server whose microphone a test feeds and whose loudspeaker it records.

Everything runs by one clock at 48 kHz and in float32, so that gain and delay are measured to the sample.

    feed() -> sink micfeed --> left of sink rig --> source fakemic (default)   -> the program under test
    the program under test -> sink spk (default) --> right of sink rig --> source anonmic, described as AnonymizedMic
    record() <- rig.monitor: channel 0 what the microphone heard, channel 1 what was played
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import IO

import numpy as np
import numpy.typing as npt
import soundfile

RATE = 48_000
NEEDED = ("pulseaudio", "pactl", "parec", "paplay")
INSTALL = "apt-get install pulseaudio pulseaudio-utils libasound2-plugins libportaudio2"

_ASOUNDRC = "pcm.!default { type pulse }\nctl.!default { type pulse }\n"
# norewinds: without it the first callback comes up to 2 s after the start, and a new connection loses its first 5 ms.
_SCRIPT = """\
load-module module-native-protocol-unix auth-anonymous=1 socket={socket}
load-module module-null-sink sink_name=rig norewinds=1 format=float32le rate=48000 channels=2 channel_map=front-left,front-right
load-module module-remap-sink master=rig sink_name=micfeed channels=1 channel_map=mono master_channel_map=front-left remix=no
load-module module-remap-sink master=rig sink_name=spk channels=1 channel_map=mono master_channel_map=front-right remix=no
load-module module-remap-source master=rig.monitor source_name=fakemic channels=1 channel_map=mono \
master_channel_map=front-left remix=no
load-module module-remap-source master=rig.monitor source_name=anonmic channels=1 channel_map=mono \
master_channel_map=front-right remix=no source_properties=device.description=AnonymizedMic
set-default-sink spk
set-default-source fakemic
"""
_DAEMON = [
    "--daemonize=no",
    "--exit-idle-time=-1",
    "--use-pid-file=no",
    "--disable-shm=yes",
    "--realtime=no",
    "--high-priority=no",
]
_LEASHED = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []  # a test run that is killed leaves nothing


def missing() -> str:
    """What the rig lacks here, with the remedy; "" where nothing."""
    tools = [tool for tool in NEEDED if shutil.which(tool) is None]
    return f"no {', '.join(tools)}: {INSTALL}" if tools else ""


class Recording:
    """What is recorded; `sound`, shape (frames, 2) float32, once it has ended."""

    sound: npt.NDArray[np.float32]


class Rig:
    """The server and the programs started for it. `close()` ends them all, hung ones too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._socket = folder / "pulse.sock"
        self.settings = {
            "PULSE_SERVER": f"unix:{self._socket}",
            "XDG_RUNTIME_DIR": str(folder / "xdg"),
            "HOME": str(folder / "home"),
        }
        (folder / "xdg").mkdir(mode=0o700)
        (folder / "home").mkdir()
        (folder / "home" / ".asoundrc").write_text(_ASOUNDRC)
        (folder / "default.pa").write_text(_SCRIPT.format(socket=self._socket))
        self._programs: list[Popen[bytes]] = []
        self._takes = 0
        self.start()

    @property
    def env(self) -> dict[str, str]:
        """The environment of a program that is to use this rig."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PULSE_")}
        return kept | self.settings

    def start(self) -> None:
        """Start the server, and a listener that keeps it awake and at 10 ms of latency."""
        self._socket.unlink(missing_ok=True)
        with (self.folder / "log").open("ab") as log:
            script = str(self.folder / "default.pa")
            self._daemon = self._run("pulseaudio", "-n", "-F", script, *_DAEMON, stdout=log, stderr=log)
        self._wait(lambda: self.pactl("info", check=False) != "")
        self._run("parec", "-d", "rig.monitor", "--latency-msec=10", "--raw")
        self._wait(
            lambda: any("rig.monitor" in s and "RUNNING" in s for s in self.pactl("list", "short", "sources").splitlines())
        )

    def feed(self, sound: Path | npt.NDArray[np.float32], rate: int = RATE, into: str = "micfeed") -> Popen[bytes]:
        """Play a file, or an array, shape (frames,) float32, into the microphone or another sink; wait() for its end."""
        path = sound
        if not isinstance(path, Path):
            path = self._new("feed", "wav")
            soundfile.write(path, sound, rate, subtype="FLOAT")
        return self._run("paplay", "-d", into, "--latency-msec=100", str(path))

    @contextmanager
    def recording(self, device: str = "rig.monitor", channels: int = 2) -> Iterator[Recording]:
        """Record while the context lasts, from before its first line on; read `sound` of the result afterwards."""
        path, result = self._new("take", "f32"), Recording()
        form = ["--format=float32le", f"--rate={RATE}", f"--channels={channels}", "--raw", "--latency-msec=10"]
        with path.open("wb") as out:
            program = self._run("parec", "-d", device, *form, stdout=out)
        try:
            self._wait(lambda: path.stat().st_size > 0)
            yield result
        finally:
            self._end(program)
            flat = np.fromfile(path, np.float32)
            result.sound = flat[: flat.size // channels * channels].reshape(-1, channels)

    def record(self, seconds: float, device: str = "rig.monitor", channels: int = 2) -> npt.NDArray[np.float32]:
        """Record for so long; shape (frames, channels)."""
        with self.recording(device, channels) as result:
            time.sleep(seconds)
        return result.sound

    def pactl(self, *words: str, check: bool = True) -> str:
        """What `pactl` answers; "" where it fails and `check` is False."""
        done = subprocess.run(["pactl", *words], env=self.env | {"LC_ALL": "C"}, capture_output=True, text=True, timeout=20)
        if check:
            done.check_returncode()
        return done.stdout

    def pause(self) -> None:
        """Stop the server as a debugger does: it neither answers nor closes its connections."""
        self._daemon.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._daemon.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End the server without warning, and with it every connection."""
        self._daemon.kill()
        self._daemon.wait()

    def restart(self) -> None:
        self.close()
        self.start()

    def close(self) -> None:
        """End every program that was started here."""
        for program in reversed(self._programs):
            self._end(program)
        self._programs.clear()

    def _run(self, *command: str, stdout: IO[bytes] | int = DEVNULL, stderr: IO[bytes] | int = DEVNULL) -> Popen[bytes]:
        program = Popen([*_LEASHED, *command], env=self.env, stdin=DEVNULL, stdout=stdout, stderr=stderr)
        self._programs.append(program)
        return program

    def _end(self, program: Popen[bytes]) -> None:
        if program.poll() is None and program is not self._daemon:
            program.terminate()
            with suppress(subprocess.TimeoutExpired):
                program.wait(1)
        program.kill()
        program.wait()

    def _new(self, name: str, suffix: str) -> Path:
        self._takes += 1
        return self.folder / f"{name}{self._takes}.{suffix}"

    def _wait(self, ready: Callable[[], bool], seconds: float = 20) -> None:
        until = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > until or self._daemon.poll() is not None:
                log = (self.folder / "log").read_text(errors="replace")
                self.close()
                raise RuntimeError(f"the PulseAudio server of the tests does not answer:\n{log}")
            time.sleep(0.02)

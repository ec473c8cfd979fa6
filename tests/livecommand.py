"""`velavox live`, and programs like it, at work on the tests' sound server."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rig import Rig

MAIN = "from velavox.engine.cli import main; main()"
COMMAND = [sys.executable, "-c", MAIN, "live"]
PATIENCE = 30.0  # s for what takes one or two on a machine with nothing else to do


class Command:
    """A program at work; `lines` is what it has said so far."""

    def __init__(self, rig: Rig, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            command, env=rig.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))

    def wait_for(self, start: str) -> None:
        """Until it says a line that starts so."""
        until = time.monotonic() + PATIENCE
        while not any(line.startswith(start) for line in self.lines):
            assert time.monotonic() < until, self.lines
            assert self.process.poll() is None, self.lines
            time.sleep(0.02)

    def stop(self, number: int = signal.SIGINT) -> tuple[float, str]:
        """End it: s that it took, and what it wrote to stdout."""
        began = time.monotonic()
        self.process.send_signal(number)
        status = self.process.wait(PATIENCE)
        took = time.monotonic() - began
        assert status == 0, self.lines
        return took, self.output()

    def finish(self) -> str:
        """Wait for its own end; what it wrote to stdout."""
        assert self.process.wait(PATIENCE) == 0, self.lines
        return self.output()

    def output(self) -> str:
        assert self.process.stdout is not None
        with self.process.stdout as stdout:
            out = stdout.read()
        self._reader.join(PATIENCE)
        assert not any("Traceback" in line for line in self.lines), self.lines
        return out

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


@contextmanager
def live(rig: Rig, *options: str | Path, command: Sequence[str] = COMMAND) -> Iterator[Command]:
    """The command, or another program, with these options."""
    running = Command(rig, [*command, *map(str, options)])
    try:
        yield running
    finally:
        running.end()

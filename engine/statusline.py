"""The line that a live stream keeps on a terminal: state, levels, delay, troubles, load, voice and keys."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from types import TracebackType
from typing import Self

from .progress import one_line, say
from .status import State, Status

KEYS = {"m": "mute", "n": "new voice", "q": "quit"}
_BAR = 10  # characters
_FLOOR = -60.0  # dB: an empty bar
_USUAL = 80  # columns, where the terminal does not know: it says 0


class StatusLine:
    """The line, as a context; nothing is written where stderr is no terminal."""

    def __init__(self) -> None:
        self._length = 0
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._write("")

    def show(self, status: Status, keys: bool) -> None:
        """Draw it anew. `keys`: somebody may type."""
        if self._shown:
            with suppress(OSError):
                columns = os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL
                self._write(text(status, keys)[: columns - 1])

    def say(self, text: str) -> None:
        """A line of its own, above."""
        self._write("")
        say(text)

    def _write(self, line: str) -> None:
        """Replace the line; blanks over the rest of the old one, since not every terminal knows how to erase."""
        if not self._shown:
            return
        with suppress(OSError):
            blank = " " * (self._length - len(line))
            sys.stderr.write(f"\r{line}{blank}" + ("" if line else "\r"))
            sys.stderr.flush()
        self._length = len(line)


def text(status: Status, keys: bool) -> str:
    """All of it, in ASCII, the most important first: what a narrow terminal cuts off is the end."""
    parts = [
        f"{status.state.upper() if status.state in (State.muted, State.lost) else status.state:<11}",
        f"in {_meter(status.level_in_db)}",
        f"out {_meter(status.level_out_db)}",
        f"{status.delay_ms:3.0f} ms",
        f"{status.xruns} xruns",
        f"load {100 * status.deadline_p50:.0f}/{100 * status.deadline_p99:.0f} %",
        status.voice,
        *([", ".join(f"{key} {meaning}" for key, meaning in KEYS.items())] if keys else []),
    ]
    return one_line("  ".join(parts)).encode("ascii", "replace").decode()


def _meter(level_db: float) -> str:
    filled = round(_BAR * min(max(1 - level_db / _FLOOR, 0.0), 1.0))
    return f"[{'#' * filled}{'.' * (_BAR - filled)}]{max(level_db, -99.0):4.0f} dB"

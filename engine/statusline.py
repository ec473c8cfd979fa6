"""The line that a live stream keeps on a terminal: state, delay, troubles, load, levels and the voice's number."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from types import TracebackType
from typing import NamedTuple, Self

from .progress import counted, one_line, say
from .status import State, Status

_FLOOR = -60.0  # dB: an empty bar
_SILENCE = -100.0  # dB, below what 16 bits hold
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

    def show(self, status: Status) -> None:
        """Draw it anew."""
        if self._shown:
            with suppress(OSError):
                columns = os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL
                self._write(text(status, columns - 1))

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


class _Parts(NamedTuple):
    """What there is room for beside state, delay and xruns."""

    bar: int  # characters of a meter; 0: no meters
    db: bool
    load: bool
    voice: bool


_BY_ROOM = (  # the widest first; they usually take 100, 92, 78, 65, 56, 48 and 29 characters
    _Parts(10, True, True, True),
    _Parts(6, True, True, True),
    _Parts(6, False, True, True),
    _Parts(6, False, False, True),
    _Parts(6, False, False, False),
    _Parts(2, False, False, False),
    _Parts(0, False, False, False),
)


def text(status: Status, room: int) -> str:
    """The line in ASCII, of at most `room` characters: what matters least goes first."""
    line = ""
    for parts in _BY_ROOM:
        line = _text(status, parts)
        if len(line) <= room:
            break
    return line[:room]


def voice(status: Status) -> str:
    """The number of its voice, without the method."""
    return status.voice.rpartition(", ")[2]


def _text(status: Status, parts: _Parts) -> str:
    shown = [
        f"{status.state.upper() if status.state in (State.muted, State.lost) else status.state:<11}",
        f"{status.delay_ms:3.0f} ms",
        f"{counted(status.xruns, 'xrun'):<8}",
    ]
    if parts.bar:
        levels = (("in", status.level_in_db), ("out", status.level_out_db))
        shown += [f"{name} {_meter(level, parts)}" for name, level in levels]
    if parts.load:
        shown.append(f"load {100 * status.deadline_p50:.0f}/{100 * status.deadline_p99:.0f} %")
    if parts.voice:
        shown.append(voice(status))
    return one_line("  ".join(shown)).encode("ascii", "replace").decode()


def _meter(level_db: float, parts: _Parts) -> str:
    filled = round(parts.bar * min(max(1 - level_db / _FLOOR, 0.0), 1.0))
    bar = f"[{'#' * filled}{'.' * (parts.bar - filled)}]"
    if not parts.db:
        return bar
    return bar + (f"{level_db:4.0f} dB" if level_db > _SILENCE else " silent")

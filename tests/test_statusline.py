"""The line on a terminal: all of it where there is room, never wider than the terminal, and none in a pipe."""

from __future__ import annotations

import fcntl
import io
import os
import re
import select
import struct
import termios
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress

import pytest
from doubles import running
from velavox.engine.status import State
from velavox.engine.statusline import StatusLine, text

WIDE = 200


class Terminal(io.TextIOWrapper):
    """A terminal as stderr, and what stands on it."""

    def __init__(self, columns: int) -> None:
        self._ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
        super().__init__(os.fdopen(theirs, "wb"), encoding="ascii", write_through=True)

    def shown(self) -> str:
        """Everything that was written since the last call."""
        self.flush()
        written = b""
        while select.select([self._ours], [], [], 0.1)[0]:  # it takes the system a moment
            written += os.read(self._ours, 65536)
        return written.decode()

    def hang_up(self) -> None:
        os.close(self._ours)
        self._ours = -1


@contextmanager
def stderr(columns: int = WIDE) -> Iterator[Terminal]:
    """A terminal in place of stderr."""
    terminal = Terminal(columns)
    try:
        with redirect_stderr(terminal):
            yield terminal
    finally:
        for end in (terminal.hang_up, terminal.close):
            with suppress(OSError):
                end()


def screen(written: str) -> str:
    """The line as it stands once `written` is."""
    cells: list[str] = []
    column = 0
    for character in written:
        assert character == "\r" or character.isprintable()
        if character == "\r":
            column = 0
        else:
            cells[column : column + 1] = [character]
            column += 1
    return "".join(cells).rstrip()


def test_it_says_all_there_is() -> None:
    line = text(running(xruns=3, deadline_p50=0.041, deadline_p99=0.098), keys=True)
    for part in (
        "running",
        "-12 dB",
        "-20 dB",
        "62 ms",
        "3 xruns",
        "load 4/10 %",
        "gain, voice 1",
        "m mute",
        "n new voice",
        "q quit",
    ):
        assert part in line
    assert "quit" not in text(running(), keys=False)


@pytest.mark.parametrize(("level", "filled"), [(-120.0, 0), (-60.0, 0), (-30.0, 5), (-6.0, 9), (0.0, 10), (3.0, 10)])
def test_meters_fill_with_the_level(level: float, filled: int) -> None:
    meters = re.findall(r"\[([#.]+)\]", text(running(level_in_db=level, level_out_db=-60.0), keys=False))
    assert [m.count("#") for m in meters] == [filled, 0]
    assert {len(m) for m in meters} == {10}


@pytest.mark.parametrize("state", State)
def test_nothing_moves_when_the_state_or_a_level_changes(state: State) -> None:
    line = text(running(state=state, level_in_db=-120.0, level_out_db=-1.0), keys=True)
    assert line.index("in [") == text(running(), keys=True).index("in [")
    assert line.index("quit") == text(running(), keys=True).index("quit")


@pytest.mark.parametrize(("columns", "room"), [(1, 0), (30, 29), (80, 79), (0, 79)])
def test_a_narrow_terminal_cuts_it_off(columns: int, room: int) -> None:
    with stderr(columns) as terminal:
        StatusLine().show(running(), True)
        assert screen(terminal.shown()) == text(running(), True)[:room].rstrip()


def test_shorter_lines_leave_nothing_of_longer_ones() -> None:
    with stderr() as terminal:
        line = StatusLine()
        line.show(running(voice="a method of a long name, voice 100"), True)
        line.show(running(), False)
        assert screen(terminal.shown()) == text(running(), False)


def test_other_lines_stand_above_it_and_it_goes_at_the_end() -> None:
    with stderr() as terminal:
        with StatusLine() as line:
            line.show(running(), True)
            line.say("device lost: \x1b[2J")
            above, below = terminal.shown().split("\r\n")
            assert screen(above) == "device lost: \\x1b[2J"
            assert below == ""
            line.show(running(), True)
        assert screen(terminal.shown()) == ""


def test_names_cannot_steer_the_terminal() -> None:
    with stderr() as terminal:
        StatusLine().show(running(voice="a\x1b[2J\nb\u202e\u4e2d"), False)
        assert screen(terminal.shown()).endswith("a\\x1b[2J\\nb\\u202e?")


def test_a_terminal_that_is_gone_stops_nothing() -> None:
    with stderr() as terminal, StatusLine() as line:
        terminal.hang_up()
        line.show(running(), True)
        line.say("told to nobody")


def test_nothing_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with StatusLine() as line:
        line.show(running(), True)
        line.say("a line")
    assert capsys.readouterr().err == "a line\n"

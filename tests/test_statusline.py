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
    line = text(running(xruns=3, deadline_p50=0.041, deadline_p99=0.098), WIDE)
    for part in ("running", "-12 dB", "-20 dB", "62 ms", "3 xruns", "load 4/10 %", "voice 1"):
        assert part in line
    assert "gain" not in line  # the method, which is said once at the start


@pytest.mark.parametrize("room", range(100))
def test_what_matters_least_goes_first(room: int) -> None:
    """State, delay and xruns to the last; whole parts, never a piece of one."""
    line = text(running(xruns=1), room)
    assert len(line) <= room
    least = {"running": 7, "62 ms": 19, "1 xrun": 27, "in [": 48, "out [": 48, "voice 1": 65, "load 0/0 %": 77, "dB  out": 91}
    assert [part for part in least if part in line] == [part for part in least if least[part] <= room]


def test_all_of_it_fits_100_columns() -> None:
    worst = running(state=State.lost, deadline_p50=0.2, deadline_p99=0.51, xruns=99, voice="a method of a long name, voice 12")
    line = text(worst, 99)
    assert [part for part in ("DEVICE LOST", "99 xruns", "load 20/51 %", " dB", "voice 12") if part not in line] == []


@pytest.mark.parametrize(("level", "filled"), [(-120.0, 0), (-60.0, 0), (-30.0, 5), (-6.0, 9), (0.0, 10), (3.0, 10)])
def test_meters_fill_with_the_level(level: float, filled: int) -> None:
    meters = re.findall(r"\[([#.]+)\]", text(running(level_in_db=level, level_out_db=-60.0), WIDE))
    assert [m.count("#") for m in meters] == [filled, 0]
    assert {len(m) for m in meters} == {10}


def test_silence_is_shown_as_silence() -> None:
    line = text(running(state=State.muted, level_out_db=-120.0), WIDE)
    assert "-12 dB" in line
    assert "out [..........] silent" in line


@pytest.mark.parametrize("state", State)
def test_nothing_moves_when_the_state_or_a_level_changes(state: State) -> None:
    line = text(running(state=state, level_in_db=-120.0, level_out_db=-1.0, xruns=1), WIDE)
    for part in ("in [", "voice"):
        assert line.index(part) == text(running(), WIDE).index(part)


@pytest.mark.parametrize(("columns", "room"), [(1, 0), (30, 29), (80, 79), (0, 79)])
def test_it_is_never_wider_than_the_terminal(columns: int, room: int) -> None:
    with stderr(columns) as terminal:
        StatusLine().show(running())
        assert screen(terminal.shown()) == text(running(), room).rstrip()


def test_shorter_lines_leave_nothing_of_longer_ones() -> None:
    with stderr() as terminal:
        line = StatusLine()
        line.show(running(voice="gain, voice 100"))
        line.show(running())
        assert screen(terminal.shown()) == text(running(), WIDE)


def test_other_lines_stand_above_it_and_it_goes_at_the_end() -> None:
    with stderr() as terminal:
        with StatusLine() as line:
            line.show(running())
            line.say("device lost: \x1b[2J")
            above, below = terminal.shown().split("\r\n")
            assert screen(above) == "device lost: \\x1b[2J"
            assert below == ""
            line.show(running())
        assert screen(terminal.shown()) == ""


def test_names_cannot_steer_the_terminal() -> None:
    with stderr() as terminal:
        StatusLine().show(running(voice="a\x1b[2J\nb\u202e\u4e2d"))
        assert screen(terminal.shown()).endswith("a\\x1b[2J\\nb\\u202e?")


def test_a_terminal_that_is_gone_stops_nothing() -> None:
    with stderr() as terminal, StatusLine() as line:
        terminal.hang_up()
        line.show(running())
        line.say("told to nobody")


def test_nothing_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with StatusLine() as line:
        line.show(running())
        line.say("a line")
    assert capsys.readouterr().err == "a line\n"

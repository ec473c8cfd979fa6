"""Single keys on a terminal, and the terminal as it was afterwards, whatever ends the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

pytestmark = [pytest.mark.nojit, pytest.mark.skipif(sys.platform == "win32", reason="no terminals to be made here")]

if sys.platform != "win32":
    import termios

# Says "ready", then each thing read on a line of its own, until a q.
CODE = """
from velavox.engine.keys import Keys
with Keys() as keys:
    print("ready", keys.there, flush=True)
    typed = ""
    while "q" not in typed:
        if typed := keys.read(0.05):
            print(repr(typed), flush=True)
        if not keys.there:
            break
print("done", flush=True)
"""


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """The two ends of a terminal: what its user types and sees, and what the program has."""
    ours, theirs = os.openpty()
    yield ours, theirs
    for fd in (ours, theirs):
        with suppress(OSError):
            os.close(fd)


def start(stdin: int, code: str = CODE) -> subprocess.Popen[str]:
    running = subprocess.Popen(
        [sys.executable, "-c", code], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert running.stdout.readline().startswith("ready")
    return running


def line(running: subprocess.Popen[str]) -> str:
    assert running.stdout is not None
    return running.stdout.readline().strip()


def seen(terminal: int) -> bytes:
    """What the user has seen so far."""
    os.set_blocking(terminal, False)
    try:
        return os.read(terminal, 65536)
    except BlockingIOError:
        return b""


def test_keys_come_one_by_one_without_return_or_echo(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    before = termios.tcgetattr(theirs)
    running = start(theirs)
    for key in ("m", "n", "\x1a"):
        os.write(ours, key.encode())
        assert line(running) == repr(key)
    os.write(ours, b"\x1b[D")  # the left arrow
    time.sleep(0.2)
    os.write(ours, b"q" + 100 * b"x" + b"\n")  # more than is read at a time
    assert line(running).startswith("'q")
    assert line(running) == "done"
    running.communicate(timeout=10)
    assert termios.tcgetattr(theirs) == before
    assert seen(ours) == b""
    os.set_blocking(theirs, False)
    with pytest.raises(BlockingIOError):
        os.read(theirs, 100)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_terminal_is_as_it_was_after_a_signal(terminal: tuple[int, int], number: signal.Signals) -> None:
    _, theirs = terminal
    before = termios.tcgetattr(theirs)
    code = "import signal; signal.signal(signal.SIGTERM, lambda *_: exit(3))\n" + CODE
    running = start(theirs, code)
    assert termios.tcgetattr(theirs) != before
    running.send_signal(number)
    running.communicate(timeout=10)
    assert running.returncode != 0
    assert termios.tcgetattr(theirs) == before


def test_a_terminal_that_closes_ends_the_keys_only(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    running = start(theirs)
    os.close(theirs)
    os.close(ours)
    out, err = running.communicate(timeout=10)
    assert (out.strip(), err) == ("done", "")


def test_without_a_terminal_there_are_no_keys() -> None:
    code = CODE.replace(
        "print(", "import time; began = time.monotonic(); keys.read(0.3); print(time.monotonic() - began); print(", 1
    )
    done = subprocess.run([sys.executable, "-c", code], input="mmmq", capture_output=True, text=True, timeout=20, check=True)
    waited, ready, end = done.stdout.splitlines()
    assert (ready, end) == ("ready False", "done")
    assert 0.3 <= float(waited) < 2


def test_in_the_background_nothing_is_read_and_nothing_stops(terminal: tuple[int, int]) -> None:
    """A program that reads the terminal of its session from the background is stopped by the system."""
    ours, theirs = terminal
    code = f"""
import fcntl, os, subprocess, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
child = subprocess.Popen([sys.executable, "-c", {CODE.replace("if not keys.there:", "if True:")!r}], process_group=0)
print(os.waitpid(child.pid, os.WUNTRACED)[1])
"""
    done = subprocess.Popen([sys.executable, "-c", code], stdin=theirs, stdout=subprocess.PIPE, text=True)
    os.write(ours, b"m\n")
    out, _ = done.communicate(timeout=20)
    assert out.splitlines() == ["ready False", "done", "0"]

"""Signals that end a program: at once where that is safe, else when it is; and afterwards as if it had never been."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

import pytest
from velavox.engine.ending import Ended, Ending

pytestmark = [pytest.mark.nojit, pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")]


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_at_once_where_it_may(number: int) -> None:
    before = signal.getsignal(number)
    done = []
    with Ending() as ending, suppress(Ended), ending.at_once():
        send(number)
        done.append("never")
    assert done == []
    assert ending.asked
    assert signal.getsignal(number) is before


def test_elsewhere_at_the_next_chance_and_everything_is_closed() -> None:
    done = []
    with Ending() as ending, suppress(Ended):
        send(signal.SIGTERM)
        done.append("finished")
        try:
            with ending.at_once():
                done.append("never")
        finally:
            send(signal.SIGTERM)  # once more, while it closes
            done.append("closed")
    assert done == ["finished", "closed"]


def test_not_where_it_may_no_more() -> None:
    with Ending() as ending:
        with ending.at_once():
            pass
        send(signal.SIGINT)
        assert ending.asked


def swallow() -> None:
    """As C code does that calls Python."""
    with suppress(BaseException):
        send(signal.SIGINT)


def test_one_that_got_lost_takes_effect_all_the_same() -> None:
    done = []
    with Ending() as ending, suppress(Ended):
        with ending.at_once():
            swallow()
            done.append("went on")
        done.append("never")
    assert done == ["went on"]


def test_another_one_is_heard_if_the_first_got_lost() -> None:
    done = []
    with Ending() as ending, suppress(Ended), ending.at_once():
        swallow()
        send(signal.SIGINT)
        done.append("never")
    assert done == []


def test_another_one_does_not_disturb_what_is_closed_after_the_first() -> None:
    done = []
    with Ending() as ending, suppress(Ended), ending.at_once():
        try:
            send(signal.SIGINT)
        finally:
            with suppress(KeyError):
                try:
                    raise KeyError
                finally:
                    send(signal.SIGINT)
            done.append("closed")
    assert done == ["closed"]


def test_what_came_before_can_be_over() -> None:
    done = []
    with Ending() as ending:
        send(signal.SIGINT)
        ending.again()
        with suppress(Ended), ending.at_once():
            done.append("goes on")
            send(signal.SIGINT)
            done.append("never")
    assert done == ["goes on"]


def test_no_handler_for_errors_stops_it_and_errors_pass() -> None:
    done = []
    with Ending() as ending, suppress(Ended), ending.at_once():
        try:
            send(signal.SIGINT)
        except Exception:
            done.append("caught")
        done.append("never")
    assert done == []
    with pytest.raises(KeyError), Ending():
        raise KeyError


def test_what_was_ignored_stays_ignored() -> None:
    """As Ctrl-C is by a job that a script has put in the background."""
    code = """
import os, signal
from velavox.engine.ending import Ending
with Ending() as ending:
    os.kill(os.getpid(), signal.SIGINT)
print(ending.asked)
"""
    line = f"trap '' INT; exec {sys.executable} -c '{code}'"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_what_c_code_swallows_is_not_told_as_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: told.append(unraisable.exc_type))
    hook = sys.unraisablehook

    def call(*actions: Callable[[], object]) -> None:
        for action in actions:
            ctypes.CFUNCTYPE(None)(action)()

    with pytest.raises(Ended), Ending() as ending, ending.at_once():
        call(lambda: signal.raise_signal(signal.SIGINT), lambda: 1 / 0)
    assert told == [ZeroDivisionError]
    assert sys.unraisablehook is hook

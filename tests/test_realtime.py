"""What a thread with deadlines asks of the process is given back, by the last one that asked."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator

import pytest
from velavox.engine import realtime
from velavox.engine.realtime import SWITCH_INTERVAL, real_time

USUAL = 0.005  # s


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """A process with nothing frozen and Python's usual switch interval, here and for the tests that follow."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(USUAL)
    assert gc.get_freeze_count() == 0
    yield
    gc.unfreeze()
    sys.setswitchinterval(before)


def interval_is(seconds: float) -> bool:
    return sys.getswitchinterval() == pytest.approx(seconds, abs=1.5e-6)  # it is kept in whole microseconds


def frozen(one: object) -> bool:
    return not any(other is one for other in gc.get_objects())


def given_back() -> bool:
    return interval_is(USUAL) and gc.get_freeze_count() == 0


def held() -> bool:
    return interval_is(SWITCH_INTERVAL) and gc.get_freeze_count() > 0


@pytest.mark.nojit
def test_the_interval_is_short_and_what_was_there_frozen_until_the_end() -> None:
    there: list[int] = []
    with real_time():
        later: list[int] = []
        assert held()
        assert (frozen(there), frozen(later)) == (True, False)
    assert not frozen(there)
    assert given_back()


@pytest.mark.nojit
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_it_is_given_back_whatever_ends_it(error: type[BaseException]) -> None:
    with pytest.raises(error), real_time():
        raise error
    assert given_back()


@pytest.mark.nojit
def test_the_last_one_gives_it_back() -> None:
    """Of threads that overlap, whichever came first, and of nested uses."""
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with real_time():
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=stay)
    try:
        with real_time():
            other.start()
            assert inside.wait(10)
            with real_time():
                pass
            assert held()
        assert held()
    finally:
        leave.set()
        other.join(10)
    assert given_back()


@pytest.mark.nojit
def test_it_can_be_asked_for_again() -> None:
    for interval in (USUAL, 0.02):
        sys.setswitchinterval(interval)
        with real_time():
            assert held()
        assert interval_is(interval)


@pytest.mark.nojit
def test_a_shorter_interval_stays() -> None:
    sys.setswitchinterval(SWITCH_INTERVAL / 2)
    with real_time():
        assert interval_is(SWITCH_INTERVAL / 2)


@pytest.mark.nojit
def test_what_somebody_else_has_frozen_stays_so_and_nothing_is_added() -> None:
    theirs: list[int] = []
    gc.collect()
    gc.freeze()
    later: list[int] = []
    with real_time():
        assert (frozen(theirs), frozen(later)) == (True, False)
    assert (frozen(theirs), frozen(later)) == (True, False)


@pytest.mark.nojit
def test_garbage_is_not_frozen() -> None:
    """It would stay for as long as the stream runs."""

    class Ring:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            gone.set()

    gone = threading.Event()
    Ring()
    with real_time():
        assert gone.is_set()


@pytest.mark.nojit
@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="no such call on this system")
@pytest.mark.parametrize("allowed", [True, False])
def test_priority_is_raised_for_this_thread_where_that_is_allowed_and_given_back(
    allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int, int]] = []

    def set_scheduler(pid: int, policy: int, parameter: os.sched_param) -> None:
        asked.append((pid, policy, parameter.sched_priority))
        if not allowed:
            raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", set_scheduler)
    before = os.sched_getscheduler(0), os.sched_getparam(0).sched_priority
    with real_time() as raised:
        assert raised == allowed
        assert asked == [(0, os.SCHED_FIFO, realtime.PRIORITY)]
    assert asked[1:] == ([(0, *before)] if allowed else [])
    assert given_back()

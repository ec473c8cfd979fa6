"""The lines of a live stream: each change once, troubles at most every 10 s; and its summary."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from doubles import running
from velavox.engine.livelog import LiveLog, troubles
from velavox.engine.status import State, Status

pytestmark = pytest.mark.nojit


def lines(*seen: Status) -> list[str]:
    """What is told of `seen`, one after another."""
    told: list[str] = []
    log = LiveLog(told.append)
    for status in seen:
        log.look(status)
    return told


def test_what_runs_is_told_once_it_runs_and_once() -> None:
    starting = running(state=State.starting)
    assert lines(starting, starting) == []
    ends, delay = lines(starting, running(), running(state=State.muted), running(state=State.overloaded), running())
    assert ends.startswith("running: mic at 48000 Hz to speaker at 48000 Hz, blocks of 480 frames, gain, voice 1")
    assert delay == "delay 61.5 ms: device in 20.0, engine 24.9"


def test_long_blocks_are_warned_of_and_one_is_no_plural() -> None:
    assert [line for line in lines(running(block=4800)) if line.startswith("warning")] == []
    (warning,) = lines(running(block=4801))[2:]
    assert warning == "warning: blocks of 100 ms make a long delay; a smaller --block shortens it"
    assert "blocks of 1 frame, " in lines(running(block=1))[0]


def at(seconds: float, delay_ms: float) -> Status:
    return replace(running(), seconds=seconds, delay_ms=delay_ms)


def test_a_delay_that_has_changed_for_good_is_told_again() -> None:
    before = [at(float(s), 60.0) for s in range(20)]
    assert lines(*before, *(at(20 + s / 5, 64.0) for s in range(100)))[2:] == []
    assert lines(*before, *(at(20 + s / 5, 70.0) for s in range(100)))[2:] == ["delay 70.0 ms: device in 20.0, engine 24.9"]
    assert lines(*before, *(at(20 + s / 5, 50.0) for s in range(100)))[2:] == ["delay 50.0 ms: device in 20.0, engine 24.9"]


def test_a_delay_that_comes_and_goes_is_not_told() -> None:
    assert lines(*(at(20 + s / 5, 80.0 if s % 10 < 8 else 60.0) for s in range(-2, 100)))[2:] == []


def test_a_delay_that_goes_on_changing_is_told_every_10_s() -> None:
    assert len(lines(*(at(s / 5, 60.0 + s) for s in range(300)))[2:]) in (5, 6)


def test_a_loss_is_told_with_each_new_cause_and_so_is_the_return() -> None:
    lost = [running(state=State.lost, cause=cause, seconds=6.0) for cause in ("", "unplugged", "unplugged", "no such device")]
    back = running(reopened=1, seconds=9.5, rate_out=44_100)
    assert lines(running(), *lost, running(state=State.starting), back, back)[2:] == [
        "device lost: unplugged: silence, until it is back",
        "device lost: no such device: silence, until it is back",
        "the device is back after 3.5 s: 48000 Hz in, 44100 Hz out",
    ]


def test_a_second_loss_is_told_like_the_first() -> None:
    first = running(state=State.lost, cause="unplugged", seconds=6.0)
    second = running(state=State.lost, cause="unplugged", seconds=20.0)
    told = lines(running(), first, running(reopened=1, seconds=7.0), second, running(reopened=2, seconds=22.0))[2:]
    lost = "device lost: unplugged: silence, until it is back"
    assert [told[0], told[2]] == [lost, lost]
    assert told[1].startswith("the device is back after 1.0 s")
    assert told[3].startswith("the device is back after 2.0 s")


def test_a_loss_too_short_to_be_seen_is_told_when_it_is_over() -> None:
    assert lines(running(), running(reopened=1))[2:] == ["the device is back: 48000 Hz in, 48000 Hz out"]


def test_troubles_are_told_at_most_every_10_s() -> None:
    """One more block is late every second, for a minute."""
    told = lines(*(running(seconds=float(s), xruns=s, starved_ms=10.0 * s) for s in range(60)))[2:]
    assert len(told) == 6
    assert told[0].startswith("late or lost so far: 1 xrun, 10 ms of silence for want of sound; ")
    assert lines(*(running(seconds=float(s), xruns=1) for s in range(60)))[3:] == []


def test_troubles_in_words() -> None:
    assert troubles(running()) == ""
    assert troubles(running(xruns=2, dropped_ms=30.4, muted_hops=7)) == (
        "2 xruns, 30 ms of old sound dropped, 7 hops silenced by the engine"
    )
    assert troubles(running(xruns=1, muted_hops=1)) == "1 xrun, 1 hop silenced by the engine"


def test_the_closing_line() -> None:
    log = LiveLog(lambda line: None)
    assert log.closing(None) == log.closing(running(state=State.closed)) == "ended before any sound"
    log.look(running(seconds=1.0))
    log.end(running(seconds=3.0))
    assert log.closing(running(state=State.closed, seconds=4.2)) == "ended after 3.0 s: no sound was late or lost"
    assert log.closing(running(state=State.closed, xruns=1)) == (
        "ended after 3.0 s: 1 xrun (times when sound came late or was lost)"
    )


def test_the_summary_has_counters_of_the_end_and_the_delay_while_it_ran() -> None:
    log = LiveLog(lambda line: None)
    log.look(running(xruns=1, deadline_p99=0.1))
    closed = Status(State.closed, "", 8.0, "mic", "speaker", 48_000, 48_000, 480, "gain, voice 1", -120, -120, 0.0, xruns=2)
    summary = json.loads(json.dumps(log.summary(closed), allow_nan=False))
    assert (summary["xruns"], summary["seconds"]) == (2, 8.0)
    assert (summary["delay_ms"], summary["delay_parts_ms"]["engine"], summary["deadline_p99"]) == (61.5, 24.9, 0.1)
    assert (summary["rate_in_hz"], summary["block_frames"]) == (48_000, 480)
    assert not {"state", "level_in_db", "rate_in"} & summary.keys()


def test_the_summary_has_digits_that_mean_something() -> None:
    status = running(seconds=5.00049, deadline_p99=0.123456789, drift_ppm=1 / 3)
    summary = LiveLog(print).summary(replace(status, delay_parts_ms={"engine": 24.87654321}))
    assert (summary["seconds"], summary["deadline_p99"], summary["drift_ppm"]) == (5.0, 0.12346, 0.333)
    assert summary["delay_parts_ms"] == {"engine": 24.877}


def test_there_is_a_summary_even_if_it_never_ran() -> None:
    assert LiveLog(print).summary(running(state=State.closed, seconds=0.5))["seconds"] == 0.5
    assert LiveLog(print).summary(None) == {"seconds": 0.0}

"""The lines of a live stream: each change once, troubles at most every 10 s; and its summary."""

from __future__ import annotations

import json

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
    assert told[0].startswith("late or lost so far: 1 xruns, 10 ms of silence for want of sound; ")
    assert lines(*(running(seconds=float(s), xruns=1) for s in range(60)))[3:] == []


def test_troubles_in_words() -> None:
    assert troubles(running()) == ""
    assert troubles(running(xruns=2, dropped_ms=30.4, muted_hops=7)) == (
        "2 xruns, 30 ms of old sound dropped, 7 hops silenced by the engine"
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


def test_there_is_a_summary_even_if_it_never_ran() -> None:
    assert LiveLog(print).summary(running(state=State.closed, seconds=0.5))["seconds"] == 0.5

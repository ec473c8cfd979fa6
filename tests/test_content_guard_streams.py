"""One stream after the other through a guard, an engine's verbs, and what is refused: no word leaves."""

import copy
import gc
import pickle
import threading
import time
from typing import Any

import numpy as np
import pytest
from eavesdrop import RATE, Ear, Stuck, got_out, guard, passed_through, speech
from memory import net_growth
from velavox import Engine, Identity, McAdams
from velavox.engine.content.guard import ContentGuard

pytestmark = pytest.mark.usefixtures("threads_end")


@pytest.mark.parametrize("bad", [np.zeros((10, 2), np.float32), np.zeros((2, 10, 1), np.float32), np.float32(0.5)])
def test_a_wrong_shape_is_refused_and_changes_nothing(bad: Any) -> None:
    x = speech(2.0, (1.0, 1.3))
    with guard() as guarded:
        first = guarded.process(x[:9000])
        with pytest.raises(ValueError, match="give"):
            guarded.process(bad)
        with pytest.raises(TypeError, match="dtype"):
            guarded.process(np.zeros(10, complex))
        y = np.concatenate([first, guarded.process(x[9000:]), guarded.flush()])[guarded.latency :]
    with guard() as guarded:
        np.testing.assert_array_equal(passed_through(guarded, x), y)


@pytest.mark.parametrize("at", [0.05, 0.9, 1.4])
def test_reset_in_mid_stream_is_fresh(at: float) -> None:
    """What was in the line does not come out, what was found before does not count, and the next secret is hidden."""
    x, cut = speech(3.0, (1.2, 1.5)), round(at * RATE)
    ear = Ear()
    with guard(ear) as guarded:
        guarded.process(speech(3.0, (0.5, 0.8), (2.0, 2.2))[:cut])
        guarded.reset()
        assert guarded.stats.frames == 0
        y = passed_through(guarded, x)
    assert got_out(y) == 0
    with guard() as fresh:
        np.testing.assert_array_equal(passed_through(fresh, x), y)
    assert ear.resets >= 1


def test_flush_in_mid_stream_begins_another_one() -> None:
    x = speech(3.0, (1.2, 1.5))
    with guard() as guarded:
        outs = [passed_through(guarded, x) for _ in range(3)]
        assert guarded.flush().size == 0
        assert guarded.report().found == 3
        assert [round(event.at, 1) for event in guarded.report().events] == [1.2, 4.2, 7.2]
        assert guarded.report().seconds == pytest.approx(9.0)
    for y in outs:
        assert got_out(y) == 0
        np.testing.assert_array_equal(y, outs[0])


def test_a_look_at_the_stream_before_says_nothing_about_this_one() -> None:
    """It comes back after the reset, and passes samples far ahead."""

    stuck = Stuck(after=0, hop=4000, window=64_000)
    with guard(stuck, wait=False, delay=0.5) as guarded:
        guarded.process(speech(3.0))
        time.sleep(0.1)
        guarded.reset()
        stuck.let_go.set()
        time.sleep(0.1)
        first = guarded.process(speech(2.0, (0.0, 2.0)))
        assert got_out(first) == 0


def test_closed_is_silent_until_reset() -> None:
    x = speech(2.0, (1.0, 1.3))
    with guard() as guarded:
        guarded.process(x)
        guarded.close()
        assert (guarded.process(x) == 0).all()
        assert guarded.flush().size == 0
        assert guarded.stats.causes["closed"] == 1
        guarded.reset()
        assert got_out(passed_through(guarded, x)) == 0
        assert guarded.report().found == 2


def test_another_engine_at_another_rate_takes_over() -> None:
    ear = Ear()
    with guard(ear) as guarded:
        guarded.process(speech(2.0, (0.3, 0.5), (1.9, 2.0)))
        guarded._tally.unjudged = RATE  # as of a line that a detector had not passed in time
        guarded.take(Engine(Identity(), sample_rate=48_000, channels=2))
        assert guarded.stats.muted == 0  # an engine's counters, and this one is fresh
        assert (guarded.sample_rate, guarded.channels) == (48_000, 2)
        x = np.repeat(speech(3.0, (1.0, 1.5), rate=48_000)[:, None], 2, axis=1)
        y = np.concatenate([guarded.process(x), guarded.flush()])[guarded.latency :]
        assert got_out(y) == 0
        assert np.abs(y[: round(0.7 * 48_000)]).max() > 0.03
        report = guarded.report()
        assert report.found == 3
        assert report.seconds == pytest.approx(5.0)
        assert report.events[-1].at == pytest.approx(3.0, abs=0.01)


def test_the_verbs_of_an_engine() -> None:
    engine = Engine(McAdams(), sample_rate=RATE, seed=3)
    with guard(engine=engine) as guarded:
        before = guarded.save()
        guarded.new_voice()
        assert guarded.save() != before
        guarded.restore(before)
        assert guarded.save() == before
        guarded.set(alpha=0.7)
        assert guarded.stages[0].alpha == 0.7  # type: ignore[attr-defined]
        assert guarded.hop == engine.hop
        with guarded.profile() as profiler:
            guarded.process(speech(1.0))
        assert profiler.report() is not None


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_running_guard_is_not_copied(copied: Any) -> None:
    with guard() as guarded, pytest.raises(TypeError, match="restore"):
        copied(guarded)


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"detectors": []}, "at least one"),
        ({"delay": 0.4}, "give 0.465 to 60 s"),
        ({"delay": 61.0}, "give"),
        ({"delay": float("nan")}, "give"),
        ({"delay": None}, "wait=True"),
        ({"action": "duck"}, "give one of silence"),
        ({"action": "substitute"}, "clips"),
    ],
)
def test_bad_arguments_are_refused(named: dict[str, Any], words: str) -> None:
    detectors = named.pop("detectors", [Ear()])
    with pytest.raises(ValueError, match=words):
        ContentGuard(Engine(Identity(), sample_rate=RATE), detectors, **named)


def test_one_detector_twice_and_one_that_skips_are_refused() -> None:
    ear = Ear()
    with pytest.raises(ValueError, match="twice"):
        guard(ear, ear)
    with pytest.raises(ValueError, match="looks every"):
        guard(Ear(hop=4000, window=3000))


def test_sound_that_was_in_the_engine_before_is_forgotten() -> None:
    engine = Engine(Identity(), sample_rate=RATE)
    engine.process(speech(1.0, (0.9, 1.0)))
    with guard(engine=engine) as guarded:  # it would leave before the first sample, where no detector listens
        assert got_out(guarded.process(speech(2.0))) == 0


def test_threads_end_with_the_guard_also_if_nobody_closes_it() -> None:
    before = threading.active_count()
    guarded = guard(wait=False)
    assert threading.active_count() == before + 1
    guarded.process(speech(1.0))
    del guarded
    gc.collect()
    until = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() == before


def test_memory_is_flat() -> None:
    """Of a stream with a word every second; an event is a few hundred bytes."""
    x = speech(10.0, *((k + 0.4, k + 0.6) for k in range(10)))
    with guard() as guarded:

        def run() -> None:
            for _ in range(2):
                guarded.process(x)

        run()
        assert net_growth(run) < 40_000

"""Detectors, stages and blocks that fail, hang, are late or break off: no word leaves."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from doubles import FAULTS, Faulty, fail
from eavesdrop import FADE, NONSENSE, PAD, RATE, Ear, Failing, Stuck, crash, got_out, guard, passed_through, speech
from signals import F32, voice
from velavox import Engine, Identity, McAdams
from velavox.engine.content import guard as guard_module

pytestmark = pytest.mark.usefixtures("threads_end")
TEN_MS = RATE // 100


@pytest.mark.parametrize("name", NONSENSE)
@pytest.mark.parametrize("wait", [True, False])
def test_a_look_that_fails_passes_nothing(name: str, wait: bool) -> None:
    """The secret comes after the detector's last good look; nothing after that look leaves, in whatever blocks (C10, C21)."""
    x = speech(2.5, (1.0, 1.5))
    for sizes in ([x.size], [TEN_MS] * 250):
        failing = Failing(NONSENSE[name], after=1)
        with guard(failing, wait=wait) as guarded:
            y = passed_through(guarded, x, sizes, pace=0 if wait else 0.0004)
            report = guarded.report()
            assert got_out(y) == 0
            (_, passed, _), *others = failing.looked
            assert not others
            if passed < x.size:  # live, a look takes in all that has come since
                assert (y[round(passed - PAD * RATE) :] == 0).all()
                assert report.failed[0].failures > 0
                assert report.unjudged > 0.4
                assert guarded.stats.causes["not passed"] > 40
            else:
                assert not wait


@pytest.mark.parametrize("rate", [16_000, 48_000, 44_100])
def test_nothing_at_all_leaves_before_a_detector_has_passed_it(rate: int) -> None:
    """Not even what filters ring before the first sample."""
    with guard(Failing(crash, after=0), engine=Engine(Identity(), sample_rate=rate)) as guarded:
        y = np.concatenate([guarded.process(speech(3.0, (0.0, 1.0), rate=rate)), guarded.flush()])
        assert (y == 0).all()
        assert guarded.report().unjudged == pytest.approx(3.0, abs=0.01)


@pytest.mark.parametrize("other", [Ear, lambda: Failing(crash)])
def test_each_detector_must_pass_a_sample(other: Callable[[], Ear]) -> None:
    """One hears the secret, the other never looks well."""
    with guard(other(), Failing(crash, after=0)) as guarded:
        y = passed_through(guarded, speech(3.0, (1.0, 1.5)))
    assert (y == 0).all()


def test_a_detector_that_recovers_opens_the_line_again() -> None:
    x = speech(6.0, (1.2, 1.4), (5.0, 5.2))
    failing = Failing(crash, after=4, times=8, hop=4000, window=16_000)
    with guard(failing) as guarded:
        y = passed_through(guarded, x)
        assert got_out(y) == 0
        assert np.abs(y[round(4.0 * RATE) : round(4.7 * RATE)]).max() > 0.03
        # What was in no window: from the last look at 1 s to the first good one's start, 3.25 - 1 s
        assert guarded.report().missed == pytest.approx(1.25, abs=0.01)


def test_a_detector_that_hangs_in_a_file_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_module, "PATIENCE", 0.3)
    stuck = Stuck(after=4)
    with guard(stuck) as guarded:
        began = time.monotonic()
        y = passed_through(guarded, speech(6.0, (1.2, 1.4), (4.0, 5.0)))
        assert time.monotonic() - began < 2.0
        assert got_out(y) == 0
        assert (y[RATE:] == 0).all()
        assert np.abs(y[: round(0.7 * RATE)]).max() > 0.03
        stuck.let_go.set()


def test_a_detector_that_hangs_live_silences_the_line_until_it_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("velavox.engine.content.watch.HUNG", 0.1)
    stuck = Stuck(after=1)
    x = speech(4.0, (0.5, 0.7), (3.4, 3.6))
    with guard(stuck, wait=False, delay=0.6) as guarded:
        out = []
        for k, block in enumerate(np.split(x, 400)):
            out.append(guarded.process(block))
            time.sleep(0.001)
            if k == 250:
                assert guarded.report().failed[0].hung
                stuck.let_go.set()
        y = np.concatenate([*out, guarded.flush()])[guarded.latency :]
        assert got_out(y) == 0
        assert guarded.report().unjudged > 0.5
        assert guarded.stats.causes["not passed"] > 50
        assert np.abs(y[round(3.0 * RATE) : round(3.1 * RATE)]).max() > 0.03 or guarded.report().missed > 0


def test_a_slow_detector_looks_at_the_newest_and_what_it_did_not_see_stays_hidden() -> None:
    """It never falls behind by more than a look (C10)."""

    class Slow(Ear):
        fed = 0

        def look(self, samples: F32, start: int, last: bool = False) -> Any:
            until, given_up = self.fed + RATE, time.monotonic() + 2
            while self.fed < until and time.monotonic() < given_up:  # a look takes as long as 1 s of sound
                time.sleep(0.001)
            return super().look(samples, start, last)

    x = speech(8.0, *((k + 0.4, k + 0.6) for k in range(8)))
    slow, out = Slow(hop=1600, window=4000), []
    with guard(slow, wait=False, delay=0.5) as guarded:
        for block in np.split(x, 800):
            out.append(guarded.process(block))
            slow.fed += TEN_MS
            time.sleep(0.0003)
        slow.fed += 100 * RATE
        y = np.concatenate([*out, guarded.flush()])[guarded.latency :]
        assert got_out(y) == 0
        assert guarded.report().missed > 1
    for (_, end, _), (_, later, _) in zip(slow.looked, slow.looked[1:], strict=False):
        assert later > end


def test_a_hit_that_comes_too_late_is_counted_and_the_rest_is_hidden() -> None:
    """A detector that has passed the word before it names it breaks its contract; it is told how much had left."""

    class Late(Ear):
        def look(self, samples: F32, start: int, last: bool = False) -> Any:
            found = super().look(samples, start, last)
            end = start + len(samples)
            return type(found)(found.hits if end >= 2.2 * RATE else (), found.passed)

    with guard(Late(window=32_000), delay=0.5) as guarded:
        y = passed_through(guarded, speech(4.0, (1.5, 2.0)))
        report = guarded.report()
        assert report.late == 1
        assert report.heard == pytest.approx(got_out(y) / RATE, abs=0.02)
        assert 0.1 < report.heard < 0.4
        assert (y[round(1.8 * RATE) : round(2.2 * RATE) - 300] == 0).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e6])
@pytest.mark.parametrize("rate", [16_000, 48_000])
def test_around_what_is_no_sound_nothing_is_heard(bad: float, rate: int) -> None:
    """A word with every tenth sample broken is still understood, but not by detectors."""
    x = speech(3.0, rate=rate)
    start, end = round(1.5 * rate), round(1.7 * rate)
    x[start:end:10] = bad
    for sizes in ([x.size], [rate // 100] * 300):
        with guard(engine=Engine(Identity(), sample_rate=rate)) as guarded:
            y = passed_through(guarded, x, sizes)
            inner = round((PAD - FADE) * rate)
            assert (y[start - inner : end + inner - 10] == 0).all()
            assert np.abs(y[: round(1.2 * rate)]).max() > 0.03
            assert np.abs(y[round(2.0 * rate) :]).max() > 0.03
            assert guarded.report().not_sound == pytest.approx(0.2, abs=0.02)
            assert guarded.stats.sanitised == (end - start) // 10


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("on_error", ["mute", "raise"])
def test_a_stage_that_fails_does_not_shift_what_is_hidden(fault: str, on_error: Any) -> None:
    x, raised, out = speech(3.0, (1.2, 1.5)), 0, []
    engine = Engine(Faulty(FAULTS[fault], at=90), sample_rate=RATE, on_error=on_error)
    with guard(engine=engine) as guarded:
        for block in np.split(x, 300):
            try:
                out.append(guarded.process(block))
            except RuntimeError:
                raised += 1
                out.append(np.zeros(TEN_MS, np.float32))
        y = np.concatenate([*out, guarded.flush()])[guarded.latency :]
        assert guarded.stats.muted == 3
    assert raised == (3 if (fault, on_error) == ("raise", "raise") else 0)
    assert got_out(y) == 0
    assert np.abs(y[round(0.5 * RATE) : round(0.8 * RATE)]).max() > 0.03


@pytest.mark.parametrize("where", ["engine", "_raw.push", "_findings.hide", "_line.run", "_line.run after", "_judged"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError])
def test_a_block_that_breaks_off_in_its_middle_starts_all_over(where: str, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever part had it, and had not: afterwards sound and finds are of the same time again."""
    x = speech(3.0, (0.3, 0.5), (1.2, 1.5))
    x[1000] = np.nan
    with guard() as guarded:
        armed = [True]
        name, _, after = where.partition(" ")
        owner: Any = guarded
        *path, last = ("_engine.process" if name == "engine" else name).split(".")
        for part in path:
            owner = getattr(owner, part)
        honest = getattr(owner, last)

        def broken(*given: Any) -> Any:
            result = honest(*given) if after else None
            if armed and guarded._taken >= (0 if last == "hide" else 6000):
                armed.clear()
                raise kind
            return result if after else honest(*given)

        monkeypatch.setattr(owner, last, broken)
        try:
            y = guarded.process(x)
            assert (y == 0).all()
            assert guarded.stats.causes["content"] == 1
        except KeyboardInterrupt:
            assert kind is KeyboardInterrupt
        assert not armed
        x[1000] = 0
        whole = np.concatenate([guarded.process(x), guarded.flush()])
    assert got_out(whole) == 0
    y = whole[guarded.latency :]
    with guard() as fresh:
        np.testing.assert_array_equal(passed_through(fresh, x), y)


def test_an_interrupted_stream_leaves_nothing_in_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its filters and levels, too, are as fresh."""
    x, outs = voice(2.0), []
    for interrupted in (False, True):
        with guard(engine=Engine(McAdams(), sample_rate=RATE, seed=1)) as guarded:
            if interrupted:
                monkeypatch.setattr(guarded._line, "run", _interrupt)
                with pytest.raises(KeyboardInterrupt):
                    guarded.process(0.5 * x)
                monkeypatch.undo()
            outs.append(passed_through(guarded, x))
    np.testing.assert_array_equal(outs[0], outs[1])


def _interrupt(*given: Any) -> None:
    raise KeyboardInterrupt


def test_a_window_with_no_sample_to_spare_is_enough_when_looks_come_late() -> None:
    """A step and what it leaves undecided: looks that come some ms late, or once half a second, leave out nothing."""
    x = speech(6.0, (1.2, 1.5), (4.0, 4.2))

    class Tight(Ear):
        def look(self, samples: F32, start: int, last: bool = False) -> Any:
            time.sleep(0.2 if start == 20_000 else 0.0)  # the time of 1.3 s of sound, at this pace
            return super().look(samples, start, last)

    tight = Tight(hop=4000, window=8000, settled=4000)
    sizes = np.random.default_rng(0).integers(1, 320, 2000)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), x.size))].tolist()
    with guard(tight, wait=False, delay=4.0) as guarded:
        y = passed_through(guarded, x, sizes, pace=0.001)
        assert got_out(y) == 0
        assert guarded.report().missed == guarded.report().unjudged == 0
    ends = [end for _, end, _ in tight.looked]
    assert ends[:23] == [4000 * k for k in range(1, 24)]


def test_fail_does_not_stand_for_all_faults() -> None:
    """The doubles of the engine's tests raise a text, which must not come out of a guard as a cause."""
    engine = Engine(Faulty(fail, at=20), sample_rate=RATE)
    with guard(engine=engine) as guarded:
        guarded.process(speech(1.0))
        assert guarded.stats.last_error == "RuntimeError: wires"

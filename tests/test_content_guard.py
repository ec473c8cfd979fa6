"""Ways in which a word could leave, each tried: it does not."""

import copy
import gc
import logging
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from doubles import FAULTS, Delay, Faulty, fail
from eavesdrop import FADE, NONSENSE, PAD, RATE, Ear, Failing, Stuck, Told, crash, got_out, guard, passed_through, speech
from memory import net_growth
from signals import F32, partitions, voice
from velavox import Engine, Identity, McAdams
from velavox.engine.content import guard as guard_module
from velavox.engine.content import spans as spans_module
from velavox.engine.content.events import Event
from velavox.engine.content.guard import ContentGuard
from velavox.engine.content.hit import Hit

TEN_MS = RATE // 100


@pytest.fixture(autouse=True)
def _threads_end() -> Iterator[None]:
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("velavox "):
            thread.join(5)
            assert not thread.is_alive(), thread.name


@pytest.mark.parametrize("rate", [8000, 16_000, 44_100, 48_000])
def test_a_secret_is_hidden_with_pads_and_all_else_is_as_it_was(rate: int) -> None:
    x = speech(4.0, (1.5, 2.0), rate=rate)
    with guard(engine=Engine(Identity(), sample_rate=rate)) as guarded:
        y = passed_through(guarded, x)
    plain = Engine(Identity(), sample_rate=rate)
    expected = np.concatenate([plain.process(x), plain.flush()])[plain.latency :]
    assert y.size == x.size
    assert got_out(y) == 0
    start, end, edge = round(1.3 * rate), round(2.2 * rate), round(0.004 * rate)
    assert (y[start + round(FADE * rate) : end - round(FADE * rate)] == 0).all()
    np.testing.assert_array_equal(y[: start - edge], expected[: start - edge])
    np.testing.assert_array_equal(y[end + edge :], expected[end + edge :])
    report = guarded.report()
    assert (report.found, report.late, report.unjudged, report.kinds) == (1, 0, 0.0, {"word": 1})
    assert report.hidden == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize("stage", [Identity, Delay, McAdams])
@pytest.mark.parametrize("rate", [16_000, 44_100])
def test_latency_is_true_and_constant(stage: Any, rate: int) -> None:
    """To the sample (C03): what comes out without a find is what the engine gives, so much later."""
    x = speech(3.0, rate=rate)
    alone = Engine(stage(), sample_rate=rate, seed=1)
    plain = np.concatenate([alone.process(x), alone.flush()])
    with guard(engine=Engine(stage(), sample_rate=rate, seed=1), delay=0.7) as guarded:
        y = np.concatenate([guarded.process(x), guarded.flush()])
        added = round(0.7 * rate)
        assert guarded.latency == alone.latency + added
        assert guarded.latency_parts == {**alone.latency_parts, "content": added}
    assert (y[:added] == 0).all()
    np.testing.assert_array_equal(y[added:], plain)


def test_any_partition_gives_the_same() -> None:
    """In files, where the line waits: two detectors of different hops, a word at the start, one at the end, a bad sample."""
    x = speech(5.0, (0.0, 0.3), (2.0, 2.2), (2.5, 2.9), (4.8, 5.0))
    x[24_000] = np.nan
    outputs = []
    for name, sizes in partitions(x.size):
        detectors = [Ear(hop=4000), Ear("other", hop=5600, window=20_000, settled=3000)]
        with guard(*detectors, action="bleep") as guarded:
            outputs.append((name, passed_through(guarded, x, sizes), guarded.report().events))
    for name, y, events in outputs:
        np.testing.assert_array_equal(y, outputs[0][1], err_msg=name)
        assert events == outputs[0][2], name


@pytest.mark.parametrize("rate", [8000, 11_025, 48_000])
def test_looks_come_at_multiples_of_the_hop_whatever_the_blocks(rate: int) -> None:
    x = speech(2.0, rate=rate)
    for sizes in ([x.size], [rate // 100] * 200):
        ear = Ear(hop=4001)
        with guard(ear, engine=Engine(Identity(), sample_rate=rate)) as guarded:
            passed_through(guarded, x, sizes)
        ends = [end for _, end, _ in ear.looked]
        assert ends == [4001 * k for k in range(1, 8)] + [32_000]
        assert [last for *_, last in ear.looked] == [False] * 7 + [True]


def test_the_first_sound_and_the_last_are_hidden() -> None:
    """C22 and C11: the last word is known only at flush()."""
    x = speech(3.0, (0.0, 0.4), (2.9, 3.0))
    with guard() as guarded:
        early = guarded.process(x)
        late = guarded.flush()
        y = np.concatenate([early, late])[guarded.latency :]
        assert got_out(y) == 0
        assert got_out(late) == 0
        assert guarded.report().found == 2
        assert np.abs(y[round(0.7 * RATE) : round(2.6 * RATE)]).max() > 0.03


def test_a_word_that_comes_twice_is_hidden_twice() -> None:
    x = speech(4.0, (1.0, 1.2), (2.5, 2.7))
    with guard() as guarded:
        y = passed_through(guarded, x)
        assert got_out(y) == 0
        assert [round(event.at, 2) for event in guarded.report().events] == [1.0, 2.5]


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


def test_empty_blocks_of_any_kind_are_empty() -> None:
    x = speech(2.0, (1.0, 1.3))
    with guard() as guarded:
        out = [guarded.process(np.zeros(0, np.float32))]
        for block in np.split(x, 100):
            out += [guarded.process(block), guarded.process(np.zeros(0, np.int16))]
        y = np.concatenate([*out, guarded.flush()])[guarded.latency :]
    assert got_out(y) == 0
    with guard() as guarded:
        np.testing.assert_array_equal(passed_through(guarded, x), y)


@pytest.mark.parametrize("dtype", [np.int16, np.float64, np.int32, np.float16])
def test_one_channel_in_columns_and_other_kinds_are_held_back_too(dtype: Any) -> None:
    x = speech(2.5, (1.0, 1.3)).reshape(-1, 1)
    full = 1 if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
    with guard() as guarded:
        out = [guarded.process((block * full).astype(dtype)) for block in np.split(x, 25)]
        assert all(block.shape == (1600, 1) for block in out)
        y = np.concatenate([*(block[:, 0] for block in out), guarded.flush()])[guarded.latency :]
    assert got_out(y) == 0
    assert np.abs(y).max() > 0.03


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


@pytest.mark.parametrize("policy", ["each", "mix"])
def test_a_word_in_one_channel_is_hidden_in_all(policy: Any) -> None:
    x = np.stack([speech(3.0), speech(3.0, (1.0, 1.4)), speech(3.0)], axis=1)
    engine = Engine(Identity(), sample_rate=RATE, channels=3, policy=policy)
    with guard(engine=engine) as guarded:
        y = np.concatenate([*(guarded.process(block) for block in np.split(x, 10)), guarded.flush()])[guarded.latency :]
    assert np.abs(y).max() < 0.2  # a mix of three is louder than one
    assert (y[round(0.9 * RATE) : round(1.5 * RATE)] == 0).all()
    assert (np.abs(y[: round(0.7 * RATE)]).max(axis=0) > 0.03).all()


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


def test_another_engine_at_another_rate_takes_over() -> None:
    ear = Ear()
    with guard(ear) as guarded:
        guarded.process(speech(2.0, (0.3, 0.5), (1.9, 2.0)))
        guarded.take(Engine(Identity(), sample_rate=48_000, channels=2))
        assert (guarded.sample_rate, guarded.channels) == (48_000, 2)
        x = np.repeat(speech(3.0, (1.0, 1.5), rate=48_000)[:, None], 2, axis=1)
        y = np.concatenate([guarded.process(x), guarded.flush()])[guarded.latency :]
        assert got_out(y) == 0
        assert np.abs(y[: round(0.7 * 48_000)]).max() > 0.03
        report = guarded.report()
        assert report.found == 3
        assert report.seconds == pytest.approx(5.0)
        assert report.events[-1].at == pytest.approx(3.0, abs=0.01)


def test_live_with_detectors_in_time_gives_what_a_file_gives() -> None:
    x = speech(3.0, (1.2, 1.5))
    with guard(wait=False) as guarded:
        y = passed_through(guarded, x, [TEN_MS] * 300, pace=0.002)
        assert guarded.report().unjudged == 0
        assert guarded.report().found == 1
    with guard() as waiting:
        np.testing.assert_array_equal(passed_through(waiting, x), y)


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


def test_no_word_in_any_log_report_or_error(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    """A detector's exception may hold what was said (C15)."""
    caplog.set_level(logging.DEBUG)
    with guard(Failing(crash, after=0)) as guarded:
        passed_through(guarded, speech(2.0))
        told = f"{guarded.stats} {guarded.report()} {guarded.report().as_json()} {guarded.report().troubles} {guarded!r}"
    told += caplog.text + "".join(capfd.readouterr())
    assert "RuntimeError" in told
    assert "Alice" not in told
    assert "Carter" not in told


def test_events_are_told_and_a_callback_that_raises_changes_nothing() -> None:
    told: list[Event] = []

    def callback(event: Event) -> None:
        told.append(event)
        raise ValueError("of its own")

    with guard(on_event=callback) as guarded:
        y = passed_through(guarded, speech(4.0, (1.0, 1.25), (2.5, 2.75)))
        assert guarded.report().callbacks_failed == 2
    assert got_out(y) == 0
    assert [event.at for event in told] == [1.0, 2.5]
    assert [(event.kind, event.term, event.detectors) for event in told] == [("word", "3f9a", ("ear",))] * 2
    assert [event.after for event in told] == pytest.approx([0.25, 0.25])


def test_what_two_detectors_hear_is_one_event() -> None:
    with guard(Ear(), Ear("other", hop=6000)) as guarded:
        passed_through(guarded, speech(3.0, (1.0, 1.25)))
        report = guarded.report()
    assert report.found == 1
    assert report.events[0].detectors == ("other", "ear")  # which heard its first half at 1.125 s


def test_short_gaps_are_closed() -> None:
    x = speech(4.0, (1.0, 1.2), (1.8, 2.0))  # 0.2 s between the pads
    with guard() as guarded:
        y = passed_through(guarded, x)
    assert (y[round(0.9 * RATE) : round(2.1 * RATE)] == 0).all()
    assert spans_module.GAP > 0.2


def test_no_click_where_words_are_hidden_or_looks_come_late() -> None:
    """Of a voice that itself steps by 0.02 at most (C19)."""
    x = (0.4 * np.sin(2 * np.pi * 120 * np.arange(4 * RATE) / RATE)).astype(np.float32)
    word = Hit(20_000, 26_000, "word", "", "told")
    for action in ("silence", "bleep"):
        for detector in (Told(word), Failing(crash, after=6, times=4)):
            with guard(detector, action=action) as guarded:
                y = passed_through(guarded, x)
            assert np.abs(np.diff(y)).max() < 0.05


def test_a_substitute_is_played_in_the_hole_and_the_bleep_where_there_is_none() -> None:
    asked: list[int] = []
    voices: list[dict[str, float]] = []

    class Clips:
        def clip(self, term: str, samples: int) -> F32 | None:
            asked.append(samples)
            return np.full(4000, 0.25, np.float32) if term == "aa" else None

        def take_voice(self, engine: Engine) -> None:
            voices.append(engine.stages[0].voice)

    told = Told(Hit(16_000, 22_000, "word", "aa", "told"), Hit(40_000, 44_000, "word", "bb", "told"))
    for rate in (16_000, 48_000):
        engine = Engine(Identity(), sample_rate=rate)
        with guard(told, engine=engine, action="substitute", clips=Clips()) as guarded:
            guarded.new_voice()
            y = passed_through(guarded, speech(4.0, (1.0, 1.375), (2.5, 2.75), rate=rate))
        hole = y[round(0.82 * rate) : round(1.56 * rate)]
        played = np.flatnonzero(np.abs(hole) > 1e-4)
        assert len(played) == pytest.approx(0.25 * rate, rel=0.05)
        assert np.abs(hole).max() < 0.2  # it is brought to the voice's level
        assert np.abs(y[round(2.4 * rate) : round(2.8 * rate)]).max() == pytest.approx(0.1, abs=0.002)
    assert len(voices) == 2
    assert max(asked) == pytest.approx(6000 + 2 * (PAD - FADE) * RATE, abs=2)


@pytest.mark.parametrize("clip", [np.full(100_000, 0.5), np.full(1000, np.nan), np.zeros(0), None])
def test_a_substitute_that_does_not_fit_is_a_bleep(clip: Any) -> None:
    class Clips:
        def clip(self, term: str, samples: int) -> Any:
            if clip is None:
                raise RuntimeError("no voice")
            return clip

        def take_voice(self, engine: Engine) -> None:
            raise RuntimeError("no voice")

    with guard(action="substitute", clips=Clips()) as guarded:
        guarded.new_voice()
        y = passed_through(guarded, speech(3.0, (1.0, 1.5)))
    assert got_out(y[: round(0.8 * RATE)]) == got_out(y[round(1.7 * RATE) :]) == 0
    assert np.abs(y[round(0.9 * RATE) : round(1.6 * RATE)]).max() == pytest.approx(0.1, abs=0.002)


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


def test_fail_does_not_stand_for_all_faults() -> None:
    """The doubles of the engine's tests raise a text, which must not come out of a guard as a cause."""
    engine = Engine(Faulty(fail, at=20), sample_rate=RATE)
    with guard(engine=engine) as guarded:
        guarded.process(speech(1.0))
        assert guarded.stats.last_error == "RuntimeError: wires"

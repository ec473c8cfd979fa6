"""What detectors find is hidden, whatever the blocks, rates, channels and actions; all else leaves as it was."""

import logging
from typing import Any

import numpy as np
import pytest
from doubles import Delay
from eavesdrop import FADE, PAD, RATE, Ear, Failing, Told, crash, got_out, guard, passed_through, speech
from signals import F32, partitions
from velavox import Engine, Identity, McAdams
from velavox.engine.content import spans as spans_module
from velavox.engine.content.events import Event
from velavox.engine.content.hit import Hit

pytestmark = pytest.mark.usefixtures("threads_end")
TEN_MS = RATE // 100


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


@pytest.mark.parametrize("policy", ["each", "mix"])
def test_a_word_in_one_channel_is_hidden_in_all(policy: Any) -> None:
    x = np.stack([speech(3.0), speech(3.0, (1.0, 1.4)), speech(3.0)], axis=1)
    engine = Engine(Identity(), sample_rate=RATE, channels=3, policy=policy)
    with guard(engine=engine) as guarded:
        y = np.concatenate([*(guarded.process(block) for block in np.split(x, 10)), guarded.flush()])[guarded.latency :]
    assert np.abs(y).max() < 0.2  # a mix of three is louder than one
    assert (y[round(0.9 * RATE) : round(1.5 * RATE)] == 0).all()
    assert (np.abs(y[: round(0.7 * RATE)]).max(axis=0) > 0.03).all()


def test_live_with_detectors_in_time_gives_what_a_file_gives() -> None:
    x = speech(3.0, (1.2, 1.5))
    with guard(wait=False) as guarded:
        y = passed_through(guarded, x, [TEN_MS] * 300, pace=0.002)
        assert guarded.report().unjudged == 0
        assert guarded.report().found == 1
    with guard() as waiting:
        np.testing.assert_array_equal(passed_through(waiting, x), y)


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


def test_a_substitute_is_played_in_the_hole_and_the_bleep_where_there_is_none() -> None:  # C20
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
            assert guarded.report().played == 1
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

"""Ways in which the speaker's own voice could come out of an engine, each tried and found silent, or refused."""

import copy
import pickle
from typing import Any, Self

import numpy as np
import pytest
from doubles import FAULTS, Delay, Faulty, Gain, fail, run
from signals import noise, voice
from velavox import DpVoice, Engine, Identity, McAdams, VoiceMask, Vtln
from velavox.bench.measure import best_lag_correlation
from velavox.engine.stage import Stage
from velavox.kernels.jit import F32


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("rate", [16000, 48000])
def test_fails_closed(fault: str, rate: int) -> None:
    """Three hops of a fault are three hops of silence, in their place; before and after, all is as without it."""
    x = noise(rate // 2)
    good = run(Engine(Identity(), sample_rate=rate), x)
    engine = Engine(Faulty(FAULTS[fault]), sample_rate=rate)
    y = run(engine, x, [rate // 100] * 50)
    hop, edge = rate // 100, 0 if rate == 16000 else 240  # the filters ring 2.5 ms each way
    np.testing.assert_allclose(y[: 5 * hop - edge], good[: 5 * hop - edge], atol=1e-6)
    assert np.abs(y[5 * hop + edge : 8 * hop - edge]).max() < 1e-3
    np.testing.assert_allclose(y[8 * hop + edge :], good[8 * hop + edge :], atol=1e-6)
    assert engine.stats.muted == 3


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_counted_with_their_cause(fault: str) -> None:
    engine = Engine(Faulty(FAULTS[fault]), sample_rate=16000)
    engine.process(noise(16000))
    stats = engine.stats
    assert stats.muted == 3
    assert stats.causes == {"error" if fault == "raise" else "not finite": 3}
    assert stats.last_error == ("RuntimeError: wires" if fault == "raise" else "")


def test_one_channels_fault_leaves_the_other_alone() -> None:
    class FaultyOnce(Faulty):
        def clone(self) -> Self:
            return type(self)(fail, at=10**9)

    x = noise(2 * 8000).reshape(-1, 2)
    engine = Engine(FaultyOnce(fail), sample_rate=16000, channels=2)
    y = np.concatenate([engine.process(x), np.zeros((0, 2))])[engine.latency :]
    assert (y[800:1280, 0] == 0).all()
    np.testing.assert_array_equal(y[:, 1], x[: y.shape[0], 1])


def test_on_error_raise_keeps_the_delay() -> None:
    x = noise(16000)
    engine = Engine(Faulty(fail), sample_rate=16000, on_error="raise")
    raised = 0
    for start in range(0, x.size, 160):
        try:
            y = engine.process(x[start : start + 160])
        except RuntimeError:
            raised += 1
    assert raised == 3
    np.testing.assert_array_equal(y[:159], x[-160:-1] * 0 + x[-319:-160])


class Unfaithful(Vtln):
    """Raises once in step, and from then on in every reset until `mended`."""

    hops = 0
    broken = False

    def step(self, x: F32, y: F32) -> None:
        self.hops += 1
        if self.hops == 5:
            self.broken = True
            raise RuntimeError("crossed")
        super().step(x, y)

    def _apply(self) -> None:
        if self.broken:
            raise MemoryError("none left")
        super()._apply()


def test_a_stage_that_cannot_be_reset_is_silent_until_it_can() -> None:
    x = voice(1.0)
    engine = Engine(Unfaithful(), sample_rate=16_000)
    y = engine.process(x[:8000])
    assert (y[5 * 160 + 160 :] == 0).all()
    assert engine.stats.causes["reset"] > 40
    assert engine.stats.last_error == "MemoryError: none left"
    stage = engine.stages[0]
    assert isinstance(stage, Unfaithful)
    stage.broken = False
    assert np.abs(engine.process(x[8000:])).max() > 0.01


def test_an_engine_whose_reset_fails_is_silent() -> None:
    x = voice(0.5)
    engine = Engine(Unfaithful(), sample_rate=16_000)
    stage = engine.stages[0]
    assert isinstance(stage, Unfaithful)
    stage.broken = True
    engine.reset()
    assert (engine.process(x) == 0).all()


@pytest.mark.parametrize("kind", [McAdams, Vtln, VoiceMask, DpVoice])
def test_kernel_state_before_any_voice_is_silent_or_changed(kind: type[Stage]) -> None:
    """What an interrupted reset leaves: the state as allocated, with no voice applied."""
    stage, x = kind(), voice(1.0)
    stage.prepare()
    np.copyto(stage._state, stage._fresh)
    y = np.zeros_like(x)
    for start in range(0, x.size, stage.hop):
        stage.step(x[start : start + stage.hop], y[start : start + stage.hop])
    assert best_lag_correlation(x, y) < 0.6


@pytest.mark.parametrize("on", ["envelope", "spectrum"])
def test_a_voice_that_turns_over_never_passes_through_the_speakers(on: str) -> None:
    """From formants up to formants down a glide would lead through no change at all."""
    x = voice(2.0)
    steady = run(Engine(Vtln(on=on, amount=0.28, direction=1.0), sample_rate=16_000), x)
    engine = Engine(Vtln(on=on, amount=0.28, direction=1.0), sample_rate=16_000)
    out = []
    for k, start in enumerate(range(0, x.size, 160)):
        if k % 3 == 0:
            engine.set(direction=1.0 if k % 2 else -1.0)
        out.append(engine.process(x[start : start + 160]))
    turning = np.concatenate([*out, engine.flush()])[engine.latency :]
    assert best_lag_correlation(x, turning) <= max(0.2, best_lag_correlation(x, steady) + 0.02)


@pytest.mark.parametrize(
    ("stage", "name", "value"),
    [(McAdams(), "alpha", 1.0), (Vtln(), "amount", 0.0), (VoiceMask(), "alpha", 3.0), (VoiceMask(beta=0.1), "alpha", 0.0)],
)
def test_no_way_to_a_parameter_that_changes_nothing(stage: Stage, name: str, value: float) -> None:
    stage.prepare()
    before = stage.save()
    with pytest.raises(ValueError, match=name):
        stage.set_parameter(name, value)
    stage.values[name] = value
    stage.voice[name] = value
    assert stage.save() == before
    for part in ("voice", "values"):
        with pytest.raises(ValueError, match=name):
            stage.restore({**before, part: {**before[part], name: value}})
    assert stage.save() == before


def test_voicemask_that_moves_nothing_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="too little"):
        VoiceMask(alpha=0.0, beta=0.0)


def test_a_stage_serves_one_engine() -> None:
    stage = McAdams()
    first = Engine(stage, sample_rate=16_000)
    with pytest.raises(ValueError, match="clone"):
        Engine(stage, sample_rate=16_000)
    Engine(stage.clone(), sample_rate=16_000)
    del first
    Engine(stage, sample_rate=16_000)


def test_a_fault_before_another_stage_is_muted_too() -> None:
    """The second stage would turn NaN into something plausible."""

    class Mending(Identity):
        def step(self, x: F32, y: F32) -> None:
            y[:] = np.nan_to_num(x)

    def half(x: F32, y: F32) -> None:
        y[:80] = x[:80]

    engine = Engine([Faulty(half), Mending()], sample_rate=16_000)
    y = engine.process(noise(4000))
    assert engine.stats.causes == {"not finite": 3}
    assert (y[159 + 5 * 160 : 159 + 8 * 160] == 0).all()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_running_engine_is_not_copied(copied: Any) -> None:
    with pytest.raises(TypeError, match="restore"):
        copied(Engine(Identity(), sample_rate=16_000))


def test_errors_belong_to_their_block() -> None:
    engine = Engine(Faulty(fail), sample_rate=16_000, channels=2, on_error="raise")
    x = noise(320).reshape(-1, 2)
    raised = []
    for _ in range(12):
        try:
            engine.process(x)
            raised.append(False)
        except RuntimeError:
            raised.append(True)
    assert raised == [False] * 5 + [True] * 3 + [False] * 4


def test_an_error_in_flush_is_raised_and_then_over() -> None:
    engine = Engine(Faulty(fail, at=0), sample_rate=16_000, on_error="raise")
    engine.process(noise(100))
    with pytest.raises(RuntimeError):
        engine.flush()
    assert engine.flush().size == 0
    engine.process(noise(100))


@pytest.mark.parametrize("on_error", ["mute", "raise"])
def test_an_interrupt_starts_over(on_error: Any) -> None:
    """Ctrl-C in the middle of a block: it goes on to whoever pressed it, and the stream is whole again afterwards."""

    pressed: list[int] = []

    def interrupt(x: F32, y: F32) -> None:
        y[:] = x
        if not pressed:
            pressed.append(1)
            raise KeyboardInterrupt

    engine, x = Engine(Faulty(interrupt), sample_rate=16_000, on_error=on_error), noise(1600)
    with pytest.raises(KeyboardInterrupt):
        engine.process(x)
    assert engine.stats.causes == {"engine": 1}
    np.testing.assert_array_equal(run(engine, x), x)


def test_restore_is_all_or_nothing() -> None:
    engine = Engine([Gain(), Delay()], sample_rate=16_000, channels=2)
    before = engine.save()
    damages: list[dict[str, Any]] = [
        {"values": [1], "voice": [1]},
        {"voice": {"gain": 10**400}},
        {"voice": {}},
        {"values": None},
    ]
    for damage in damages:
        saved = copy.deepcopy(before)
        saved["lanes"][0][0]["voice"]["gain"] = 0.5
        saved["lanes"][1][0].update(damage)
        with pytest.raises(ValueError, match="nothing was changed"):
            engine.restore(saved)
        assert engine.save() == before
    for foreign in ({}, {"version": 1}, {"version": 1, "lanes": 3}, {"version": 1, "lanes": [[1]]}):
        with pytest.raises(ValueError, match="like this one"):
            engine.restore(foreign)


def test_a_stage_that_cannot_take_what_was_saved_takes_all_others_back() -> None:
    class Full(Gain):
        def _apply(self) -> None:
            if self.voice["gain"] == 0.5:
                raise MemoryError("none left")

    engine = Engine([Gain(), Full()], sample_rate=16_000)
    before = engine.save()
    saved = copy.deepcopy(before)
    for stage in saved["lanes"][0]:
        stage["voice"]["gain"] = 0.5
    with pytest.raises(ValueError, match="nothing was changed: none left"):
        engine.restore(saved)
    assert engine.save() == before


def test_a_wrong_dtype_leaves_the_stream_as_it_was() -> None:
    engine, x = Engine(Delay(), sample_rate=16_000), noise(1600)
    first = engine.process(x[:800])
    with pytest.raises(TypeError, match="dtype"):
        engine.process(np.zeros(10, complex))
    assert engine.stats.blocks == 1
    np.testing.assert_array_equal(
        np.concatenate([first, engine.process(x[800:])]), Engine(Delay(), sample_rate=16_000).process(x)
    )

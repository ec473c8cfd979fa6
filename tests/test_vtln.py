from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from signals import F32, noise, tone, voice
from stages import loudest_step_at_borders, one_utterance_a_speaker, prepared, run
from velavox.bench.measure import best_lag_correlation, level_change
from velavox.engine.vtln import FORMANT, Vtln
from velavox.kernels import vtln, warp

HOP = Vtln.hop


def offline(x: F32, factor: float, shape: str = "symmetric", on: str = "envelope") -> F32:
    return vtln.offline(x, warp.offline(vtln.GRID, shape, warp.parameter(shape, factor, FORMANT)), on)


@pytest.mark.parametrize("on", vtln.ON)
@pytest.mark.parametrize("shape", warp.NAMES)
def test_streamed_equals_offline_after_the_latency(shape: str, on: str) -> None:
    x = voice(1.0)
    for direction, factor in ((1, 1.12), (-1, 1 / 1.12)):
        stage = prepared(Vtln, warp=shape, amount=0.12, direction=direction, on=on)
        wanted = offline(x, factor, shape, on)
        np.testing.assert_allclose(run(stage, x)[stage.latency :], wanted[: -stage.latency], atol=1e-5)


@pytest.mark.parametrize("on", vtln.ON)
def test_latency_is_true(on: str) -> None:
    x, stage = noise(50 * HOP), prepared(Vtln, on=on)
    vtln.aim(stage._state, vtln.GRID)  # no parameter can ask for it: nothing moves
    vtln.settle(stage._state)
    np.testing.assert_allclose(run(stage, x)[stage.latency :], x[: -stage.latency], atol=1e-5)


@pytest.mark.parametrize(("on", "most"), [("envelope", 2), ("spectrum", 60)])  # samples: moved harmonics disperse a click
@pytest.mark.parametrize("direction", [-1, 1])
def test_a_click_stays_where_it_is(on: str, most: int, direction: int) -> None:
    x, stage = np.zeros(20 * HOP, np.float32), prepared(Vtln, on=on, direction=direction)
    x[1234] = 1.0
    assert abs(int(np.abs(run(stage, x)).argmax()) - 1234 - stage.latency) <= most


def test_voices_are_drawn_in_both_directions_and_not_near_the_speaker() -> None:
    voices = [prepared(Vtln).voice for _ in range(60)]
    assert len({v["amount"] for v in voices}) == 60
    assert all(0.18 <= v["amount"] <= 0.28 for v in voices)
    assert {v["direction"] > 0 for v in voices} == {True, False}
    assert prepared(Vtln, amount=0.2, direction=1).voice == {"amount": 0.2, "direction": 1}
    assert 0.3 <= prepared(Vtln, amount=(0.3, 0.35)).voice["amount"] <= 0.35


@pytest.mark.parametrize("amount", [0, 0.05, -0.2, 1.0, float("nan"), (0.0, 0.3), (0.3, 0.2), "much"])
def test_the_speakers_own_voice_is_refused(amount: Any) -> None:
    with pytest.raises(ValueError, match="amount="):
        Vtln(amount=amount)
    stage = prepared(Vtln)
    before = dict(stage.voice)
    with pytest.raises(ValueError, match="amount="):
        stage.amount = amount
    assert stage.voice == before


def test_a_saved_voice_out_of_range_is_refused() -> None:
    stage = prepared(Vtln)
    saved, before = stage.save(), dict(stage.voice)
    for voice_saved in ({}, {"amount": 0.0, "direction": 1.0}, {"amount": 0.2}):
        saved["voice"] = voice_saved
        with pytest.raises(ValueError, match=r"amount=|direction="):
            stage.restore(saved)
    assert stage.voice == before


def test_wrong_names_are_refused() -> None:
    with pytest.raises(ValueError, match="symmetric, asymmetric"):
        Vtln(warp="cubic")
    with pytest.raises(ValueError, match="envelope, spectrum"):
        Vtln(on="harmonics")


@pytest.mark.parametrize("shape", warp.NAMES)
def test_every_voice_allowed_moves_formants(shape: str) -> None:
    low, high = Vtln.amount.low, Vtln.amount.high
    for amount in (low, high):
        for direction in (-1, 1):
            stage = prepared(Vtln, warp=shape, amount=amount, direction=direction)
            moved = np.asarray(stage._state[0].moved, float) * np.pi / 256
            assert np.all(np.diff(moved) > 0)
            factor = float(np.interp(FORMANT, vtln.GRID, moved)) / FORMANT
            assert max(factor, 1 / factor) > 1 + low - 1e-3
            assert (factor > 1) == (direction > 0)


def test_a_change_glides_and_is_there_after_two_hops() -> None:
    x, stage = voice(1.0), prepared(Vtln, amount=0.2, direction=1)
    y = np.empty_like(x)
    for k in range(0, x.size, HOP):
        if k == 50 * HOP:
            stage.amount, stage.direction = 0.3, -1
        stage.step(x[k : k + HOP], y[k : k + HOP])
    y = y[stage.latency :]
    # frames that begin before a change or end after it reach 240 samples to each side
    np.testing.assert_allclose(y[: 50 * HOP - 240], offline(x, 1.2)[: 50 * HOP - 240], atol=1e-5)
    np.testing.assert_allclose(y[52 * HOP :], offline(x, 1 / 1.3)[52 * HOP : y.size], atol=1e-5)


def test_a_change_does_not_click() -> None:
    x = tone(16000, 440)
    stage, y = prepared(Vtln, amount=0.2, direction=1), np.empty(16000, np.float32)
    for k in range(0, x.size, HOP):
        if k % (8 * HOP) == 0:
            stage.direction = -stage.direction
            stage.on = vtln.ON[k // (16 * HOP) % 2]
        stage.step(x[k : k + HOP], y[k : k + HOP])
    at_borders, elsewhere = loudest_step_at_borders(y, vtln.HOP)
    assert at_borders <= 1.5 * elsewhere


def test_real_speech_is_changed_and_keeps_its_level(shared: Path) -> None:
    like: dict[str, list[float]] = {on: [] for on in vtln.ON}
    for path, x in one_utterance_a_speaker(shared):
        for on in vtln.ON:
            for direction in (-1, 1):
                y = run(prepared(Vtln, amount=0.18, direction=direction, on=on), x)[vtln.LATENCY :]
                assert abs(level_change(x, y)) < 3, path
                like[on].append(best_lag_correlation(x[: y.size], y))
    assert np.median(like["envelope"]) < 0.85
    assert max(like["envelope"]) < 0.99
    assert max(like["spectrum"]) < 0.4

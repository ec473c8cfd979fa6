from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.signal import correlate
from signals import F32, noise, tone, voice
from stages import loudest_step_at_borders, one_utterance_a_speaker, prepared, run
from velavox.bench.measure import best_lag_correlation, level_change
from velavox.engine.voicemask import SEMITONE, VoiceMask
from velavox.kernels import vtln, warp
from velavox.kernels.voicemask import offline

HOP = VoiceMask.hop
FIXED = {"alpha": 0.09, "beta": 0.02, "pitch": 150.0, "spread": 2.5}
OTHER = {"alpha": -0.085, "beta": 0.01, "pitch": 190.0, "spread": 3.0}


def strength(voice: dict[str, float]) -> float:
    return warp.displacement(vtln.GRID, warp.voicemask(vtln.GRID, voice["alpha"], voice["beta"]))


def test_streamed_equals_offline_after_the_latency() -> None:
    x = voice(2.0)
    for stage in (prepared(VoiceMask, **FIXED), prepared(VoiceMask)):
        v = stage.voice
        wanted = offline(x, v["alpha"], v["beta"], v["pitch"], v["spread"] * SEMITONE)
        np.testing.assert_allclose(run(stage, x)[stage.latency :], wanted[: -stage.latency], atol=1e-5)


def test_latency_is_true_and_at_most_40_ms() -> None:
    """Bursts come out when they went in, the latency later: the energies of both lie at one lag."""
    x, stage = np.zeros(100 * HOP, np.float32), prepared(VoiceMask)
    for start in (2000, 5100, 9400, 12000):
        x[start : start + 700] = noise(700, seed=start)
    y = run(stage, x)
    late = int(correlate(np.abs(y).astype(float), np.abs(x).astype(float)).argmax()) - (x.size - 1)
    assert abs(late - stage.latency) <= 16  # what is not voiced is moved by up to 1 ms
    assert stage.latency <= 640


def test_every_voice_moves_formants_as_far_as_published() -> None:
    voices = [prepared(VoiceMask).voice for _ in range(40)]
    for v in voices:
        assert 0.32 <= strength(v) <= 0.40
        assert 0.08 <= abs(v["alpha"]) <= 0.10
        assert -2 < v["beta"] < 2
        assert 95 <= v["pitch"] <= 215
        assert 2 <= v["spread"] <= 3.5
    assert {v["alpha"] > 0 for v in voices} == {True, False}
    assert len({v["pitch"] for v in voices}) == 40


def test_numbers_are_taken_and_ranges_come_as_near_as_they_can() -> None:
    assert prepared(VoiceMask, **FIXED).voice == FIXED
    found = prepared(VoiceMask, alpha=0.1, beta=(-2, 2)).voice
    assert found["alpha"] == 0.1
    assert 0.32 <= strength(found) <= 0.40
    weak = prepared(VoiceMask, alpha=(0.05, 0.06), beta=(0.0, 0.01)).voice
    assert 0.05 <= abs(weak["alpha"]) <= 0.06
    assert strength({"alpha": 0.058, "beta": 0.0}) < strength(weak) < 0.32


def test_setting_one_part_of_the_warp_draws_the_other_anew() -> None:
    stage = prepared(VoiceMask)
    for alpha in (0.1, -0.1, 0.08):
        stage.alpha = alpha
        assert stage.voice["alpha"] == alpha
        assert 0.32 <= strength(stage.voice) <= 0.40
    pitch = stage.voice["pitch"]
    stage.beta = (-2.0, 0.0)
    assert stage.voice["pitch"] == pitch
    stage.pitch = 120.0
    assert stage.voice["pitch"] == 120.0


@pytest.mark.parametrize(
    ("name", "value"), [("alpha", 0.5), ("beta", -3), ("pitch", 20), ("pitch", (200, 100)), ("spread", 0), ("spread", "wide")]
)
def test_values_out_of_range_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name}="):
        VoiceMask(**{name: value})
    stage = prepared(VoiceMask)
    before = dict(stage.voice)
    with pytest.raises(ValueError, match=f"{name}="):
        setattr(stage, name, value)
    assert stage.voice == before


def test_a_change_glides_and_is_there_after_two_hops() -> None:
    """On noise, where no pitch is to be remembered; the level takes some 50 ms more."""
    x, stage = noise(100 * HOP), prepared(VoiceMask, **FIXED)
    y = np.empty_like(x)
    for k in range(0, x.size, HOP):
        if k == 50 * HOP:
            stage.alpha, stage.beta = OTHER["alpha"], OTHER["beta"]
        stage.step(x[k : k + HOP], y[k : k + HOP])
    y = y[stage.latency :]

    def masked(v: dict[str, float]) -> F32:
        return offline(x, v["alpha"], v["beta"], v["pitch"], v["spread"] * SEMITONE)[: y.size]

    np.testing.assert_allclose(y[: 44 * HOP], masked(FIXED)[: 44 * HOP], atol=1e-5)
    np.testing.assert_allclose(y[80 * HOP :], masked(OTHER)[80 * HOP :], atol=1e-3)


def test_a_change_does_not_click() -> None:
    x = tone(32000, 440)
    stage, y = prepared(VoiceMask, **FIXED), np.empty(32000, np.float32)
    for k in range(0, x.size, HOP):
        stage.pitch = FIXED["pitch"] if k % (8 * HOP) else OTHER["pitch"]
        stage.step(x[k : k + HOP], y[k : k + HOP])
    at_borders, elsewhere = loudest_step_at_borders(y[8000:], HOP)
    assert at_borders <= 1.5 * elsewhere


def test_block_borders_do_not_click_on_speech(shared: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    x = soundfile.read(shared / "fixtures" / "speech_f1_16k.wav", dtype="float32")[0]
    x = x[: x.size // HOP * HOP]
    for _ in range(3):
        step = np.abs(np.diff(run(prepared(VoiceMask), x)))
        joins = np.arange(HOP - 1, step.size, HOP)
        assert np.percentile(step[joins], 99) <= 1.5 * np.percentile(np.delete(step, joins), 99)


def test_another_voice_for_another_speaker_and_the_same_speaker() -> None:
    """Two draws give two voices of the same words: neither the input nor each other."""
    x = voice(3.0)
    first, second = (run(prepared(VoiceMask), x)[640:] for _ in range(2))
    assert best_lag_correlation(x[:-640], first) < 0.5
    assert best_lag_correlation(first, second) < 0.8


def test_real_speech_is_changed_enough_and_keeps_its_level(shared: Path) -> None:
    for k, (path, x) in enumerate(one_utterance_a_speaker(shared)):
        stage = VoiceMask()
        stage.new_voice(k.to_bytes(16, "little"))
        stage.prepare()
        y = run(stage, x)[stage.latency :]
        assert best_lag_correlation(x[: y.size], y) < 0.5, path
        assert abs(level_change(x, y)) < 3, path

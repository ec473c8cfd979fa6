from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from signals import noise, tone, voice
from stages import loudest_step_at_borders, one_utterance_a_speaker, prepared, run
from velavox.bench.measure import best_lag_correlation, level_change
from velavox.engine.mcadams import McAdams
from velavox.kernels import mcadams
from velavox.kernels.mcadams import offline

HOP = McAdams.hop


def test_streamed_equals_offline_after_the_latency() -> None:
    x = voice(2.0)
    for stage in (prepared(McAdams, alpha=0.9), prepared(McAdams)):
        wanted = offline(x, stage.voice["alpha"])
        np.testing.assert_allclose(run(stage, x)[stage.latency :], wanted[: -stage.latency], atol=1e-5)


def test_a_click_stays_where_it_is() -> None:
    x, stage = np.zeros(20 * HOP, np.float32), prepared(McAdams)
    x[1234] = 1.0
    assert 0 <= np.abs(run(stage, x)).argmax() - (1234 + stage.latency) < 10  # spread over 0.6 ms by the moved filter


def test_voices_are_drawn_from_the_range() -> None:
    drawn = {prepared(McAdams).voice["alpha"] for _ in range(20)}
    assert len(drawn) == 20
    assert all(0.5 <= alpha <= 0.72 for alpha in drawn)
    assert prepared(McAdams, alpha=0.8).voice == {"alpha": 0.8}
    assert 0.8 <= prepared(McAdams, alpha=(0.8, 0.9)).voice["alpha"] <= 0.9


@pytest.mark.parametrize("alpha", [1.0, 0.95, 1.1, 0.3, float("nan"), (0.5, 1.0), (0.7, 0.6), "one"])
def test_the_speakers_own_voice_is_refused(alpha: Any) -> None:
    with pytest.raises(ValueError, match="alpha="):
        McAdams(alpha=alpha)
    stage = prepared(McAdams)
    before = dict(stage.voice)
    with pytest.raises(ValueError, match="alpha="):
        stage.alpha = alpha
    assert stage.voice == before


@pytest.mark.parametrize("alpha", [1.0, None])
def test_a_saved_voice_out_of_range_is_refused(alpha: float | None) -> None:
    stage = prepared(McAdams)
    saved, before = stage.save(), dict(stage.voice)
    saved["voice"] = {} if alpha is None else {"alpha": alpha}
    with pytest.raises(ValueError, match="alpha="):
        stage.restore(saved)
    assert stage.voice == before


def test_a_change_glides_and_is_there_after_two_hops() -> None:
    x, stage = voice(1.0), prepared(McAdams, alpha=0.5)
    y = np.empty_like(x)
    for k in range(0, x.size, HOP):
        if k == 50 * HOP:
            stage.alpha = 0.9
        stage.step(x[k : k + HOP], y[k : k + HOP])
    y = y[stage.latency :]
    np.testing.assert_allclose(y[: 49 * HOP], offline(x, 0.5)[: 49 * HOP], atol=1e-5)
    np.testing.assert_allclose(y[51 * HOP :], offline(x, 0.9)[51 * HOP : y.size], atol=1e-5)


def test_a_change_does_not_click() -> None:
    x = tone(16000, 440)
    stage, y = prepared(McAdams, alpha=0.5), np.empty(16000, np.float32)
    for k in range(0, x.size, HOP):
        stage.alpha = 0.5 if k % (8 * HOP) else 0.9
        stage.step(x[k : k + HOP], y[k : k + HOP])
    at_borders, elsewhere = loudest_step_at_borders(y, HOP)
    assert at_borders <= 1.5 * elsewhere


def test_latency_is_true() -> None:
    """With alpha 1, which no parameter can have, nothing moves: the output is the input less what lies below 20 Hz."""
    x, stage = noise(100 * HOP), prepared(McAdams)
    stage._state[0].target = 1.0
    stage._settle()
    y = run(stage, x)[stage.latency :]
    assert np.linalg.norm(y - x[: y.size]) < 0.1 * np.linalg.norm(x)


def test_real_speech_is_changed_enough_and_keeps_its_level(shared: Path) -> None:
    low, high = prepared(McAdams).alpha
    for path, x in one_utterance_a_speaker(shared):
        for alpha in (low, high):
            y = run(prepared(McAdams, alpha=alpha), x)[mcadams.LATENCY :]
            assert best_lag_correlation(x[: y.size], y) < 0.6, path
            assert abs(level_change(x, y)) < 3, path

from __future__ import annotations

import csv
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memory import net_growth
from scipy.signal import correlate
from signals import F32, noise, tone, voice
from velavox.engine.mcadams import McAdams
from velavox.kernels.mcadams import offline

HOP = McAdams.hop


def prepared(**values: Any) -> McAdams:
    stage = McAdams(**values)
    stage.prepare()
    return stage


def run(stage: McAdams, x: F32) -> F32:
    """Whole hops of x through the stage, delayed."""
    y = np.full_like(x, 0.77)
    for k in range(0, x.size, HOP):
        stage.step(x[k : k + HOP], y[k : k + HOP])
    return y


def test_streamed_equals_offline_after_the_latency() -> None:
    x = voice(2.0)
    for stage in (prepared(alpha=0.9), prepared()):
        wanted = offline(x, stage.voice["alpha"])
        np.testing.assert_allclose(run(stage, x)[stage.latency :], wanted[: -stage.latency], atol=1e-5)


def test_latency_is_true() -> None:
    x, stage = noise(100 * HOP), prepared()
    stage.voice["alpha"] = 1.0  # no parameter can have it: nothing moves, the output is the input less what lies below 20 Hz
    stage.reset()
    y = run(stage, x)[stage.latency :]
    assert np.linalg.norm(y - x[: y.size]) < 0.1 * np.linalg.norm(x)


def test_a_click_stays_where_it_is() -> None:
    x, stage = np.zeros(20 * HOP, np.float32), prepared()
    x[1234] = 1.0
    assert 0 <= np.abs(run(stage, x)).argmax() - (1234 + stage.latency) < 10  # spread over 0.6 ms by the moved filter


def test_voices_are_drawn_from_the_range() -> None:
    drawn = {prepared().voice["alpha"] for _ in range(20)}
    assert len(drawn) == 20
    assert all(0.5 <= alpha <= 0.72 for alpha in drawn)
    assert prepared(alpha=0.8).voice == {"alpha": 0.8}
    assert 0.8 <= prepared(alpha=(0.8, 0.9)).voice["alpha"] <= 0.9


def test_equal_entropy_equal_voice() -> None:
    stage, other = prepared(), prepared()
    stage.new_voice(bytes(range(16)))
    first = dict(stage.voice)
    other.new_voice(bytes(range(16)))
    assert other.voice == first
    stage.new_voice(bytes(16))
    assert stage.voice != first


def test_a_clone_has_the_parameters_and_a_voice_of_its_own() -> None:
    stage = prepared(alpha=(0.6, 0.7))
    other = stage.clone()
    other.prepare()
    assert other.alpha == (0.6, 0.7)
    assert other.voice != stage.voice


@pytest.mark.parametrize("alpha", [1.0, 0.95, 1.1, 0.3, float("nan"), (0.5, 1.0), (0.7, 0.6), "one"])
def test_the_speakers_own_voice_is_refused(alpha: Any) -> None:
    with pytest.raises(ValueError, match="alpha="):
        McAdams(alpha=alpha)
    stage = prepared()
    before = dict(stage.voice)
    with pytest.raises(ValueError, match="alpha="):
        stage.alpha = alpha
    assert stage.voice == before


def test_reset_is_fresh() -> None:
    x, stage = voice(1.0), prepared()
    first = run(stage, x)
    run(stage, noise(x.size))
    stage.reset()
    np.testing.assert_array_equal(run(stage, x), first)


def test_saved_and_restored() -> None:
    x, stage, other = voice(1.0), prepared(alpha=(0.6, 0.8)), prepared()
    saved = json.loads(json.dumps(stage.save()))
    other.restore(saved)
    other.reset()
    np.testing.assert_array_equal(run(other, x), run(stage, x))
    assert other.alpha == (0.6, 0.8)


@pytest.mark.parametrize("alpha", [1.0, None])
def test_a_saved_voice_out_of_range_is_refused(alpha: float | None) -> None:
    stage = prepared()
    saved, before = stage.save(), dict(stage.voice)
    saved["voice"] = {} if alpha is None else {"alpha": alpha}
    with pytest.raises(ValueError, match="alpha="):
        stage.restore(saved)
    assert stage.voice == before


def test_a_change_glides_and_is_there_after_two_hops() -> None:
    x, stage = voice(1.0), prepared(alpha=0.5)
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
    stage, y = prepared(alpha=0.5), np.empty(16000, np.float32)
    for k in range(0, x.size, HOP):
        stage.alpha = 0.5 if k % (8 * HOP) else 0.9
        stage.step(x[k : k + HOP], y[k : k + HOP])
    step = np.abs(np.diff(y))
    joins = np.arange(HOP - 1, step.size, HOP)
    assert step[joins].max() <= 1.5 * np.percentile(np.delete(step, joins), 99.9)


def test_changes_from_another_thread() -> None:
    x, stage = voice(2.0), prepared()

    def change() -> None:
        for k in range(100):
            stage.alpha = 0.5 + 0.4 * (k % 2)

    thread = threading.Thread(target=change)
    thread.start()
    y = run(stage, x)
    thread.join()
    assert np.isfinite(y).all()
    assert np.abs(y).max() <= 3 * np.abs(x).max()


def test_step_allocates_nothing() -> None:
    stage, x, y = prepared(), noise(HOP), np.empty(HOP, np.float32)
    stage.step(x, y)

    def run_on() -> None:
        for _ in range(5000):
            stage.step(x, y)

    assert net_growth(run_on) <= 256


def test_real_speech_is_changed_enough_and_keeps_its_level(shared: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    with (shared / "speech" / "manifest.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == "dev"]
    by_speaker = {(row["source"], row["speaker"]): row for row in rows}
    assert len(by_speaker) > 40
    low, high = prepared().alpha
    for row in by_speaker.values():
        x, rate = soundfile.read(shared / "speech" / row["path"], dtype="float32")
        assert rate == 16000
        x = x[: x.size // HOP * HOP]
        for alpha in (low, high):
            y = run(prepared(alpha=alpha), x)[McAdams().latency :]
            level = np.linalg.norm(y) / np.linalg.norm(x)
            like = np.abs(correlate(y, np.pad(x, 800), "valid", "fft")).max() / np.linalg.norm(x) / np.linalg.norm(y)
            assert like < 0.6, row["path"]
            assert abs(20 * np.log10(level)) < 3, row["path"]

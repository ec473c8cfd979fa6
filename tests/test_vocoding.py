from __future__ import annotations

import warnings

import numpy as np
import pytest
from signals import F32, RATE, voice

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # pyworld asks for pkg_resources, which warns that it is old
    pytest.importorskip("pyworld")

from velavox.kernels.vocoder import BANDS, FLOOR, HOP, NOISE_BANDS
from velavox.models_onnx.training.vocoding import analyse


def loudness(x: F32) -> np.ndarray:
    """Level in dB over 50 ms."""
    return np.asarray(10 * np.log10(np.mean(np.square(x[: x.size // 800 * 800], dtype=float).reshape(-1, 800), axis=1) + 1e-9))


def test_a_copy_is_as_loud_as_its_original() -> None:
    x = voice(3.0, 130)
    targets = analyse(x)
    frames = x.size // HOP + 1
    assert targets.f0.shape == (frames,)
    assert targets.envelope.shape == (frames, BANDS)
    assert targets.noise.shape == (frames, len(NOISE_BANDS))
    assert 0 <= targets.noise.min() <= targets.noise.max() <= 1
    before, after = loudness(x), loudness(targets.sound()[: x.size])
    loud = before > -50
    assert loud.sum() > 30
    assert abs(np.median(after[loud] - before[loud])) < 0.4
    assert np.percentile(np.abs(after - before)[loud], 90) < 2.0


def test_frames_are_on_the_clock_of_the_samples() -> None:
    """A vowel that begins at 0.5 s and rises: F0 at sample 160 t, power from frame 50 on, at that sample of the copy too."""
    n = 3 * RATE // 2
    f0 = np.linspace(120, 240, n)
    x = np.diff(np.floor(np.cumsum(f0 / RATE)), prepend=0.0) * (np.arange(n) >= RATE // 2)
    targets = analyse(np.asarray(0.3 * x, np.float32))
    t = np.arange(60, 140)
    np.testing.assert_allclose(targets.f0[t], f0[HOP * t], rtol=0.01)
    assert targets.envelope[:47].mean() < targets.envelope[53:].mean() - 10
    power = np.square(targets.sound(), dtype=float)
    assert power[: RATE // 2 - 2 * HOP].mean() < 1e-3 * power[RATE // 2 + 2 * HOP :].mean()


def test_silence_stays_silent() -> None:
    targets = analyse(np.zeros(RATE, np.float32))
    assert np.isfinite(targets.envelope).all()
    assert targets.envelope.min() >= FLOOR
    assert np.abs(targets.sound()).max() < 1e-4

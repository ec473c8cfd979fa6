"""Pitch classes: evenly spaced in ln Hz, and the tracker that they are found by."""

from __future__ import annotations

import numpy as np
import pytest
from signals import RATE, noise, voice
from velavox.kernels import f0
from velavox.models_onnx.training import encoder, pitch
from velavox.models_onnx.training.pitch import HIGHEST, IGNORED, LOWEST, PITCHES, STEP, classes, track


def test_a_class_is_the_one_of_its_own_frequency() -> None:
    centres = np.exp(encoder.log_hertz().double().numpy()[1:])
    assert np.isclose(centres[[0, -1]], [LOWEST, HIGHEST], rtol=1e-5).all()
    assert classes(centres).tolist() == list(range(1, 1 + PITCHES))
    for off in (-0.45, 0.45):  # of a step
        assert classes(centres * np.exp(off * STEP)).tolist() == list(range(1, 1 + PITCHES))


def test_unvoiced_unknown_and_out_of_range() -> None:
    assert classes(np.array([0.0, np.nan, 1.0, 49.0, 501.0, 4000.0])).tolist() == [0, IGNORED, 1, 1, PITCHES, PITCHES]


def test_pitch_of_a_vowel_is_found_on_the_clock_of_the_samples() -> None:
    """Pulses from 0.5 s on whose rate rises by an octave: known within a class where they are, unvoiced before."""
    n = 3 * RATE // 2
    hertz = np.linspace(110, 220, n)
    pulses = np.diff(np.floor(np.cumsum(hertz / RATE)), prepend=0.0) * (np.arange(n) >= RATE // 2)
    found = track(np.convolve(pulses, np.hanning(24), "same").astype(np.float32) * 0.2 + noise(n, 1e-4))
    assert len(found) >= n // 160 - 1
    assert not np.nan_to_num(found[:45]).any()
    steady = found[60:140]
    known = steady > 0
    assert known.mean() > 0.9
    assert np.abs(np.log(steady[known] / hertz[160 * np.arange(60, 140)[known]])).max() < pitch.STEP


def test_voicing_is_the_kernels_and_a_contradiction_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is made to find no pitch in a vowel, and pitch an octave higher."""
    x = voice(1.0, 130)
    found, heard = track(x), f0.offline(x)
    by_both = (found > 0) & (found != heard[: len(found)])  # else the value is the kernel's, for want of another
    assert by_both.sum() > 15
    monkeypatch.setattr(f0, "offline", lambda samples: 0 * heard)
    assert not track(x).any()
    monkeypatch.setattr(f0, "offline", lambda samples: 2 * heard)
    assert np.isnan(track(x)[by_both]).all()


def test_silence_has_none() -> None:
    assert not track(np.zeros(RATE, np.float32)).any()

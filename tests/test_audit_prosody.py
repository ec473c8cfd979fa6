"""Melody before and after: the same is kept whole, another voice's range does not matter, another contour or no voice does."""

import numpy as np
import pytest
from signals import RATE, noise, voice
from velavox.bench.audit.prosody import prosody
from velavox.bench.condition import Condition
from velavox.bench.speech import clips
from velavox.kernels.jit import F32

SPEECH = clips()["27-123349-0009"]


def _buzz(hz: F32) -> F32:
    """Pulses of this frequency, of each sample."""
    return np.diff(np.floor(np.cumsum(hz / RATE)), prepend=0.0).astype(np.float32) * 0.5


def _contour(mean: float, swing: float, shift: float = 0.0) -> F32:
    t = np.arange(3 * RATE) / RATE
    return (mean * np.exp(swing * np.sin(2 * np.pi * 0.8 * t + shift))).astype(np.float32)


def test_the_same_is_kept_whole() -> None:
    found = prosody(SPEECH, SPEECH)
    assert found.correlation == pytest.approx(1)
    assert found.agreeing == found.frames == len(SPEECH) // 160 + 1


def test_mean_and_range_do_not_count_the_shape_does() -> None:
    plain = _buzz(_contour(110, 0.2))
    assert prosody(plain, _buzz(_contour(190, 0.35))).correlation > 0.98
    assert prosody(plain, _buzz(_contour(110, 0.2, np.pi))).correlation < -0.9
    assert abs(prosody(plain, _buzz(_contour(110, 0.2, np.pi / 2))).correlation) < 0.3


def test_a_delay_of_some_frames_is_seen() -> None:
    found = prosody(SPEECH, np.concatenate([np.zeros(1600, np.float32), SPEECH]))
    assert found.frames == len(SPEECH) // 160 + 1
    assert found.correlation < 0.9
    assert found.agreeing < 0.85 * found.frames


def test_methods_keep_what_they_say() -> None:
    for method in ("mcadams", "voicemask"):
        found = prosody(SPEECH, Condition.parse(method).speak(SPEECH, "key"))
        assert found.correlation > 0.6
        assert found.agreeing > 0.8 * found.frames


def test_noise_has_no_melody() -> None:
    found = prosody(voice(2.0), noise(2 * RATE))
    assert np.isnan(found.correlation)
    assert found.agreeing < 0.8 * found.frames


def test_a_monotone_has_no_correlation() -> None:
    assert np.isnan(prosody(_buzz(_contour(110, 0.2)), np.zeros(3 * RATE, np.float32)).correlation)

"""Variety: one voice over and over has none, steady is what does not change; pitch is that of the signal."""

import numpy as np
import pytest
from signals import tone
from velavox.bench.speech import clips
from velavox.bench.variety import pitch, steadiness, variety
from velavox.kernels.jit import F32


def test_the_same_voice_has_no_variety() -> None:
    clip = clips()["27-123349-0009"]
    found = variety([clip, clip, clip])
    assert found.likeness == pytest.approx(1, abs=1e-5)
    assert found.lowest == found.highest == pitch(clip)


def test_people_differ_and_speak_at_their_own_pitch() -> None:
    found = variety(list(clips().values()))
    assert found.likeness < found.closest < 0.85
    assert found.lowest == pitch(clips()["27-123349-0009"]) < 140 < found.highest


def test_a_change_of_speaker_is_unsteady() -> None:
    man, woman = clips()["27-123349-0009"][:64_000], clips()["5789-70653-0013"][:64_000]
    assert steadiness(np.concatenate([man, man])) > 0.98
    assert steadiness(np.concatenate([man, np.resize(woman, man.shape)])) < 0.7


def test_pitch() -> None:
    buzz = np.sum([tone(32_000, 150 * k, 0.3 / k) for k in range(1, 11)], axis=0)
    assert pitch(buzz) == pytest.approx(150, rel=0.01)
    assert np.isnan(pitch(np.zeros(16_000, np.float32)))


def test_encoder_is_the_callers_and_one_recording_is_too_few() -> None:
    def sign(x: F32) -> F32:
        return np.asarray(np.array([1, np.sign(x[0])]) / np.sqrt(2), np.float32)

    up, down = np.ones(16_000, np.float32), -np.ones(16_000, np.float32)
    assert variety([up, down, up], sign).likeness == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="two or more"):
        variety([up])

"""The sound that is profiled: generated, or the beginning of a recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from signals import noise
from velavox.engine.profile_sound import generated, read


@pytest.mark.parametrize("rate", [8000, 48_000])
def test_generated_sound_has_syllables_and_pauses(rate: int) -> None:
    sound = generated(rate, 1)
    x = sound.x[:, 0]
    assert sound.x.shape == (10 * rate, 1)
    np.testing.assert_array_equal(sound.x, generated(rate, 1).x)
    assert np.abs(x).max() <= 1
    assert np.sqrt(np.mean(x**2)) == pytest.approx(0.1, rel=0.1)
    levels = np.sqrt(np.mean(x.reshape(-1, rate // 50) ** 2, axis=1))
    assert np.percentile(levels, 10) < 0.005 < 0.05 < np.percentile(levels, 60)
    power, hz = np.abs(np.fft.rfft(x)) ** 2, np.fft.rfftfreq(x.size, 1 / rate)
    assert power[(hz > 400) & (hz < 600)].sum() > 5 * power[(hz > 900) & (hz < 1100)].sum()  # on a formant, and between two


def test_of_a_long_recording_only_the_beginning_is_read(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "long.wav", noise(70 * 8000), 8000)
    sound = read(tmp_path / "long.wav")
    assert sound.x.shape == (60 * 8000, 1)
    assert sound.at(16_000).x.shape == (60 * 16_000, 1)

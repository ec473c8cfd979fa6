"""Any recording at 16 kHz: rates, channels, what is broken in it."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
from signals import noise, voice
from velavox.bench.measure import best_lag_correlation
from velavox.engine.failure import FileFailure
from velavox.engine.heard import RATE, hear


@pytest.mark.parametrize("rate", [8000, 22_050, 44_100, 48_000])
def test_any_rate_becomes_16_khz(tmp_path: Path, rate: int) -> None:
    x = np.convolve(voice(2.0), np.sinc(np.arange(-64, 65) * 0.4) * 0.4 * np.hanning(129), "same").astype(np.float32)
    at_rate = np.interp(np.arange(2 * rate) / rate, np.arange(len(x)) / RATE, x) if rate < RATE else _resampled(x, rate)
    soundfile.write(tmp_path / "a.wav", at_rate, rate, subtype="FLOAT")
    found = hear(tmp_path / "a.wav")
    assert (found.rate, found.channels, found.not_finite) == (rate, 1, 0)
    assert abs(len(found.samples) - len(x)) <= 1
    assert best_lag_correlation(x, found.samples) > 0.98


def test_channels_apart_and_mixed(tmp_path: Path) -> None:
    left, right = voice(1.0), noise(RATE)
    soundfile.write(tmp_path / "a.wav", np.stack([left, np.zeros_like(left)], axis=1), RATE, subtype="FLOAT")
    assert np.allclose(hear(tmp_path / "a.wav", 0).samples, left)
    assert not hear(tmp_path / "a.wav", 1).samples.any()
    assert np.abs(hear(tmp_path / "a.wav").samples).max() > 0.5 * np.abs(left).max()
    soundfile.write(tmp_path / "b.wav", np.stack([left, right], axis=1), RATE, subtype="FLOAT")
    assert np.allclose(hear(tmp_path / "b.wav", 1).samples, right)
    with pytest.raises(FileFailure, match="channel 2"):
        hear(tmp_path / "b.wav", 2)


def test_what_is_not_finite_is_counted(tmp_path: Path) -> None:
    x = voice(1.0)
    x[[7, 900]] = np.nan, np.inf
    soundfile.write(tmp_path / "a.wav", x, RATE, subtype="FLOAT")
    found = hear(tmp_path / "a.wav")
    assert found.not_finite == 2
    assert np.isfinite(found.samples).all()


def test_no_more_is_read_than_is_asked_for(tmp_path: Path) -> None:
    x = voice(5.0)
    soundfile.write(tmp_path / "a.wav", x, RATE, subtype="FLOAT")
    assert np.array_equal(hear(tmp_path / "a.wav", most=2.5).samples, x[: 5 * RATE // 2])


def _resampled(x: np.ndarray, rate: int) -> np.ndarray:
    import soxr

    return np.asarray(soxr.resample(x, RATE, rate))

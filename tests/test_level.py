import naive
import numpy as np
import pytest
from signals import noise, voice
from velavox.kernels import level

HOP = 160
pytestmark = pytest.mark.nojit


def matched(y: np.ndarray, x: np.ndarray, latency: int) -> np.ndarray:
    state, out = level.fresh(HOP, latency), y.copy()
    for k in range(0, y.size - HOP + 1, HOP):
        level.match(state, out[k : k + HOP], x[k : k + HOP])
    return out


def delayed(x: np.ndarray, latency: int) -> np.ndarray:
    return np.concatenate([np.zeros(latency, np.float32), x[: x.size - latency]])


@pytest.mark.parametrize("latency", [0, 160, 200, 640])
def test_twin(latency: int) -> None:
    x = voice(1.0)
    y = delayed(x, latency) * np.float32(0.4) + noise(x.size, 0.01)
    keep = np.exp(-HOP / (level.SMOOTHING * 16000))
    wanted = naive.match_level(y.astype(float), x.astype(float), HOP, latency, keep, level.RANGE, level.FLOOR)
    np.testing.assert_allclose(matched(y, x, latency), wanted, atol=1e-5)


def test_equal_power_is_left_alone_to_the_bit() -> None:
    x = voice(1.0)
    np.testing.assert_array_equal(matched(x, x, 0), x)


@pytest.mark.parametrize("gain", [0.3, 3.0])
def test_level_is_restored(gain: float) -> None:
    x = voice(3.0)
    y = matched(delayed(x, 320) * np.float32(gain), x, 320)[16000:]
    assert abs(20 * np.log10(np.std(y) / np.std(x[16000 - 320 : -320]))) < 0.5


def test_an_offset_counts_as_no_level() -> None:
    x = voice(2.0)
    np.testing.assert_allclose(matched(x, x + np.float32(0.3), 0), x, atol=1e-3)


def test_silence_stays_silence_and_is_not_pumped_up() -> None:
    x = np.zeros(16000, np.float32)
    hiss = noise(16000, 1e-6)
    assert np.abs(matched(hiss, x, 0)).max() <= np.abs(hiss).max()
    assert np.std(matched(hiss, noise(16000, 1e-3), 0)) <= level.RANGE * np.std(hiss) * 1.01


def test_latency_too_long() -> None:
    with pytest.raises(ValueError, match="latency=20000"):
        level.fresh(HOP, 20000)

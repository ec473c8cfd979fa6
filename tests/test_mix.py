import naive
import numpy as np
import pytest
from signals import noise, voice
from velavox.kernels import mix


def mixed(x: np.ndarray, rate: int = 16000, sizes: tuple[int, ...] = ()) -> np.ndarray:
    work, state, rows = mix.channels(x.shape[0]), mix.fresh(rate), x.astype(np.float32)
    start = 0
    for size in (*sizes, x.shape[1] - sum(sizes)):
        piece = np.ascontiguousarray(rows[:, start : start + size])
        mix.mix(state, *work, piece, size)
        rows[:, start : start + size] = piece
        start += size
    return np.asarray(rows[0])


def decibels(a: np.ndarray, b: np.ndarray) -> float:
    return float(20 * np.log10(np.std(a[4000:]) / np.std(b[4000:])))


def test_twin() -> None:
    x = np.stack([voice(0.5), -voice(0.5) * 0.6, noise(8000, 0.05)])
    wanted = naive.mix(x.astype(float), 16000, mix.SMOOTHING, mix.GLIDE, mix.FLIP)
    np.testing.assert_allclose(mixed(x), wanted, atol=1e-5)


@pytest.mark.parametrize(
    "weights", [(1, 1), (1, -1), (1, 0), (0, 1), (0.5, -0.5), (0, 0, 1, 0), (1, 1, 1, 1, 1, 1), (0.2, -1, 0.3)]
)
def test_one_voice_keeps_the_loudest_channels_level(weights: tuple[float, ...]) -> None:
    x = voice(2.0)
    y = mixed(np.outer(weights, x))
    assert abs(decibels(y, x * max(map(abs, weights)))) < 1.0
    assert abs(np.corrcoef(x[4000:], y[4000:])[0, 1]) > 0.99


def test_two_speakers_are_both_heard() -> None:
    a, b = voice(3.0, f0=110, seed=1), voice(3.0, f0=210, seed=2)
    y = mixed(np.stack([a, b]))
    for speaker in (a, b):
        assert np.dot(y, speaker) / np.dot(speaker, speaker) > 0.5


def test_partition_does_not_matter() -> None:
    x = np.stack([voice(0.5), voice(0.5, seed=3)])
    np.testing.assert_array_equal(mixed(x), mixed(x, sizes=(1, 0, 313, 160, 2048)))


def test_silence() -> None:
    assert (mixed(np.zeros((2, 1000))) == 0).all()

from __future__ import annotations

import naive
import numpy as np
import pytest
from scipy.signal import lfilter
from signals import awkward, voice
from velavox.kernels import lpc

pytestmark = pytest.mark.nojit


def frames(x: np.ndarray, size: int = 320, hop: int = 1600) -> list[np.ndarray]:
    return [np.hanning(size) * x[i : i + size].astype(float) for i in range(0, x.size - size, hop)]


def error_of(x: np.ndarray, order: int) -> float:
    error = np.empty(1)
    lpc.stream(error, np.empty(order + 1), np.empty_like(x), np.empty_like(x), x)
    return float(error[0])


@pytest.mark.parametrize("order", [1, 2, 7, 20, 24])
def test_twin(order: int) -> None:
    for frame in frames(voice(1.5)):
        wanted = naive.burg(frame, order)
        np.testing.assert_allclose(lpc.offline(frame, order), wanted, atol=1e-9 * np.abs(wanted).max())


def test_finds_the_filter_that_made_the_signal() -> None:
    a = np.convolve([1, -1.7, 0.9], [1, 0.8, 0.7])
    x = lfilter([0.1], a, np.random.default_rng(0).normal(size=8000))
    np.testing.assert_allclose(lpc.offline(x, 4), a, atol=0.03)
    assert error_of(x, 4) == pytest.approx(0.01, rel=0.05)


def test_error_falls_with_the_order_from_the_mean_square() -> None:
    frame = frames(voice(1.5))[3]
    errors = [error_of(frame, order) for order in range(1, 25)]
    assert errors[0] < np.mean(frame**2)
    assert np.all(np.diff(errors) <= 0)


@pytest.mark.parametrize("gain", [1e-36, 1e-6, 1e6])
def test_level_does_not_matter(gain: float) -> None:
    frame = frames(voice(1.5))[3]
    np.testing.assert_allclose(lpc.offline(frame * gain), lpc.offline(frame), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", awkward())
def test_stable_on_anything(name: str) -> None:
    for frame in (*frames(awkward()[name]), awkward()[name][-320:].astype(float)):
        a = lpc.offline(frame)
        assert np.isfinite(a).all()
        assert np.abs(np.roots(a)).max(initial=0.0) < 1.0


def test_silence_predicts_nothing() -> None:
    np.testing.assert_array_equal(lpc.offline(np.zeros(320)), np.eye(1, 21)[0])
    assert error_of(np.zeros(320), 20) == 0.0


@pytest.mark.parametrize(("shape", "order"), [((20,), 20), ((2, 320), 20), ((320,), 0)])
def test_wrong_shape_or_order(shape: tuple[int, ...], order: int) -> None:
    with pytest.raises(ValueError, match="give a vector longer than the order"):
        lpc.offline(np.ones(shape), order)

import naive
import numpy as np
import pytest
from signals import awkward, noise, partitions
from velavox.kernels import limiter

pytestmark = pytest.mark.nojit


def limited(x: np.ndarray, sizes: list[int] | None = None) -> np.ndarray:
    state, y = limiter.fresh(), x.copy()
    for block in np.split(y, np.cumsum(sizes)[:-1]) if sizes else [y]:
        limiter.limit(state, block)
    return y


def test_twin() -> None:
    x = noise(4000, rms=0.9)
    keep = np.exp(-1 / (limiter.RELEASE * 16000))
    np.testing.assert_allclose(limited(x), naive.limit(x.astype(float), keep, limiter.CEILING), atol=1e-6)


def test_never_above_the_ceiling_and_counted() -> None:
    x = noise(4000, rms=3.0)
    y = x.copy()
    assert limiter.limit(limiter.fresh(), y) == (np.abs(x) > 1).sum()
    assert np.abs(y).max() <= 1


def test_within_the_ceiling_nothing_changes() -> None:
    for x in awkward().values():
        np.testing.assert_array_equal(limited(x), x)


def test_partition_does_not_matter() -> None:
    x = noise(5000, rms=0.9)
    for name, sizes in partitions(x.size):
        np.testing.assert_array_equal(limited(x, sizes), limited(x), err_msg=name)


def test_gain_comes_back_exactly() -> None:
    x = noise(48000, rms=0.1)
    x[10] = 8.0
    y = limited(x)
    assert abs(y[11] / x[11]) < 0.2
    np.testing.assert_array_equal(y[-1000:], x[-1000:])

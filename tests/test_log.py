import numpy as np
import pytest
from velavox.kernels.jit import F32, f32, kernel
from velavox.kernels.log import natural_log


@kernel(f32)
def log(x: F32) -> None:
    natural_log(x)


@pytest.mark.nojit
def test_over_the_whole_range() -> None:
    x = np.exp(np.random.default_rng(0).uniform(-87, 88, 20_000)).astype(np.float32)
    x[:3] = np.finfo(np.float32).tiny, np.finfo(np.float32).max, 1
    expected = np.log(x.astype(np.float64))
    log(x)
    assert (np.abs(x - expected) <= 1.3e-7 * np.maximum(np.abs(expected), 1)).all()
    assert x[2] == 0


def test_around_one() -> None:
    x = np.linspace(0.5, 2, 100_001).astype(np.float32)
    expected = np.log(x.astype(np.float64))
    log(x)
    np.testing.assert_allclose(x, expected, rtol=1.3e-7, atol=6e-8)


@pytest.mark.nojit
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_what_is_not_finite_stays_so() -> None:
    x = np.array([np.nan, np.inf, 1], np.float32)
    log(x)
    assert np.isnan(x[:2]).all()
    assert x[2] == 0

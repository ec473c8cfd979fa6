from __future__ import annotations

import naive
import numpy as np
import pytest
from signals import awkward, voice
from velavox.kernels.levinson import lag_window, levinson

ORDER = 18


def autocorrelation(x: np.ndarray) -> np.ndarray:
    return np.array([x[: x.size - m] @ x[m:] for m in range(ORDER + 1)])


@pytest.mark.nojit
def test_twin() -> None:
    x = voice(0.2)[800:1280].astype(float)
    r = autocorrelation(x) * lag_window(ORDER, 0.003, 1e-4)
    a = np.empty(ORDER + 1)
    error = levinson(a, r)
    np.testing.assert_allclose(a, naive.levinson(r), rtol=1e-7)
    assert error == pytest.approx(r @ a)


@pytest.mark.nojit
@pytest.mark.parametrize("name", awkward())
def test_finite_and_stable(name: str) -> None:
    x = awkward(480)[name].astype(float) * np.hanning(480)
    a = np.empty(ORDER + 1)
    error = levinson(a, autocorrelation(x) * lag_window(ORDER, 0.003, 1e-4))
    assert np.isfinite(a).all()
    assert np.abs(np.roots(a)).max() < 1
    assert 0 <= error <= 1.001 * (x @ x)


@pytest.mark.nojit
def test_no_energy_no_prediction() -> None:
    a = np.full(ORDER + 1, np.nan)
    assert levinson(a, np.zeros(ORDER + 1)) == 0
    np.testing.assert_array_equal(a, np.eye(ORDER + 1)[0])


@pytest.mark.nojit
def test_impossible_autocorrelation_stops() -> None:
    a = np.empty(3)
    levinson(a, np.array([1.0, 0.5, -1.4]))  # the second reflection coefficient would be -2.2
    np.testing.assert_allclose(a, [1.0, -0.5, 0.0])


@pytest.mark.nojit
def test_lag_window_smooths_a_line() -> None:
    window = lag_window(200, 0.01, 0.0)
    lags = np.arange(201)
    window[0] /= 2  # the other lags count on both sides
    spread = np.cos(2 * np.pi * np.outer([0.2, 0.21, 0.22], lags)) @ (window * np.cos(2 * np.pi * 0.2 * lags))
    assert spread[1] / spread[0] == pytest.approx(np.exp(-0.5), rel=0.02)  # a Gaussian of that standard deviation
    assert spread[2] / spread[0] == pytest.approx(np.exp(-2), rel=0.05)

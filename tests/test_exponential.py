from __future__ import annotations

import numpy as np
import pytest
from velavox.kernels.exponential import RANGE, TURNS, complex_exponential
from velavox.kernels.jit import F32, f32, kernel


@kernel(f32, f32)
def exponential(re: F32, im: F32) -> None:
    complex_exponential(re, im)


def error(re: F32, im: F32) -> float:
    """Largest difference from the exact value, in parts of it."""
    exact = np.exp(re.astype(float) + 1j * im.astype(float))
    exponential(re, im)
    return float(np.abs((re + 1j * im.astype(float)) / exact - 1).max())


@pytest.mark.nojit
@pytest.mark.parametrize("turns", [1.0, 100.0, TURNS])
def test_twin(turns: float) -> None:
    rng = np.random.default_rng(0)
    assert error(rng.uniform(-20, 20, 3000).astype(np.float32), rng.uniform(-turns, turns, 3000).astype(np.float32)) < 3e-7


@pytest.mark.nojit
def test_quarter_turns_and_their_edges() -> None:
    im = np.float32(np.pi / 4) * np.arange(-40, 41, dtype=np.float32)
    assert error(np.zeros(im.size, np.float32), np.concatenate([np.nextafter(im, np.float32(9))])) < 3e-7
    assert error(np.zeros(im.size, np.float32), im) < 3e-7


@pytest.mark.nojit
def test_beyond_the_range_it_stays_finite() -> None:
    re = np.array([-1e9, -100, -RANGE, RANGE, 100, 1e9], np.float32)
    im = np.zeros(6, np.float32)
    exponential(re, im)
    np.testing.assert_allclose(re, np.exp(np.array([-RANGE] * 3 + [RANGE] * 3)), rtol=1e-6)

import numpy as np
import pytest
from signals import F32
from velavox.kernels import polar
from velavox.kernels.jit import f32, kernel


@kernel(f32, f32)
def run(re: F32, im: F32) -> None:
    polar.from_logarithm(re, im)


def of(log_magnitude: F32, phase: F32) -> np.ndarray[tuple[int, ...], np.dtype[np.complex128]]:
    re, im = log_magnitude.copy(), phase.copy()
    run(re, im)
    return re.astype(np.float64) + 1j * im.astype(np.float64)


@pytest.mark.nojit
def test_is_the_complex_exponential() -> None:
    rng = np.random.default_rng(0)
    logs = np.concatenate([[0.0, 0.0, -80.0, 80.0], rng.uniform(-20, 5, 2000)]).astype(np.float32)
    phases = np.concatenate([[0.0, np.pi / 4, -np.pi, np.pi / 2], rng.uniform(-20, 20, 2000)]).astype(np.float32)
    expected = np.exp(logs.astype(np.float64) + 1j * phases.astype(np.float64))
    np.testing.assert_array_less(np.abs(of(logs, phases) - expected) / np.abs(expected), 6e-7)


def test_large_phases() -> None:
    phases = np.random.default_rng(1).uniform(-1000, 1000, 3000).astype(np.float32)
    expected = np.exp(1j * phases.astype(np.float64))
    np.testing.assert_array_less(np.abs(of(np.zeros_like(phases), phases) - expected), 1e-5)


def test_magnitudes_are_limited() -> None:
    y = of(np.array([-1000, 1000, np.inf, -np.inf], np.float32), np.zeros(4, np.float32))
    np.testing.assert_allclose(np.log(y.real), [-80, 80, 80, -80], rtol=1e-6)

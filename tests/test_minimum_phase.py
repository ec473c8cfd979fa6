from __future__ import annotations

import naive
import numpy as np
import pytest
from velavox.kernels import fft
from velavox.kernels.jit import F32, State, f32, kernel, record
from velavox.kernels.minimum_phase import minimum_phase, minimum_phase_dtype

SIZE = 1024


@kernel(record(minimum_phase_dtype(SIZE)), record(fft.plan_dtype(SIZE)), f32, f32)
def fold(state: State, plan: State, re: F32, im: F32) -> None:
    minimum_phase(state[0], plan[0], re, im)


def folded(log_magnitude: np.ndarray) -> np.ndarray:
    re, im = log_magnitude.astype(np.float32), np.empty(SIZE // 2 + 1, np.float32)
    fold(np.zeros(1, minimum_phase_dtype(SIZE)), fft.fresh(SIZE), re, im)
    return np.asarray(re + 1j * im.astype(float))


def wavy(depth: float, seed: int = 0) -> np.ndarray:
    """A smooth ln |H|."""
    cepstrum = depth * np.random.default_rng(seed).normal(size=40) * 0.9 ** np.arange(40)
    return np.asarray(np.cos(np.outer(np.linspace(0, np.pi, SIZE // 2 + 1), np.arange(40))) @ cepstrum)


@pytest.mark.nojit
@pytest.mark.parametrize("depth", [0.1, 1.0, 3.0])
def test_twin(depth: float) -> None:
    wanted = naive.minimum_phase(wavy(depth))
    np.testing.assert_allclose(folded(wavy(depth)) / wanted, 1, atol=1e-5)


@pytest.mark.nojit
def test_the_phase_of_resonances_comes_back() -> None:
    """1 / A(z) with its roots inside the unit circle is of minimum phase."""
    z = np.exp(-1j * np.linspace(0, np.pi, SIZE // 2 + 1))
    h = np.ones(SIZE // 2 + 1, complex)
    for hz, width in ((500, 80), (1500, 120), (3500, 200)):
        r = np.exp(-np.pi * width / 16000)
        h /= 1 - 2 * r * np.cos(2 * np.pi * hz / 16000) * z + r * r * z * z
    np.testing.assert_allclose(folded(np.log(np.abs(h))) / h, 1, atol=1e-4)


@pytest.mark.nojit
def test_causal() -> None:
    response = np.fft.irfft(folded(wavy(0.5)))
    assert np.abs(response[SIZE // 2 :]).max() < 1e-4 * np.abs(response).max()

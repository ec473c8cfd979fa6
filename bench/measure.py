"""How far a voice moved: figures of one recording before and after. They describe the change of sound, not privacy."""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from ..kernels import fbank
from ..kernels.jit import F32, F64

RATE = 16_000


def best_lag_correlation(x: F32, y: F32, most: int = 800) -> float:
    """Largest absolute normalised correlation of y with x over lags of up to `most` samples either way.

    x, y: shape (n,), the same n, aligned. 1: the same waveform; 0: none of it is left.
    """
    size = next_fast_len(2 * x.size)
    products = irfft(rfft(y, size) * np.conj(rfft(x, size)), size)
    near = np.concatenate([products[: most + 1], products[-most:]])
    return float(np.abs(near).max() / np.sqrt(float(np.dot(x, x)) * float(np.dot(y, y)) + 1e-30))


def level_change(x: F32, y: F32) -> float:
    """Level of y over that of x, dB."""
    return float(20 * np.log10((np.std(y) + 1e-12) / (np.std(x) + 1e-12)))


def envelope_change(x: F32, y: F32) -> float:
    """Root mean square distance of the long-term mel spectra (loud frames, level removed), dB: how far formants moved."""
    a, b = _long_term(x), _long_term(y)
    return float(np.sqrt(np.mean((a - b) ** 2)))


def _long_term(x: F32) -> F64:
    frames = fbank.offline(x, num_mel=40).astype(np.float64) * (10 / np.log(10))  # natural log of power to dB
    energy = frames.mean(axis=1)
    loud = frames[energy > np.percentile(energy, 40)]
    mean = loud.mean(axis=0)
    return np.asarray(mean - mean.mean())

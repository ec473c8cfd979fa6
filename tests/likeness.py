"""How alike two recordings are, wherever one begins in the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Sound = npt.NDArray[np.float32]


def likeness(heard: Sound, spoken: Sound) -> float:
    """The largest absolute normalised correlation, over all lags at which the shorter one overlaps by half and more."""
    a, b = heard.astype(np.float64), spoken.astype(np.float64)
    size = 2 ** int(np.ceil(np.log2(a.size + b.size)))
    lags = np.arange(-(b.size - 1), a.size)  # of b in a
    products = np.fft.irfft(np.fft.rfft(a, size) * np.conj(np.fft.rfft(b, size)), size)[lags]
    begins, ends = np.maximum(lags, 0), np.minimum(lags + b.size, a.size)  # of the overlap, in a
    powers = [np.concatenate([[0.0], np.cumsum(x * x)]) for x in (a, b)]
    energies = [powers[0][ends] - powers[0][begins], powers[1][ends - lags] - powers[1][begins - lags]]
    enough = ends - begins >= min(a.size, b.size) / 2
    norms = np.sqrt(np.maximum(energies[0] * energies[1], 1e-12))
    return float(np.max(np.abs(products / norms)[enough]))


def loudness(sound: Sound, block: int) -> Sound:
    """Of blocks of so many samples, about its mean."""
    found = np.sqrt(np.mean(sound[: sound.size // block * block].reshape(-1, block) ** 2, axis=1))
    return np.asarray(found - found.mean(), np.float32)

"""What a user's array becomes before a kernel sees it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .jit import F32


def mono(x: npt.ArrayLike) -> F32:
    """One channel as new float32 samples of full scale 1, shape (n,); int16 samples are divided by 32768.

    ValueError for several channels, TypeError for samples whose full scale cannot be known.
    """
    samples = np.asarray(x)
    if samples.ndim != 1:
        raise ValueError(f"x of shape {samples.shape}: give one channel, shape (n,)")
    if samples.dtype == np.int16:
        return samples.astype(np.float32) / np.float32(32768)
    if samples.size and samples.dtype.kind != "f":
        raise TypeError(f"x of dtype {samples.dtype}: give float samples in [-1, 1], or int16")
    return np.array(samples, np.float32)

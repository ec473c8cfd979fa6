"""Samples of any kind to float32 in [-1, 1]: the one place that knows the scales."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernels.jit import F32

_SCALES = {("i", 1): np.float32(2.0**-7), ("i", 2): np.float32(2.0**-15), ("i", 4): np.float32(2.0**-31)}


def full_scale(dtype: np.dtype[Any]) -> float:
    """From which magnitude on a sample of this kind is at full scale; TypeError for kinds that are no samples."""
    kind, size = dtype.kind, dtype.itemsize
    if (kind, size) in (("i", 1), ("u", 1)):
        return 127 / 128
    if (kind, size) in _SCALES or (kind == "f" and size in (2, 4, 8)):
        return 32767 / 32768
    raise TypeError(f"samples of dtype {dtype}: give float16, float32, float64, int8, int16, int32 or uint8")


def read_into(out: F32, x: npt.NDArray[Any]) -> None:
    """Write x, of the same shape and a kind that `full_scale` takes, into out: floats as they are, integers scaled."""
    kind, size = x.dtype.kind, x.dtype.itemsize  # 0.1 us; the dtype's name takes 1.3
    if kind == "f" and size == 4:
        out[:] = x
    elif (kind, size) in _SCALES:
        np.multiply(x, _SCALES[kind, size], out=out, casting="unsafe")
    elif kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):  # what does not fit becomes Inf, and is sanitised
            out[:] = x
    else:
        np.subtract(x, np.float32(128.0), out=out, casting="unsafe")
        out *= np.float32(2.0**-7)

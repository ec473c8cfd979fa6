"""Samples of any kind to float32 in [-1, 1] and back: the one place that knows the scales."""

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


def written_as(y: F32, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """y, float32, as a new array of a kind that `full_scale` takes: integers rounded, and clipped to what they hold."""
    if dtype.kind == "f":
        return y.astype(dtype)
    info = np.iinfo(dtype)
    steps = np.rint((y.astype(np.float64) if info.bits > 24 else y) * 2.0 ** (info.bits - 1))
    if dtype.kind == "u":
        steps += 128
    np.clip(steps, info.min, info.max, out=steps)
    return steps.astype(dtype)


def silence(shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """A new array of samples that are 0: of uint8 that is 128."""
    return np.full(shape, 128 if dtype.kind == "u" else 0, dtype)

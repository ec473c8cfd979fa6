"""Samples of any kind to float32 in [-1, 1]: the one place that knows the scales."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernels.jit import F32

_SCALES = {"int8": 2.0**-7, "int16": 2.0**-15, "int32": 2.0**-31}
_KINDS = "float16, float32, float64, int8, int16, int32 or uint8"


def read_into(out: F32, x: npt.NDArray[Any]) -> None:
    """Write x, of the same shape, into out: floats as they are, integers by their full scale; TypeError for other kinds."""
    name = x.dtype.name
    if name == "float32":
        out[:] = x
    elif name in _SCALES:
        np.multiply(x, np.float32(_SCALES[name]), out=out, casting="unsafe")
    elif name in ("float64", "float16"):
        with np.errstate(over="ignore", invalid="ignore"):  # what does not fit becomes Inf, and is sanitised
            out[:] = x
    elif name == "uint8":
        np.subtract(x, np.float32(128.0), out=out, casting="unsafe")
        out *= np.float32(2.0**-7)
    else:
        raise TypeError(f"samples of dtype {name}: give {_KINDS}")

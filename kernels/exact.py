"""A word whose arithmetic is rounded as it is written, operation by operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def exact_word(function: Callable[P, R]) -> Callable[P, R]:
    """As `jit.word`, without its freedoms: no product is fused into a sum, so results are those of the C code it follows.

    Features of a pure tone need it: bins far from the tone hold nothing but rounding noise, about 150 dB below it, and
    another rounding makes other noise of it.
    """
    # False must be said: what a word leaves open, it takes from the first function that calls it
    return cast("Callable[P, R]", numba.njit(function, nogil=True, error_model="numpy", fastmath=False))

"""Pre-emphasis, y[n] = x[n] - alpha x[n-1]: lifts the high frequencies that a voice lacks, by 6 dB an octave."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .edge import mono
from .exact import exact_word
from .jit import F32, State, f32, kernel, record, record_dtype

ALPHA = 0.97  # Kaldi and HTK; typical values lie in (0.9, 1.0)

STATE = record_dtype(
    ("alpha", "f4"),
    ("last", "f4"),  # the last sample of the block before
)


def fresh(alpha: float = ALPHA) -> State:
    """A stream with silence before it; alpha from 0 (changes nothing) to 1 (a constant vanishes)."""
    state = np.zeros(1, STATE)
    state[0].alpha = checked(alpha)
    return state


def checked(alpha: float) -> float:
    """alpha, or ValueError outside [0, 1]."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha={alpha!r}: give a number from 0 to 1")
    return alpha


@exact_word
def difference(out: Any, x: Any, alpha: Any, last: Any) -> None:
    """out[i] = x[i] - alpha x[i-1] for all of x, at least one sample, with `last` before the first; out is not x."""
    out[0] = x[0] - alpha * last
    past, now, rest = x[:-1], x[1:], out[1:]
    for i in range(len(past)):
        rest[i] = now[i] - alpha * past[i]


@kernel(record(STATE), f32, f32)
def stream(state: State, out: F32, x: F32) -> None:
    """The next block: x and out of shape (n,), n from 0 up, no overlap."""
    s = state[0]
    if len(x) > 0:
        difference(out, x, s.alpha, s.last)
        s.last = x[len(x) - 1]


def offline(x: npt.ArrayLike, alpha: float = ALPHA) -> F32:
    """A whole signal, mono, shape (n,), full scale 1, to float32 of the same shape. ValueError for alpha outside [0, 1]."""
    samples = mono(x)
    out = np.empty_like(samples)
    stream(fresh(alpha), out, samples)
    return out

"""A ring buffer of samples: one writer, one reader, power-of-two memory, positions that only grow.

The position state and the memory are two arrays, so that one compiled kernel serves every size. Writer and reader may be
two threads: each moves its own position only, and moves it after the samples (see `fence`).
"""

from __future__ import annotations

import numpy as np

from .fence import acquire, release
from .jit import F32, State, f32, f32_2d, integer, kernel, record, record_dtype, word

STATE = record_dtype(
    ("read", "i8"),  # samples taken since fresh
    ("write", "i8"),  # samples put since fresh
)


def fresh(primed: int = 0) -> State:
    """An empty ring, or one that holds `primed` samples of silence."""
    state = np.zeros(1, STATE)
    state[0].write = primed
    return state


def memory(capacity: int) -> F32:
    """Zeroed memory for at least `capacity` samples."""
    return np.zeros(1 << max(0, int(capacity) - 1).bit_length(), np.float32)


@word
def waiting(s: np.record) -> int:
    """Samples that are there. What the other thread did to the memory before, it has done now."""
    count = s.write - s.read
    acquire()
    return count


@word
def put(s: np.record, buffer: F32, x: F32) -> None:
    mask = buffer.size - 1
    start = s.write
    for i in range(x.size):
        buffer[(start + i) & mask] = x[i]
    release()
    s.write = start + x.size


@word
def skip(s: np.record, count: int) -> None:
    """Leave out the next `count` samples, read already or not wanted."""
    release()
    s.read = s.read + count


@word
def get(s: np.record, buffer: F32, out: F32) -> None:
    mask = buffer.size - 1
    start = s.read
    for i in range(out.size):
        out[i] = buffer[(start + i) & mask]
    skip(s, out.size)


@kernel(record(STATE), f32, f32)
def push(state: State, buffer: F32, x: F32) -> None:
    """Put all of x, shape (n,); the caller has made room."""
    put(state[0], buffer, x)


@kernel(record(STATE), f32, f32_2d, integer, integer, integer)
def push_row(state: State, buffer: F32, x: F32, row: int, start: int, count: int) -> None:
    """Put x[row, start : start + count]."""
    put(state[0], buffer, x[row, start : start + count])


@kernel(record(STATE), f32, f32, returns=integer)
def pop(state: State, buffer: F32, out: F32) -> int:
    """Fill all of out, shape (n,), and give 1; or give 0 and touch nothing if fewer samples are there."""
    s = state[0]
    if waiting(s) < out.size:
        return 0
    get(s, buffer, out)
    return 1

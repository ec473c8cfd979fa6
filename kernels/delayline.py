"""A delay of a fixed number of samples, for sound that waits until it has been judged."""

from __future__ import annotations

import numpy as np

from .jit import F32, State, f32, kernel, record, record_dtype

STATE = record_dtype(("place", "i8"))  # of the oldest sample in the memory


def fresh() -> State:
    return np.zeros(1, STATE)


def memory(delay: int) -> F32:
    """Silence for a delay of `delay` samples, 1 or more."""
    if delay < 1:
        raise ValueError(f"delay={delay!r} samples: give 1 or more")
    return np.zeros(delay, np.float32)


@kernel(record(STATE), f32, f32)
def stream(state: State, memory: F32, x: F32) -> None:
    """Exchange each sample of x, shape (n,), for the one `memory.size` samples before it, in place."""
    s = state[0]
    place, start = s.place, 0
    while start < x.size:  # in runs up to the memory's end: 0.04 us for 480 samples
        run = min(x.size - start, memory.size - place)
        kept, part = memory[place : place + run], x[start : start + run]
        for i in range(run):
            sample = kept[i]
            kept[i] = part[i]
            part[i] = sample
        start += run
        place += run
        if place == memory.size:
            place = 0
    s.place = place


def offline(x: F32, delay: int) -> F32:
    """All of x, shape (n,), float32, delayed; as long as x."""
    y = np.array(x, np.float32)
    stream(fresh(), memory(delay), y)
    return y

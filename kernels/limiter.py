"""A limiter that looks nowhere ahead: the gain falls within the sample that needs it and comes back slowly. No delay."""

from __future__ import annotations

import numpy as np

from .jit import F32, State, f32, integer, kernel, record, record_dtype, reducing_word

CEILING = 1.0  # full scale: what lies within it passes unchanged, to the bit
RELEASE = 0.050  # s to come back by 63 %; much shorter distorts low voices, much longer pumps

STATE = record_dtype(
    ("gain", "f8"),  # the gain of the last sample
    ("keep", "f8"),  # share of the missing gain that stays from one sample to the next
)


def fresh(rate: int = 16_000) -> State:
    state = np.zeros(1, STATE)
    state[0].gain = 1.0
    state[0].keep = np.exp(-1 / (RELEASE * rate))
    return state


@reducing_word
def _peak(y: F32) -> np.float32:
    peak = np.float32(0.0)
    for i in range(y.size):
        peak = max(peak, abs(y[i]))
    return peak


@kernel(record(STATE), f32, returns=integer)
def limit(state: State, y: F32) -> int:
    """Limit y, shape (n,), finite, in place; the number of samples that lay above the ceiling."""
    s = state[0]
    gain, keep = s.gain, s.keep
    over = 0
    if gain == 1.0 and _peak(y) <= CEILING:  # nearly always: 0.2 us instead of 0.8
        return over
    for i in range(y.size):
        gain = 1.0 - (1.0 - gain) * keep
        if gain > 0.9999999:
            gain = np.float64(1.0)  # ends the release: exact again, and no denormal remainder
        size = abs(y[i])
        if size > CEILING:
            over += 1
        if size * gain > CEILING:
            gain = CEILING / np.float64(size)
        if gain < 1.0:
            y[i] = np.float32(np.float64(y[i]) * gain)
    s.gain = gain
    return over

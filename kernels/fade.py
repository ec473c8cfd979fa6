"""The gain with which a voice is muted and comes back: a straight line of 10 ms, which does not click."""

from __future__ import annotations

import numpy as np

from .jit import F32, State, f32, integer, kernel, real, record, record_dtype

DURATION = 0.010  # s from silence to full gain

STATE = record_dtype(
    ("gain", "f8"),  # of the last sample
    ("step", "f8"),  # from one sample to the next while it moves
)


def fresh(rate: int) -> State:
    """Silent, at `rate` Hz."""
    state = np.zeros(1, STATE)
    state[0].step = 1 / (DURATION * rate)
    return state


@kernel(record(STATE), f32, integer, real)
def fade(state: State, y: F32, frames: int, target: float) -> None:
    """Scale y[:frames] in place by a gain that moves to `target`, in [0, 1]. At 1 nothing changes; at 0 all is 0, NaN too."""
    s = state[0]
    gain, step, i = s.gain, s.step, 0
    while gain != target and i < frames:
        left = target - gain
        gain = target if abs(left) < 1.001 * step else gain + np.copysign(step, left)  # rounding adds no last, tiny step
        y[i] = np.float32(y[i] * gain) if gain > 0.0 else np.float32(0.0)
        i += 1
    s.gain = gain
    rest = y[i:frames]
    if gain == 0.0:
        rest[:] = 0.0
    elif gain != 1.0:
        rest *= np.float32(gain)

"""Mixing channels to one without losing anybody: anti-phase or one-sided voices keep their level.

Each channel is added with the sign that correlates with the loudest one, and the sum is scaled so that its power is that of
the loudest channel: left-only stays as loud as left, two equal channels as loud as one, a channel and its negative too.
"""

from __future__ import annotations

import numpy as np

from .jit import F32, F64, State, f32_2d, f64, integer, kernel, record, record_dtype

SMOOTHING = 0.2  # s, of the powers and correlations that steer signs and scale
FLIP = 0.5  # a channel turns over below this correlation, negated, and back above 0: two people talking lie near 0
GLIDE = 0.02  # s, in which sign and scale move to a new value

STATE = record_dtype(
    ("keep", "f8"),  # smoothing from frame to frame
    ("glide", "f8"),  # as `keep`, for the weights
    ("power", "f8"),  # of the unscaled sum, smoothed
    ("scale", "f8"),  # gain of the sum now
    ("leader", "i8"),  # the channel whose sign is +
)


def fresh(rate: int) -> State:
    state = np.zeros(1, STATE)
    s = state[0]
    s.keep, s.glide = np.exp(-1 / (SMOOTHING * rate)), np.exp(-1 / (GLIDE * rate))
    s.scale = 1.0
    return state


def channels(count: int) -> tuple[F64, F64, F64]:
    """Work memory for `count` channels: smoothed powers, smoothed products with the leader, weights (signs, gliding)."""
    return np.zeros(count), np.zeros(count), np.ones(count)


@kernel(record(STATE), f64, f64, f64, f32_2d, integer)
def mix(state: State, powers: F64, products: F64, weights: F64, x: F32, frames: int) -> None:
    """Mix x[:, :frames], finite, into x[0, :frames]. Sample by sample, so the partition into blocks does not matter."""
    s = state[0]
    keep, glide = s.keep, s.glide
    for i in range(frames):
        ahead = np.float64(x[s.leader, i])
        loudest = 0
        for c in range(x.shape[0]):
            value = np.float64(x[c, i])
            powers[c] = keep * powers[c] + (1 - keep) * value * value + 1e-30
            products[c] = keep * products[c] + (1 - keep) * value * ahead
            if powers[c] > powers[loudest]:
                loudest = c
        total = 0.0
        for c in range(x.shape[0]):
            limit = 0.0 if weights[c] < 0 else FLIP * np.sqrt(powers[c] * powers[s.leader])
            sign = -1.0 if products[c] < -limit else 1.0
            weights[c] = sign + (weights[c] - sign) * glide
            total += weights[c] * np.float64(x[c, i])
        s.power = keep * s.power + (1 - keep) * total * total + 1e-30
        if powers[loudest] > 2 * powers[s.leader]:  # hysteresis of 3 dB: two alike must not change places all the time
            s.leader = loudest
            products[loudest] = powers[loudest]
        scale = min(1.0, np.sqrt(powers[loudest] / s.power))
        s.scale = scale + (s.scale - scale) * glide
        x[0, i] = np.float32(total * s.scale)

"""What keeps bad samples out and faulty ones in: sanitising the input, judging a stage's output, clipping the last sample."""

from __future__ import annotations

import numpy as np

from . import ring
from .jit import F32, State, f32, f32_2d, integer, kernel, real, record, record_dtype

SCALE_LIMIT = 16.0  # 24 dB over full scale: no float recording is so hot, one that holds integer values is
TINY = 1e-15  # -300 dB: below it lie rounding dust and denormals, which slow every filter 5 to 15 times

COUNTS = record_dtype(
    ("not_finite", "i8"),  # input samples that were NaN or Inf, made 0
    ("scale", "i8"),  # input samples beyond SCALE_LIMIT, made 0
    ("full_scale", "i8"),  # input samples at full scale or above: clipped before they came here, most likely
    ("clipped", "i8"),  # output samples brought back to full scale
)


def fresh() -> State:
    return np.zeros(1, COUNTS)


@kernel(record(COUNTS), f32_2d, integer, real)
def sanitise(counts: State, x: F32, frames: int, full_scale: float) -> None:
    """Make x[:, :frames] finite and of a sane scale, in place; `full_scale`: from which magnitude on a sample is there."""
    c = counts[0]
    for row in range(x.shape[0]):
        for i in range(frames):
            value = x[row, i]
            size = abs(value)
            if size < full_scale:
                if size < TINY:
                    x[row, i] = 0.0
            elif size <= SCALE_LIMIT:
                c.full_scale += 1
            else:  # also NaN, which no comparison takes
                if np.isfinite(value):
                    c.scale += 1
                else:
                    c.not_finite += 1
                x[row, i] = 0.0


@kernel(f32, returns=integer)
def finite(y: F32) -> int:
    """1 if every sample of y, shape (n,), is finite, else 0."""
    for i in range(y.size):
        if not np.isfinite(y[i]):
            return 0
    return 1


@kernel(record(COUNTS), record(ring.STATE), f32, f32_2d, integer, integer, integer)
def deliver(counts: State, ring_state: State, buffer: F32, out: F32, channel: int, start: int, frames: int) -> None:
    """Take `frames` samples from the ring into out[start:, channel], none above full scale."""
    c, r = counts[0], ring_state[0]
    mask = buffer.size - 1
    for i in range(frames):
        value = buffer[(r.read + i) & mask]
        if not abs(value) <= np.float32(1.0):  # NaN, too: two threads in one engine could make it
            value = np.float32(np.copysign(1.0, value)) if abs(value) > np.float32(1.0) else np.float32(0.0)
            c.clipped += 1
        out[start + i, channel] = value
    r.read += frames

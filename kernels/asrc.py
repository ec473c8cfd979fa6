"""Asynchronous sample-rate conversion, streamed: the ratio of the two rates may be any and may change while it runs.

Two sound cards of one nominal rate differ by up to some 100 ppm, and by how much is only known as it goes. Each output
sample lies anywhere between two input samples: a windowed sinc reads it there, from a table of `ROWS` phases of one input
sample, linear in between (J. O. Smith, "Digital Audio Resampling", 1984). At equal rates the delay is 16 samples.

`step` is input samples per output sample: rate_in / rate_out, changed a little. While it is exactly 1, and outputs lie on
input samples, they are copied: the common case, bit for bit.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil

import numpy as np

from .jit import F32, State, f32, f32_2d, integer, kernel, real, record, record_dtype, reducing_word, word

ZEROS = 16  # zero crossings of the sinc on each side: half the filter at equal rates
ATTENUATION = 90.0  # dB of the window; the cutoff (-6 dB) is half the lower rate, flat and stop band are 0.09 of it away
KAISER = 0.1102 * (ATTENUATION - 8.7)  # the window's shape
ROWS = 256  # phases of an input sample: tones below 0.4 of the lower rate come out with 96 dB of SNR or more
LANES = 16  # taps are a multiple, to fill vector registers
SPREAD = 0.01  # a step is at most so far off its nominal value: clocks differ by less than a tenth of that

ONE = 1 << 48  # one input sample: positions are fixed-point, so that no rounding ever adds up
ROW = ONE // ROWS

STATE = record_dtype(
    ("position", "i8"),  # newest input sample that the next output reads, counted from the start of the history
    ("phase", "i8"),  # how far the next output lies beyond it, 2^-48 input samples
    ("step", "i8"),  # from one output to the next, 2^-48 input samples
    ("delay", "i8"),  # input samples
)


def _half(rate_in: int, rate_out: int) -> float:
    """Half the filter, input samples: when the rate is reduced it stretches with the lower cutoff."""
    return ZEROS * max(1.0, rate_in / rate_out)


def latency(rate_in: int, rate_out: int) -> int:
    """Input samples from an input sample to the same in the output."""
    return ceil(_half(rate_in, rate_out))


@lru_cache(maxsize=8)
def bank(rate_in: int, rate_out: int) -> F32:
    """The filter's phases, shape (ROWS + 1, taps), each reversed in time, with sum 1; shared, do not write."""
    half, delay = _half(rate_in, rate_out), latency(rate_in, rate_out)
    taps = ceil(2 * delay / LANES) * LANES
    phase = np.arange(ROWS + 1)[:, None] / ROWS
    times = np.arange(taps) - (taps - 1 - delay) - phase  # of each tap, input samples from the filter's centre
    inside = np.maximum(1 - (times / half) ** 2, 0.0)
    rows = np.sinc(ZEROS / half * times) * np.i0(KAISER * np.sqrt(inside)) * (inside > 0)
    rows[np.abs(rows) < 1e-12] = 0.0  # at equal rates the first row is then a single 1
    return np.ascontiguousarray(rows / rows.sum(axis=1, keepdims=True), np.float32)


def fresh(rate_in: int, rate_out: int) -> State:
    """The state before the first sample, at the nominal step."""
    state = np.zeros(1, STATE)
    s = state[0]
    s.position = bank(rate_in, rate_out).shape[1] - 1  # that first sample; before it lies silence
    s.step = round(rate_in / rate_out * ONE)
    s.delay = latency(rate_in, rate_out)
    return state


def history(rate_in: int, rate_out: int, block: int) -> F32:
    """Work memory for calls of up to `block` input samples."""
    return np.zeros(bank(rate_in, rate_out).shape[1] - 1 + block, np.float32)


def most(frames: int, rate_in: int, rate_out: int) -> int:
    """Output samples that `frames` input samples give at the most."""
    return ceil(frames * rate_out / rate_in * (1 + SPREAD)) + 1


@reducing_word
def _read(a: F32, b: F32, weight: np.float32, x: F32) -> np.float32:
    """x filtered by what lies between the rows a (weight 0) and b (1)."""
    total = np.float32(0.0)
    for i in range(x.size):
        total += (a[i] + weight * (b[i] - a[i])) * x[i]
    return total


@word
def _between(s: np.record, rows: F32, past: F32, end: int, last: int, out: F32) -> int:
    """Write every output that lies before `end`, while the step glides to `last`; how many these are."""
    kept = rows.shape[1] - 1
    position, phase, step = s.position, s.phase, s.step
    glide = np.int64((last - step) * (last / ONE) / (end - kept))  # an output
    count = 0
    while position < end:
        row = phase // ROW
        weight = np.float32(phase % ROW / ROW)
        out[count] = _read(rows[row], rows[row + 1], weight, past[position - kept : position + 1])
        count += 1
        step += glide
        phase += step
        position += phase // ONE
        phase %= ONE
    s.position, s.phase = position, phase
    return count


@kernel(record(STATE), f32_2d, f32, f32_2d, integer, real, f32, returns=integer)
def stream(state: State, rows: F32, past: F32, x: F32, frames: int, step: float, out: F32) -> int:
    """Resample x[:frames, 0], at most the block that `past` was made for; how many samples were written to out.

    `step` is within `SPREAD` of nominal, and reached by the end of the call, from that of the last one, in a straight line.
    """
    if frames == 0:
        return 0
    s = state[0]
    kept = rows.shape[1] - 1
    for i in range(frames):
        past[kept + i] = x[i, 0]
    end = kept + frames
    last = round(step * ONE)
    count = 0
    if s.step == ONE and last == ONE and s.phase == 0 and rows[0, kept - s.delay] == np.float32(1.0):
        count = end - s.position
        ahead = past[s.position - s.delay : end - s.delay]
        for i in range(count):
            out[i] = ahead[i]
        s.position += count
    else:
        count = _between(s, rows, past, end, last, out)
    s.position -= frames
    s.step = last
    for i in range(kept):
        past[i] = past[frames + i]
    return count

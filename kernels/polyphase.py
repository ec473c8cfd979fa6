"""Resampling by any ratio up/down with a polyphase FIR filter, streamed: 2.5 ms of delay at 60 dB.

Time is counted in ticks of the common rate F = rate_in * up = rate_out * down: an input sample is `up` ticks long, an
output sample `down` ticks. Output j reads the input around tick j * down + advance - centre, so the delay is exactly
`centre - advance` ticks. (Crochiere and Rabiner 1983, chapter 3; Kaiser window.)

soxr's stream cannot take this place: at 10 ms blocks it holds back 20 to 118 ms each way.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd

import numpy as np

from . import ring
from .jit import F32, State, f32, f32_2d, integer, kernel, record, record_dtype, reducing_word, word

HALF_LENGTH = 2.5e-3  # s, half the filter: its delay
ATTENUATION = 62.0  # dB of the window; every rate then measures 60 dB or better from min(rate_in, rate_out) / 2 up
TRANSITION = (ATTENUATION - 7.95) / (2.285 * 2 * np.pi * 2 * HALF_LENGTH)  # Hz (Kaiser's formula): 753
KAISER = 0.1102 * (ATTENUATION - 8.7)  # the window's shape
MOST_ROWS = 1024  # an input sample has then at least so many phases: the error is 60 dB down or more below a third of the rate

STATE = record_dtype(
    ("up", "i8"),
    ("down", "i8"),
    ("phase", "i8"),  # ticks of the next output past the newest input sample it reads, in [0, up)
    ("position", "i8"),  # that input sample, counted from the start of the history
)


def ratio(rate_in: int, rate_out: int) -> tuple[int, int]:
    """(up, down) in lowest terms."""
    common = gcd(rate_in, rate_out)
    return rate_out // common, rate_in // common


def centre(rate_in: int, rate_out: int) -> int:
    """The filter's delay in ticks."""
    return int(HALF_LENGTH * rate_in * ratio(rate_in, rate_out)[0])


@lru_cache(maxsize=8)
def bank(rate_in: int, rate_out: int) -> F32:
    """The filter, one row a phase: shape (rows, taps), each reversed in time, of unit gain at 0 Hz. Shared: do not write.

    The phases of all usual rates have a row each (640 at the most); of others, as 44101 Hz with 16000, MOST_ROWS share them.
    """
    up, _ = ratio(rate_in, rate_out)
    middle = centre(rate_in, rate_out) / up  # input samples
    taps = -(-(2 * centre(rate_in, rate_out) + 1) // up)
    cutoff = min(rate_in, rate_out) / 2 - TRANSITION / 2
    count = min(up, MOST_ROWS)
    phase = np.arange(count)[:, None] / count if count == up else (np.arange(count)[:, None] + 0.5) / count
    times = np.arange(taps)[::-1] + phase - middle  # of each tap, input samples from the filter's centre
    inside = 1 - (times / middle) ** 2  # 0 at both ends, where a Kaiser window does not vanish
    window = np.where(inside > -1e-9, np.i0(KAISER * np.sqrt(np.maximum(inside, 0.0))), 0.0)
    rows = np.sinc(2 * cutoff / rate_in * times) * window
    # Unit gain in every phase: a constant stays constant, with no tone at the phase rate.
    return np.ascontiguousarray(rows / rows.sum(axis=1, keepdims=True), np.float32)


def fresh(rate_in: int, rate_out: int, advance: int = 0) -> State:
    """The state before the first sample; `advance` ticks, less than one sample out, shorten the delay."""
    state = np.zeros(1, STATE)
    s = state[0]
    s.up, s.down = ratio(rate_in, rate_out)
    if not 0 <= advance < max(s.up, s.down):
        raise ValueError(f"advance={advance}: give 0 to {max(s.up, s.down) - 1} ticks")
    s.phase = advance % s.up
    # Counted from the first sample that arrives; before it lies silence.
    s.position = bank(rate_in, rate_out).shape[1] - 1 + advance // s.up
    return state


def history(rate_in: int, rate_out: int, block: int) -> F32:
    """Work memory for calls of up to `block` input samples."""
    return np.zeros(bank(rate_in, rate_out).shape[1] - 1 + block, np.float32)


@reducing_word
def _dot(a: F32, b: F32) -> np.float32:
    total = np.float32(0.0)
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@word
def convert(s: np.record, rows: F32, past: F32, r: np.record, buffer: F32, x: F32) -> None:
    """Resample x, at most the block that `past` was made for, into the ring (r, buffer)."""
    taps = rows.shape[1]
    kept = taps - 1
    past[kept : kept + x.size] = x
    mask = buffer.size - 1
    end = kept + x.size
    position, phase, write = s.position, s.phase, r.write
    exact = rows.shape[0] == s.up
    while position < end:
        row = phase if exact else phase * rows.shape[0] // s.up
        buffer[write & mask] = _dot(rows[row], past[position - kept : position + 1])
        write += 1
        phase += s.down
        position += phase // s.up
        phase %= s.up
    r.write = write
    s.position, s.phase = position - x.size, phase
    for i in range(kept):
        past[i] = past[x.size + i]


@kernel(record(STATE), f32_2d, f32, record(ring.STATE), f32, f32)
def stream(state: State, rows: F32, past: F32, ring_state: State, buffer: F32, x: F32) -> None:
    """Resample all of x, shape (n,), into a ring with room for it."""
    convert(state[0], rows, past, ring_state[0], buffer, x)


@kernel(record(STATE), f32_2d, f32, record(ring.STATE), f32, f32_2d, integer, integer, integer)
def stream_row(
    state: State, rows: F32, past: F32, ring_state: State, buffer: F32, x: F32, row: int, start: int, count: int
) -> None:
    """Resample x[row, start : start + count] into a ring with room for it."""
    convert(state[0], rows, past, ring_state[0], buffer, x[row, start : start + count])


def count(samples: int, up: int, down: int, advance: int = 0) -> int:
    """Output samples that are there once `samples` input samples are."""
    return max(0, -(-(samples * up - advance) // down))


def offline(x: F32, rate_in: int, rate_out: int, advance: int = 0) -> F32:
    """All of x, shape (n,) float32, resampled in one go; the delay is kept. Shape (count(n, ...),)."""
    x = np.ascontiguousarray(x, np.float32)
    up, down = ratio(rate_in, rate_out)
    total = count(x.size, up, down, advance)
    ring_state, buffer = ring.fresh(), ring.memory(total)
    past = history(rate_in, rate_out, x.size)
    stream(fresh(rate_in, rate_out, advance), bank(rate_in, rate_out), past, ring_state, buffer, x)
    return buffer[:total].copy()

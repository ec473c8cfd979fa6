"""Vocal tract length normalization as a voice change: the spectrum of each frame is warped, streaming, 10 ms behind.

`on` names what is warped: the envelope (formants move, the pitch stays; `envelope.py`) or the whole spectrum (both move;
`lobes.py`). The warp is any rising map of [0, pi] onto itself, usually one of `warp.py`, as a table over GRID.

Frames of 30 ms come every 5 ms. Their window rises over 22.5 ms and falls over 7.5, and the window of the output covers the
last 15 ms, where the product of both is a Hann window that overlaps to a constant (as in D. Mauler and R. Martin, "A low
delay, variable resolution, perfect reconstruction spectral analysis-synthesis system", 2007). So 10 ms of delay come with the
resolution of a longer window: with the whole spectrum moved, harmonics of a voice of 90 Hz stand 15 dB above what lies
between them (symmetric windows of 20 ms every 10: 9 dB), of 200 Hz 41 dB (24 dB).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from . import fft
from .edge import mono
from .envelope import envelope_dtype, predict, warp_envelope
from .envelope import fresh as fresh_envelope
from .jit import F32, F64, State, f32, f64, kernel, record, record_dtype, reducing_word, word
from .lobes import lobes_dtype, warp_lobes
from .warp import inverted

STEP = 160  # samples a call of `stream`, 10 ms at 16 kHz
HOP = 80  # between frames
WINDOW = 480  # of the input
SUPPORT = 240  # of the output: the end of the window, with MIDDLE as its centre
LATENCY = SUPPORT - HOP
SIZE = 512
BINS = SIZE // 2 + 1
MIDDLE = WINDOW - SUPPORT // 2
GLIDE = 2 * STEP // HOP  # frames
GRID = np.linspace(0.0, np.pi, BINS)  # radians
ON = ("envelope", "spectrum")

LOW = 3  # bins below 94 Hz hold hum and offsets: neither count in the energy nor take part in its gain
INAUDIBLE = 1e-16  # mean square, -160 dB of full scale: such frames are muted
SMALLEST, LARGEST = 1e-12, 1e12  # samples beyond are taken for 0: float32 squares stay normal and finite, NaN stays out

VTLN = record_dtype(
    ("fft", fft.plan_dtype(SIZE)),
    ("envelope", envelope_dtype(SIZE)),
    ("lobes", lobes_dtype(BINS)),
    ("on", "i8"),  # index in ON
    ("moved", "f4", (BINS,)),  # where each bin goes to, in bins
    ("source", "f4", (BINS,)),  # and comes from
    ("moved_target", "f4", (BINS,)),  # both glide: a mixture of rising maps rises
    ("source_target", "f4", (BINS,)),
    ("aims", "i8"),  # number of maps aimed at so far: written from outside, after the map
    ("seen", "i8"),  # the one that the stream glides to
    ("left", "i8"),  # frames until it is there
    ("turns", "i8"),  # 1 if the way there leads through the speaker's own voice: silent, then
    ("analysis", "f4", (WINDOW,)),  # window of the input
    ("synthesis", "f4", (SUPPORT,)),  # and of the output
    ("past", "f4", (1 + WINDOW,)),  # the frame and the sample before
    ("frame", "f4", (SIZE,)),  # windowed, time 0 in its MIDDLE
    ("re", "f4", (BINS,)),  # its spectrum
    ("im", "f4", (BINS,)),
    ("out_re", "f4", (BINS,)),  # the warped one
    ("out_im", "f4", (BINS,)),
    ("overlap", "f4", (SUPPORT,)),  # sum of output frames, from the next sample to be given on
)


def fresh() -> State:
    """State of a stream at rest, silent until `aim` and `settle` give it its map."""
    state = np.zeros(1, VTLN)
    s = state[0]
    s.fft = fft.fresh(SIZE)[0]
    s.envelope = fresh_envelope(SIZE)[0]
    s.moved[:] = s.source[:] = s.moved_target[:] = s.source_target[:] = np.arange(BINS)
    half = SUPPORT // 2
    rise = np.sin(0.5 * np.pi * np.arange(MIDDLE) / MIDDLE)
    fall = np.cos(0.5 * np.pi * np.arange(half) / half)
    s.analysis[:] = np.concatenate([rise, fall])
    hann = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(SUPPORT) / SUPPORT)
    s.synthesis[:] = hann / s.analysis[WINDOW - SUPPORT :] * (2.0 * HOP / SUPPORT)
    return state


@kernel(record(VTLN), f64)
def aim(state: State, moved: F64) -> None:
    """Let the stream glide, over two steps, to the map moved = f(GRID), radians, rising from 0 to pi; from any thread."""
    s = state[0]
    inverted(s.source_target, GRID, moved)
    for k in range(BINS):
        s.moved_target[k] = moved[k] * ((BINS - 1) / math.pi)
        s.source_target[k] *= np.float32((BINS - 1) / math.pi)
    s.aims += 1


@kernel(record(VTLN))
def settle(state: State) -> None:
    """Be at the map aimed for at once."""
    s = state[0]
    s.moved[:] = s.moved_target
    s.source[:] = s.source_target


@word
def shift(moved: F32) -> float:
    """Which way a map moves: above 0 up, below 0 down."""
    total = 0.0
    for k in range(BINS):
        total += moved[k] - k
    return total


@word
def glide(s: np.record) -> None:
    """One frame nearer to the map aimed for: an equal part of the way in each of GLIDE frames."""
    if s.seen != s.aims:
        s.seen = s.aims
        s.left = GLIDE
        s.turns = 1 if shift(s.moved) * shift(s.moved_target) < 0.0 else 0
    if s.left > 0:
        part = np.float32(1.0) / np.float32(s.left)
        for k in range(BINS):
            s.moved[k] += part * (s.moved_target[k] - s.moved[k])
            s.source[k] += part * (s.source_target[k] - s.source[k])
        s.left -= 1


@reducing_word
def energy(re: F32, im: F32) -> float:
    """Sum of squares over the bins from LOW up."""
    total = np.float32(0.0)
    for k in range(LOW, BINS):
        total += re[k] * re[k] + im[k] * im[k]
    return float(total)


@word
def analyse(s: np.record, x: F32) -> None:
    """Take HOP samples; the spectrum of the frame that ends with them."""
    for i in range(1 + WINDOW - HOP):
        s.past[i] = s.past[i + HOP]
    for i in range(HOP):
        s.past[1 + WINDOW - HOP + i] = x[i] if SMALLEST < abs(x[i]) < LARGEST else np.float32(0.0)
    s.frame[:] = np.float32(0.0)
    for i in range(MIDDLE):
        s.frame[SIZE - MIDDLE + i] = s.analysis[i] * s.past[1 + i]
    for i in range(WINDOW - MIDDLE):
        s.frame[i] = s.analysis[MIDDLE + i] * s.past[1 + MIDDLE + i]
    fft.rfft(s.fft, s.re, s.im, s.frame)


@word
def synthesize(s: np.record, out: F32) -> None:
    """Add the frame to the output and give the HOP samples that no later frame touches."""
    half = SUPPORT // 2
    for i in range(half):
        s.overlap[i] += s.synthesis[i] * s.frame[SIZE - half + i]
        s.overlap[half + i] += s.synthesis[half + i] * s.frame[i]
    for i in range(HOP):
        out[i] = s.overlap[i]
    for i in range(SUPPORT - HOP):
        s.overlap[i] = s.overlap[i + HOP]
    s.overlap[SUPPORT - HOP :] = np.float32(0.0)


@word
def warp_frame(s: np.record, out: F32, x: F32) -> None:
    """One frame: x and out of shape (HOP,). Silent as long as no map was aimed at: the one of a fresh state moves nothing."""
    glide(s)
    analyse(s, x)
    if s.aims == 0 or (s.turns != 0 and s.left > 0):
        s.frame[:] = np.float32(0.0)
        synthesize(s, out)
        return
    if s.on == 0:
        predict(s.envelope, s.fft, s.re, s.im)
        warp_envelope(s.envelope, s.out_re, s.out_im, s.re, s.im, s.source)
        for k in range(LOW):
            s.out_re[k], s.out_im[k] = s.re[k], s.im[k]
    else:
        warp_lobes(s.lobes, s.out_re, s.out_im, s.re, s.im, s.moved, s.source, np.float32(HOP / SIZE))
    before, after = energy(s.re, s.im), energy(s.out_re, s.out_im)
    if min(before, after) > INAUDIBLE * WINDOW * SIZE:
        gain = np.float32(math.sqrt(before / after))
        for k in range(LOW, BINS):
            s.out_re[k] *= gain
            s.out_im[k] *= gain
    else:
        s.out_re[:] = np.float32(0.0)
        s.out_im[:] = np.float32(0.0)
    fft.irfft(s.fft, s.frame, s.out_re, s.out_im)
    synthesize(s, out)


@kernel(record(VTLN), f32, f32)
def stream(state: State, out: F32, x: F32) -> None:
    """One step: x, shape (160,), in; out, shape (160,), is the warped input of LATENCY = 160 samples before."""
    for start in range(0, STEP, HOP):
        warp_frame(state[0], out[start : start + HOP], x[start : start + HOP])


def offline(x: npt.ArrayLike, moved: npt.ArrayLike, on: str = "envelope") -> F32:
    """The signal x, shape (n,), mono, 16 kHz, warped by the map moved = f(GRID): float32, same length, no delay.

    For example `offline(x, warp.offline(vtln.GRID, "bilinear", 0.12))`. moved: shape (257,), radians, rising from 0 to pi; on:
    "envelope" or "spectrum". ValueError for anything else.
    """
    signal = mono(x)
    if on not in ON:
        raise ValueError(f"on={on!r}: give one of {', '.join(ON)}")
    image = np.ascontiguousarray(moved, np.float64)
    if image.shape != GRID.shape or not np.all(np.diff(image) > 0) or abs(image[0]) > 1e-9 or abs(image[-1] - np.pi) > 1e-9:
        raise ValueError(f"map of shape {image.shape}: give {BINS} angles that rise from 0 to pi, a warp of GRID")
    state = fresh()
    state[0].on = ON.index(on)
    aim(state, image)
    settle(state)
    padded = np.zeros(-(-(signal.size + LATENCY) // STEP) * STEP, np.float32)
    padded[: signal.size] = signal
    out = np.empty_like(padded)
    for start in range(0, padded.size, STEP):
        stream(state, out[start : start + STEP], padded[start : start + STEP])
    return out[LATENCY : LATENCY + signal.size]

"""Log mel filter bank energies of a stream, with Kaldi's conventions.

Frames of 25 ms every 10 ms; each loses its mean, then x[i] - alpha x[i-1] (the first sample counts as its own past), window,
power spectrum, triangles on the mel scale 1127 ln(1 + f / 700), floor, natural logarithm. No dither; samples on the int16
scale, as models expect: x in [-1, 1] is multiplied by 32768 inside.

Up to the spectrum all is rounded as in kaldi-native-fbank (1.23, x86-64), so the features agree to 4e-5 also where nothing
but rounding noise is left: of a constant without its mean, or far from a tone under the povey window. A float64 model is off
by up to 2.6 there, and by 5e-3 in quiet bands of speech.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from . import fft, framing, preemphasis
from . import window as windows
from .edge import mono
from .exact import exact_word
from .jit import F32, State, f32, f32_2d, integer, kernel, record, record_dtype, word
from .log import natural_log

FRAME_MS, HOP_MS = 25, 10
LOW = 20.0  # Hz, where the first triangle begins
FULL_SCALE = np.float32(32768)
FLOOR = np.finfo(np.float32).eps  # of an energy: -15.94 in the output


def frame_and_hop(sample_rate: int) -> tuple[int, int]:
    """Samples in a frame and in a hop: 400 and 160 at 16 kHz, elsewhere cut off to whole ones in float32, as Kaldi does."""
    per_ms = np.float32(sample_rate) * np.float32(0.001)
    return int(per_ms * np.float32(FRAME_MS)), int(per_ms * np.float32(HOP_MS))


@cache
def state_dtype(sample_rate: int = 16_000, num_mel: int = 80) -> np.dtype[np.record]:
    """The record of a stream, for 2 to 160 kHz and 3 or more mel bands."""
    if not 2_000 <= sample_rate <= 160_000 or num_mel < 3:
        raise ValueError(f"sample_rate={sample_rate}, num_mel={num_mel}: give 2000 to 160000 Hz and 3 or more mel bands")
    length, hop = frame_and_hop(sample_rate)
    points = 1 << (length - 1).bit_length()
    return record_dtype(
        ("framing", framing.state_dtype(length, hop)),
        ("centred", "f4", (length,)),  # a frame on the int16 scale without its mean
        ("alpha", "f4"),  # of the pre-emphasis
        ("window", "f4", (length,)),
        ("padded", "f4", (points,)),  # the windowed frame and zeros
        ("fft", fft.plan_dtype(points)),
        ("re", "f4", (points // 2 + 1,)),
        ("im", "f4", (points // 2 + 1,)),
        ("edge", "i8", (num_mel + 2,)),  # first bin from the left end of each triangle on, then from the last one's right end
        ("rise", "f4", (points // 2,)),  # a bin's weight in the triangle that rises there
        ("fall", "f4", (points // 2,)),  # and in the one before, which falls
        ("risen", "f4", (points // 2,)),  # power times weight
        ("fallen", "f4", (points // 2,)),
        ("mel", "f4", (num_mel,)),
    )


def fresh(
    sample_rate: int = 16_000,
    num_mel: int = 80,
    window: str = "hamming",
    *,
    a0: float = windows.HAMMING,
    alpha: float = preemphasis.ALPHA,
    low: float = LOW,
    high: float | None = None,
    snip_edges: bool = True,
) -> State:
    """A stream before its first sample.

    window: a name of `window.by_name`; a0 is its coefficient if it is "hamming". alpha: pre-emphasis, 0 to 1. low, high: ends
    of the mel scale in Hz, high None for half the sample rate. snip_edges: see `framing`. ValueError for what is out of
    range, and for so many mel bands that one falls between two bins.
    """
    state = np.zeros(1, state_dtype(sample_rate, num_mel))
    s = state[0]
    length, hop = frame_and_hop(sample_rate)
    s.framing = framing.fresh(length, hop, snip_edges)[0]
    s.alpha = preemphasis.checked(alpha)
    s.window = windows.by_name(window, length, a0)
    s.fft = fft.fresh(len(s.padded))[0]
    high = sample_rate / 2 if high is None else high
    if not 0 <= low < high <= sample_rate / 2:
        raise ValueError(f"low={low}, high={high} Hz: give 0 <= low < high <= {sample_rate / 2}")
    s.edge, s.rise, s.fall = triangles(sample_rate, len(s.rise), num_mel, low, high)
    return state


def triangles(sample_rate: int, bins: int, num_mel: int, low: float, high: float) -> tuple[npt.NDArray[np.int64], F32, F32]:
    """The triangles as (edge, rise, fall) of the state, for `bins` frequencies from 0 to below half the sample rate.

    Triangle t rises over bins edge[t] to edge[t+1] and falls to edge[t+2]. In float32 throughout, as Kaldi computes them: a
    bin close to a triangle's end has a small weight, which rounding moves by 1e-4 of it.
    """
    first, last = _mel(np.array([low, high], np.float32))
    corners = first + np.arange(num_mel + 2, dtype=np.float32) * ((last - first) / np.float32(num_mel + 1))
    mel = _mel(np.float32(sample_rate) / np.float32(2 * bins) * np.arange(bins, dtype=np.float32))
    edge = np.searchsorted(mel, corners, side="right")
    if (edge[2:] == edge[:-2]).any():
        raise ValueError(f"num_mel={num_mel}: one band holds none of the {bins} bins; give fewer bands")
    rise, fall = np.zeros(bins, np.float32), np.zeros(bins, np.float32)
    for t in range(num_mel + 1):
        side = slice(edge[t], edge[t + 1])
        if t < num_mel:
            rise[side] = (mel[side] - corners[t]) / (corners[t + 1] - corners[t])
        if t > 0:
            fall[side] = (corners[t + 1] - mel[side]) / (corners[t + 1] - corners[t])
    return edge, rise, fall


def _mel(hertz: F32) -> F32:
    ratio = np.float32(1) + hertz / np.float32(700)
    return np.float32(1127) * np.log(ratio.astype(np.float64)).astype(np.float32)


@exact_word
def spectrum(s: Any, frame: Any) -> None:
    """One frame, shape (length,), to s.re and s.im."""
    centred, length = s.centred, len(s.centred)
    total = np.float32(0)
    for i in range(length):
        centred[i] = FULL_SCALE * frame[i]
    for i in range(length):
        total += centred[i]  # one after the other: of a constant, the sum's rounding error is all that the frame keeps
    mean = total / np.float32(length)
    for i in range(length):
        centred[i] -= mean
    preemphasis.difference(s.padded, centred, s.alpha, centred[0])
    for i in range(length):
        s.padded[i] *= s.window[i]
    fft.rfft(s.fft, s.re, s.im, s.padded)


@word
def features(s: Any, out: Any, frame: Any) -> None:
    """One frame, shape (length,), to its log energies, shape (num_mel,)."""
    spectrum(s, frame)
    for k in range(len(s.risen)):
        power = s.re[k] * s.re[k] + s.im[k] * s.im[k]
        s.risen[k] = power * s.rise[k]
        s.fallen[k] = power * s.fall[k]
    risen = np.float32(0)
    for k in range(s.edge[0], s.edge[1]):
        risen += s.risen[k]
    for t in range(len(s.mel)):
        energy, risen = risen, np.float32(0)
        for k in range(s.edge[t + 1], s.edge[t + 2]):
            energy += s.fallen[k]
            risen += s.risen[k]
        s.mel[t] = FLOOR if energy < FLOOR else energy  # so that NaN stays
    natural_log(s.mel)
    for t in range(len(s.mel)):
        out[t] = s.mel[t]


@word
def push(s: Any, out: Any, x: Any) -> int:
    """As `stream`."""
    frames = 0
    start = 0
    while start < len(x):
        start = framing.fill(s.framing, x, start)
        if framing.whole(s.framing):
            features(s, out[frames], s.framing.frame)
            frames += 1
    return frames


@cache
def stream_for(dtype: np.dtype[np.record]) -> Callable[[State, F32, F32], int]:
    """The kernel for states of `dtype`, compiled at the first call."""

    @kernel(record(dtype), f32_2d, f32, returns=integer)
    def stream(state: State, out: F32, x: F32) -> int:
        """Features of all frames that the block x, shape (n,), completes, into the first rows of out; returns how many.

        out: shape (n // hop + 1, num_mel) or more.
        """
        return push(state[0], out, x)

    return stream


stream = stream_for(state_dtype())


def offline(x: npt.ArrayLike, sample_rate: int = 16_000, num_mel: int = 80, window: str = "hamming", **options: Any) -> F32:
    """Features of a mono signal x, shape (n,), full scale 1 or int16: float32, shape (frames, num_mel), maybe 0 frames.

    `options` are those of `fresh`.
    """
    samples = mono(x)
    state = fresh(sample_rate, num_mel, window, **options)
    run = stream_for(state.dtype)
    out = np.empty((len(samples) // frame_and_hop(sample_rate)[1] + 3, num_mel), np.float32)
    frames = run(state, out, samples)
    frames += run(state, out[frames:], framing.tail(state[0].framing))
    return out[:frames]

"""Linear prediction of running speech: from the signal to its residual, and from a residual to speech with these formants.

Frames of 30 ms every 10 ms give autocorrelations; in between these are mixed, since the mixture of two is an autocorrelation
again and its filter stable, and solved anew every 2.5 ms. `whiten` and `colour` use the same filter for the same instant, so
that a residual that is left as it is gives the signal back, LATENCY later.

`signal` and `residual` keep one clock: index KEPT is the end of the newest hop, OUTPUT the beginning of the hop of output.
"""

from __future__ import annotations

import numpy as np

from .allpole import direct, inverse
from .jit import F32, F64, State, f32, kernel, record, record_dtype, reducing_word, word
from .levinson import lag_window, levinson
from .window import hann

HOP = 160
PIECE = 40  # samples of one filter
FRAME = 480
AHEAD = FRAME // 2  # samples from the end of the residual to the end of the signal
LATENCY = 480  # AHEAD, and as much again for work on the residual
KEPT = 1120  # samples of signal and residual: what a search or a splice around the output may reach
OUTPUT = KEPT - HOP - LATENCY
PIECES = (KEPT - AHEAD - OUTPUT) // PIECE  # filters kept, from the output's on

ORDER = 18
PREEMPHASIS = 0.9
LAG_WIDTH = 50 / 16_000  # cycles a sample: keeps poles off the harmonics of high voices
FLOOR = 1e-4  # white noise, -40 dB: bounds the filter's range on tones
SMALLEST, LARGEST = 1e-12, 1e12  # samples beyond are taken for 0: neither denormals nor NaN nor infinity come in

RESIDUAL = record_dtype(
    ("signal", "f4", (KEPT,)),  # pre-emphasised
    ("last", "f8"),  # input sample
    ("window", "f4", (FRAME,)),
    ("frame", "f4", (FRAME,)),
    ("lag_window", "f8", (ORDER + 1,)),
    ("old", "f8", (ORDER + 1,)),  # autocorrelation of the frame before
    ("new", "f8", (ORDER + 1,)),
    ("mixed", "f8", (ORDER + 1,)),
    ("filters", "f8", (PIECES, ORDER + 1)),  # A(z) of each piece
    ("residual", "f4", (KEPT,)),  # its last AHEAD samples are not there yet
    ("voice", "f8", (ORDER + HOP,)),  # output before its tilt is put back, with its past
    ("tilt", "f8"),  # last output sample
)


def fresh() -> State:
    state = np.zeros(1, RESIDUAL)
    s = state[0]
    s.window[:] = hann(FRAME)
    s.lag_window[:] = lag_window(ORDER, LAG_WIDTH, FLOOR)
    s.filters[:, 0] = 1.0
    return state


@reducing_word
def autocorrelate(r: F64, x: F32) -> None:
    """r[m] = sum of x[i] x[i + m] for m below len(r)."""
    for m in range(r.size):
        early, late = x[: x.size - m], x[m:]
        total = np.float32(0.0)
        for i in range(late.size):
            total += early[i] * late[i]
        r[m] = total


@word
def whiten(s: np.record, x: F32) -> None:
    """Take x, shape (160,); the clock moves on by a hop."""
    for i in range(KEPT - HOP):
        s.signal[i] = s.signal[i + HOP]
        s.residual[i] = s.residual[i + HOP]
    for i in range(HOP):
        value = np.float64(x[i]) if SMALLEST < abs(x[i]) < LARGEST else 0.0
        s.signal[KEPT - HOP + i] = value - PREEMPHASIS * s.last
        s.last = value
    for i in range(FRAME):
        s.frame[i] = s.window[i] * s.signal[KEPT - FRAME + i]
    s.old[:] = s.new
    autocorrelate(s.new, s.frame)
    for m in range(ORDER + 1):
        s.new[m] *= s.lag_window[m]
    steps = HOP // PIECE
    for p in range(PIECES - steps):
        s.filters[p] = s.filters[p + steps]
    for p in range(steps):
        part = (p + 0.5) / steps
        for m in range(ORDER + 1):
            s.mixed[m] = (1.0 - part) * s.old[m] + part * s.new[m]
        a = s.filters[PIECES - steps + p]
        levinson(a, s.mixed)
        start = KEPT - AHEAD - HOP + p * PIECE
        inverse(s.residual[start : start + PIECE], a, s.signal[start - ORDER : start + PIECE])


@word
def colour(s: np.record, out: F32, residual: F64) -> None:
    """out, shape (160,), is the speech that this residual, shape (160,), gives at OUTPUT."""
    for i in range(ORDER):
        s.voice[i] = s.voice[HOP + i]
    for p in range(HOP // PIECE):
        piece = s.voice[p * PIECE : (p + 1) * PIECE + ORDER]
        direct(piece, s.filters[p], residual[p * PIECE : (p + 1) * PIECE])
    for i in range(HOP):
        s.tilt = s.voice[ORDER + i] + PREEMPHASIS * s.tilt
        out[i] = s.tilt
    if abs(s.tilt) < SMALLEST:
        s.tilt = 0.0


@kernel(record(RESIDUAL), f32, f32)
def stream(state: State, out: F32, x: F32) -> None:
    """`whiten` and `colour` with nothing in between: out is x of LATENCY samples before. Shapes (160 n,)."""
    s = state[0]
    for start in range(0, x.size, HOP):
        whiten(s, x[start : start + HOP])
        colour(s, out[start : start + HOP], s.residual[OUTPUT : OUTPUT + HOP])

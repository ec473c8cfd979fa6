"""Pitch change, streamed: the periods of the residual get another length, the formants stay.

Each period of the output is the beginning of that period of the residual whose mark is nearest in time: cut off where the
new one is shorter; where it is longer, its second half, which holds breath and no pulse, is read to and fro and dies away.
Just before each mark one fades into the next. So two pulses never stand where there was one, and no gap opens. What is not
voiced stays as it is, or is cut into pieces a little displaced. (Pitch-synchronous as in E. Moulines and F. Charpentier,
"Pitch-synchronous waveform processing techniques for text-to-speech synthesis using diphones", 1990, in the domain of the
residual and without overlap.)
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from . import f0, residual
from .biquad import biquads, high_pass
from .edge import mono
from .epochs import EPOCHS, mark
from .f0 import F0, track
from .jit import F32, F64, State, f32, kernel, real, record, record_dtype, word
from .residual import HOP, KEPT, LATENCY, OUTPUT, RESIDUAL, colour, whiten

FRAMES = 6  # values of F0 kept
NEWEST = OUTPUT + HOP  # to which the newest of them belongs, on the clock of the residual: the end of the output
ON, OFF = 0.65, 0.45  # periodicity at which a voice sets in and ends: voices have 0.9, whisper has 0.5
PULSE = 8.0  # samples before a mark in which its pulse has begun, at most an eighth of the period
FADE = 48.0  # samples, at most 0.3 of the period
DYING = 1.5  # a period (-13 dB): breath past the end of a period; without it, an octave down is 0.5 dB rougher
SHORTEST = 20.0  # samples of a new period
RATIOS = (0.25, 4.0)  # of F0, output over input
PIECE = 128.0  # samples of what is not voiced, by 40 % more or less
ORDER, HIGH_PASS = 4, 60.0  # Hz: there is no voice below, but splices would leave up to half of the power there

PITCH = record_dtype(
    ("f0", F0),
    ("residual", RESIDUAL),
    ("epochs", EPOCHS),
    ("voiced", "i8", (FRAMES,)),
    ("period", "f8", (FRAMES,)),  # samples
    ("ratio", "f8", (FRAMES,)),
    ("shuffle", "f8"),  # samples by which pieces of what is not voiced are displaced, at most; 0: it is left as it is
    ("random", "i8"),  # of the last displacement
    # The piece of the residual that is being read; all times are on its clock.
    ("tuned", "i8"),  # whether it is a period of a voice
    ("born", "f8"),  # its mark in the output
    ("source", "f8"),  # its mark in the residual
    ("length", "f8"),  # of the period in the residual
    ("pulse", "f8"),  # samples before the next mark that belong to it
    ("fade", "f8"),  # samples before those in which this piece fades into the next
    # The next one.
    ("decided", "i8"),  # whether `next_tuned` and `next_source` are known
    ("next_tuned", "i8"),
    ("next_born", "f8"),
    ("next_source", "f8"),
    ("excitation", "f8", (HOP,)),  # new residual
    ("high_pass", "f8", (ORDER // 2, 5)),
    ("memory", "f8", (ORDER // 2, 2)),
)


def fresh(shuffle: float = 0.0) -> State:
    """shuffle: as in the state, 0 to 80 samples."""
    state = np.zeros(1, PITCH)
    s = state[0]
    s.f0 = f0.fresh()[0]
    s.residual = residual.fresh()[0]
    s.ratio[:] = s.period[:] = 1.0
    s.shuffle = shuffle
    s.next_born = math.inf if shuffle == 0.0 else OUTPUT
    s.high_pass[:] = high_pass(ORDER, HIGH_PASS, 16_000)
    return state


@word
def read(x: F32, at: float) -> float:
    """x between its samples, by a cubic through four (Catmull-Rom): whole samples would make voices of 300 Hz 1 dB rougher."""
    i = min(max(int(at), 1), KEPT - 3)
    part = at - i
    a, b, c, d = np.float64(x[i - 1]), np.float64(x[i]), np.float64(x[i + 1]), np.float64(x[i + 2])
    return float(b + 0.5 * part * (c - a + part * (2.0 * a - 5.0 * b + 4.0 * c - d + part * (3.0 * (b - c) + d - a))))


@word
def sample(s: np.record, x: F32, t: float) -> float:
    """The piece at time t: in a period on to its end, then its second half to and fro, dying away."""
    since, gain = t - s.born, 1.0
    end = s.length - s.pulse
    if s.tuned != 0 and since > end:
        gain = math.exp(-DYING * (since - end) / s.length)
        half = end - 0.5 * s.length
        over = (since - end) % (2.0 * half)
        since = end - over if over < half else end - 2.0 * half + over
    return gain * read(x, s.source + since)


@word
def at_time(s: np.record, values: F64, t: float) -> float:
    """A value that came with F0, at time t: linear between voiced frames, else that of the voiced one beside it."""
    back = min(max((NEWEST - t) / HOP, 0.0), FRAMES - 1.001)
    newer = FRAMES - 1 - int(back)
    older = newer - 1
    part = back - int(back)
    if s.voiced[older] == 0:
        part = 0.0
    elif s.voiced[newer] == 0:
        part = 1.0
    return float(values[newer] + part * (values[older] - values[newer]))


@word
def chance(s: np.record) -> float:
    """Evenly from -1 to 1; the multiplier is that of L'Ecuyer (1999) for 2^31."""
    random = (s.random * 37769685 + 12345) & 0x7FFFFFFF
    s.random = random
    return float(random / 0x40000000 - 1.0)


@word
def begin(s: np.record) -> None:
    """The next piece is the one that is read from now on."""
    born, source = s.next_born, s.next_source
    s.tuned, s.born, s.source = s.next_tuned, born, source
    s.decided = 0
    if s.tuned != 0:
        old = at_time(s, s.period, source)
        new = max(old / at_time(s, s.ratio, born), SHORTEST)
        s.length, s.next_born = old, born + new
        s.pulse, s.fade = min(PULSE, 0.125 * min(old, new)), min(FADE, 0.3 * min(old, new))
    else:
        s.next_born = born + PIECE * (1.0 + 0.4 * chance(s)) if s.shuffle > 0.0 else math.inf
        s.pulse, s.fade = PULSE, FADE


@word
def decide(s: np.record) -> None:
    """What follows: in a voice the period with the nearest mark, if it goes on."""
    s.decided = 1
    s.next_tuned = 0
    s.next_source = s.next_born + round(s.shuffle * chance(s))  # between samples, noise would lose its highest frequencies
    if s.tuned != 0:
        nearest = math.inf
        for i in range(s.epochs.count):
            if abs(s.epochs.mark[i] - s.next_born) <= abs(nearest - s.next_born):
                nearest = s.epochs.mark[i]
        if abs(nearest - s.next_born) < 0.75 * s.length:
            s.next_tuned, s.next_source = 1, nearest


@word
def await_voice(s: np.record) -> None:
    """If a voice sets in during what is not voiced, the piece after this one is its first period that leaves time to fade."""
    first = math.inf
    for i in range(s.epochs.count):
        if OUTPUT + PULSE + FADE <= s.epochs.mark[i] < first:
            first = s.epochs.mark[i]
    if s.tuned == 0 and s.decided == 0 and first < math.inf:
        s.next_born = s.next_source = first
        s.decided = s.next_tuned = 1


@word
def splice(s: np.record) -> None:
    """The new residual of this hop."""
    old = s.residual.residual
    await_voice(s)
    for i in range(HOP):
        t = float(OUTPUT + i)
        if t >= s.next_born - s.pulse:
            begin(s)
        value = sample(s, old, t)
        left = s.next_born - s.pulse - t
        if left < s.fade:
            if s.decided == 0:
                decide(s)
            coming = read(old, s.next_source + t - s.next_born)
            part = 0.5 + 0.5 * math.cos(math.pi * left / s.fade)
            value += part * (coming - value)
            if s.tuned == 0 and s.next_tuned == 0:  # noise that is not alike: its power is to stay, not its amplitude
                value /= math.sqrt(part * part + (1.0 - part) * (1.0 - part))
        s.excitation[i] = value


@word
def listen(s: np.record, x: F32) -> None:
    """Take x, shape (160,). If voiced[-1] then says so, period[-1] is the newest period and ratio[-1] may be set for it."""
    for i in range(FRAMES - 1):
        s.voiced[i] = s.voiced[i + 1]
        s.period[i] = s.period[i + 1]
        s.ratio[i] = s.ratio[i + 1]
    track(s.f0, x)
    voiced = s.f0.periodicity > (OFF if s.voiced[-1] != 0 else ON)
    s.voiced[-1] = voiced
    if voiced:
        s.period[-1] = 16_000.0 / s.f0.hz
    whiten(s.residual, x)
    mark(s.epochs, s.residual.signal, s.residual.residual, s.period[-1] if voiced else 0.0, NEWEST - HOP // 2)
    s.born -= HOP
    s.source -= HOP
    s.next_born -= HOP
    s.next_source -= HOP


@word
def speak(s: np.record, out: F32) -> None:
    """out, shape (160,): the input of LATENCY samples before, at the new pitch."""
    splice(s)
    colour(s.residual, out, s.excitation)
    biquads(out, s.high_pass, s.memory)


@kernel(record(PITCH), f32, f32, real)
def stream(state: State, out: F32, x: F32, ratio: float) -> None:
    """out is x of LATENCY samples before with F0 times `ratio`, which is held within RATIOS. Shapes (160 n,)."""
    s = state[0]
    for start in range(0, x.size, HOP):
        listen(s, x[start : start + HOP])
        s.ratio[-1] = min(max(ratio, RATIOS[0]), RATIOS[1])
        speak(s, out[start : start + HOP])


def offline(x: npt.ArrayLike, ratio: float) -> F32:
    """x, shape (n,), mono, 16 kHz, with F0 times `ratio`, 0.25 to 4: float32, same length, no delay. ValueError for others."""
    if not RATIOS[0] <= ratio <= RATIOS[1]:
        raise ValueError(f"ratio={ratio!r}: give one from {RATIOS[0]:g} to {RATIOS[1]:g}")
    signal = mono(x)
    padded = np.zeros(-(-(signal.size + LATENCY) // HOP) * HOP, np.float32)
    padded[: signal.size] = signal
    out = np.empty_like(padded)
    stream(fresh(), out, padded, ratio)
    return out[LATENCY : LATENCY + signal.size]

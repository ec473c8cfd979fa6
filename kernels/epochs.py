"""Pitch marks: one instant in each period of a voice, at the pulse of the residual if it has one.

The first mark of a voiced stretch is the residual's strongest place in a period. Each further one lies a period on, at the
place around which the signal is most like that around the last mark: a chain of equal phases, on which a change of pitch can
be built without roughness. Should the pulses turn out to lie elsewhere (voices set in with noise), the chain moves over to
them: without that, low voices raised by an octave lost their pulses for 0.2 s at a time. With each mark at the strongest
place of its period, high voices would be 1 dB rougher.
"""

from __future__ import annotations

import math

import numpy as np

from .jit import F32, record_dtype, reducing_word, word
from .residual import AHEAD, HOP, KEPT

MOST = 128  # marks there is room for: the kept residual has 43 of the shortest periods
REACH = 0.12  # periods to either side that the next mark is sought in
SPREAD = 8  # samples to either side over which the residual's power is smoothed (triangle): 1 ms
KNOWN = KEPT - AHEAD - SPREAD  # where power ends, on the clock of the residual
MEMORY, SURE = 0.25, 0.6  # weight of the newest period in the mean vector of pulse phases, and its length to be believed
WEAK = 0.4  # of the pulse's power: a mark that has it counts as on the pulse (else high voices are 0.4 dB rougher)
FAR, STEP = 0.1, 0.005  # periods: a chain further off its pulses moves over at once, a nearer one so much a period
SMALL = 1e-12

EPOCHS = record_dtype(
    ("power", "f4", (KEPT,)),  # of the residual, smoothed, on its clock
    ("count", "i8"),
    ("mark", "f8", (MOST,)),  # rising, on the same clock
    ("following", "i8"),  # whether the voice of the last mark goes on
    ("likeness", "f8", (KEPT,)),  # of the places tried
    ("cosine", "f8"),  # mean over periods of exp(i phase), phase of the pulse against the mark
    ("sine", "f8"),
)


@word
def advance(s: np.record, residual: F32) -> None:
    """Move on by a hop: the power of the new residual comes in, old marks go."""
    for i in range(KEPT - HOP):
        s.power[i] = s.power[i + HOP]
    new = s.power[KNOWN - HOP : KNOWN]
    new[:] = np.float32(SMALL)
    for k in range(-SPREAD, SPREAD + 1):
        weight = np.float32(SPREAD + 1 - abs(k))
        there = residual[KNOWN - HOP + k : KNOWN + k]
        for i in range(HOP):
            new[i] += weight * there[i] * there[i]
    gone = 0
    for i in range(s.count):
        s.mark[i - gone] = s.mark[i] - HOP
        if s.mark[i - gone] < 0.0:
            gone += 1
    s.count -= gone


@word
def strongest(power: F32, start: int, stop: int) -> int:
    best = start
    for i in range(start + 1, stop):
        if power[i] > power[best]:
            best = i
    return best


@reducing_word
def correlate(x: F32, y: F32) -> tuple[float, float]:
    """Sums of x y and of y y."""
    product = power = np.float32(0.0)
    for i in range(x.size):
        product += x[i] * y[i]
        power += y[i] * y[i]
    return float(product), float(power)


@word
def add(s: np.record, mark: float) -> None:
    s.mark[s.count] = mark
    s.count += 1


@word
def moved_to_pulse(s: np.record, place: float, peak: int, period: float) -> float:
    """`place`, moved towards the pulses if in the last periods these lay off their marks, on the same side."""
    off = s.power[int(place)] < WEAK * s.power[peak]
    phase = 2.0 * math.pi * (peak - place) / period if off else 0.0
    cosine = (1.0 - MEMORY) * s.cosine + MEMORY * math.cos(phase)
    sine = (1.0 - MEMORY) * s.sine + MEMORY * math.sin(phase)
    turn = math.atan2(sine, cosine) / (2.0 * math.pi)
    if math.hypot(cosine, sine) > SURE:
        if abs(turn) > FAR:
            cosine, sine = 1.0, 0.0
            place += turn * period
        else:
            place += min(max(turn, -STEP), STEP) * period
    s.cosine, s.sine = cosine, sine
    return place


@word
def follow(s: np.record, signal: F32, period: float) -> bool:
    """Add the mark after the last one, if what lies around it is known already."""
    last = s.mark[s.count - 1]
    here, there = int(last), int(last + period)
    half = max(int(0.5 * period), SPREAD)
    search = int(REACH * period) + 2
    if there + max(half, search) + 1 > KNOWN or here - half < 0:
        return False
    before = signal[here - half : here + half]
    _, power_before = correlate(before, before)
    peak = strongest(s.power, there - half, there + half)
    best = 1
    for i in range(2 * search + 1):
        place = there - search + i
        product, power = correlate(before, signal[place - half : place + half])
        s.likeness[i] = product / math.sqrt((power_before + SMALL) * (power + SMALL))
        if s.likeness[i] > s.likeness[best] and 0 < i < 2 * search:
            best = i
    slope = 0.5 * (s.likeness[best + 1] - s.likeness[best - 1])
    bend = s.likeness[best - 1] - 2.0 * s.likeness[best] + s.likeness[best + 1]
    part = min(max(-slope / bend, -0.5), 0.5) if bend < 0.0 else 0.0
    add(s, moved_to_pulse(s, there - search + best + part + (last - here), peak, period))
    return True


@word
def mark(s: np.record, signal: F32, residual: F32, period: float, start: int) -> None:
    """Move on by a hop and mark the voice of this period as far as it is known; period 0: there is none.

    start: where the first mark of a voice that sets in now is sought from.
    """
    advance(s, residual)
    if period == 0.0:
        s.following = 0
        return
    if s.following == 0:
        if s.count > 0:
            start = max(start, int(s.mark[s.count - 1] + 0.5 * period))
        stop = min(start + int(period), KNOWN)
        if start < stop:
            add(s, strongest(s.power, start, stop))
            s.following = 1
            s.cosine, s.sine = 1.0, 0.0
    while s.following != 0 and follow(s, signal, period):
        pass

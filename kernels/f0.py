"""Fundamental frequency and voicing, streamed: one value each 10 ms, 20 ms behind.

Normalised cross-correlation of the band around the fundamental proposes periods (as in D. Talkin, "A robust algorithm for
pitch tracking", 1995, but with both windows symmetric about the frame, so that long periods are seen no earlier than short
ones); dynamic programming, without look-ahead, chooses among them and "unvoiced".

Against Harvest (M. Morise, 2017), 1013 utterances of 49 speakers and more, 2 h: gross pitch errors (20 %) 4.9 % of the frames
voiced in both, voicing errors 11.6 %. The constants come from random search on 245 of them; all lie in flat optima. What
mattered: a gentle low pass at 300 Hz (at 1 kHz 3 % more voicing errors), a steep high pass against hum (2 %), levels (3 %), the
usual period (gross errors 6.2 -> 4.9 %). What did not: one frame of look-ahead (0.2 %), windows of 25 to 45 ms (0.3 %).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .biquad import biquads, high_pass
from .edge import mono
from .jit import F32, State, f32, kernel, record, record_dtype, reducing_word, word
from .window import hamming

HOP = 160  # samples at 16 kHz a value
LATENCY = 320  # the value given with x[n : n + 160] belongs to the time n - 320
DECIMATION = 4
INNER = 16_000 // DECIMATION  # Hz, at which periods are sought
BLOCK = HOP // DECIMATION
TAPS = 41
LOW_PASS, HIGH_PASS = 300.0, 100.0  # Hz; voices below the high pass are found by their harmonics
ORDER = 4  # of the high pass
SHORTEST, LONGEST = 6, 80  # periods sought, samples of INNER, whose ends are no peaks: 50 to 600 Hz
WINDOW = 150  # 37.5 ms: as long as the latency leaves room for
SPAN = WINDOW + LONGEST

MOST = 6  # candidates
LEAST = 0.05  # correlation of a candidate
LONG = 0.43  # part of its correlation that the longest period loses against its submultiples; others as the square root
UNVOICED = 0.63  # cost of "unvoiced" where that of a period is 1 - correlation ...
PER_SPEECH_LEVEL = 0.29 / 30  # ... and its change for each dB over the level of the speech
PER_NOISE_LEVEL = 0.29 / 30  # ... and over that of the noise
JUMP = 1.6  # cost of a change of ln period by 1
END = 1.25  # cost of going from voiced to unvoiced
USUAL, HEARD, CLEAR = 0.21, 50, 0.5  # cost of a period e times longer or shorter than the mean of the last HEARD clear ones
SPEECH_FALL, NOISE_RISE = 0.04, 0.17  # dB a hop, by which the levels forget
SPEECH_START, NOISE_START, NOISE_LEAST = -27.0, -60.0, -70.0  # dB
EMPTY = 1e-9  # power added to every window: below -90 dB nothing is periodic
SMALLEST, LARGEST = 1e-12, 1e12  # samples beyond are taken for 0: neither denormals nor NaN nor infinity come in

F0 = record_dtype(
    ("past", "f4", (TAPS - 1 + HOP,)),  # input, for the decimator
    ("low_pass", "f4", (TAPS,)),
    ("high_pass", "f8", (ORDER // 2, 5)),
    ("memory", "f8", (ORDER // 2, 2)),
    ("band", "f4", (SPAN,)),  # filtered signal at INNER Hz
    ("energy", "f8", (SPAN + 1,)),  # of band[:i]
    ("correlation", "f4", (LONGEST + 1,)),  # by period
    ("states", "i8"),  # number of entries below; entry 0 is "unvoiced"
    ("period", "f8", (1 + MOST,)),
    ("correlated", "f8", (1 + MOST,)),  # correlation at its peak
    ("weighted", "f8", (1 + MOST,)),  # and after LONG
    ("cost", "f8", (1 + MOST,)),  # of the best path there
    ("old_states", "i8"),  # the same for the frame before
    ("old_period", "f8", (1 + MOST,)),
    ("old_cost", "f8", (1 + MOST,)),
    ("speech", "f8"),  # dB
    ("noise", "f8"),  # dB
    ("heard", "f8"),  # clear frames, up to HEARD
    ("usual", "f8"),  # mean of their ln period
    ("hz", "f8"),  # the result; 0 where unvoiced
    ("periodicity", "f8"),  # correlation at that period, up to 1; 0 where unvoiced
)


def fresh() -> State:
    state = np.zeros(1, F0)
    s = state[0]
    ideal = np.sinc(2 * LOW_PASS / 16_000 * (np.arange(TAPS) - TAPS // 2)) * hamming(TAPS)
    s.low_pass[:] = ideal / ideal.sum()
    s.high_pass[:] = high_pass(ORDER, HIGH_PASS, INNER)
    s.old_states = 1
    s.speech, s.noise = SPEECH_START, NOISE_START
    return state


@reducing_word
def decimate(s: np.record, x: F32) -> None:
    """Take 160 samples; `band` moves on by 40."""
    for i in range(TAPS - 1):
        s.past[i] = s.past[i + HOP]
    for i in range(HOP):
        s.past[TAPS - 1 + i] = x[i] if SMALLEST < abs(x[i]) < LARGEST else np.float32(0.0)
    for i in range(SPAN - BLOCK):
        s.band[i] = s.band[i + BLOCK]
    fresh = s.band[SPAN - BLOCK :]
    for i in range(BLOCK):
        piece = s.past[DECIMATION * i : DECIMATION * i + TAPS]
        low = np.float32(0.0)
        for k in range(TAPS):
            low += s.low_pass[k] * piece[k]
        fresh[i] = low
    biquads(fresh, s.high_pass, s.memory)


@reducing_word
def correlate(s: np.record) -> None:
    """Correlation of two windows one period apart, for each period."""
    total = 0.0
    for i in range(SPAN):
        total += s.band[i] * s.band[i]
        s.energy[i + 1] = total
    for period in range(SHORTEST, LONGEST + 1):
        start = (LONGEST - period) // 2
        early, late = s.band[start : start + WINDOW], s.band[start + period : start + period + WINDOW]
        product = np.float32(0.0)
        for i in range(WINDOW):
            product += early[i] * late[i]
        power_early = s.energy[start + WINDOW] - s.energy[start] + WINDOW * EMPTY
        power_late = s.energy[start + period + WINDOW] - s.energy[start + period] + WINDOW * EMPTY
        s.correlation[period] = product / math.sqrt(power_early * power_late)


@word
def propose(s: np.record) -> None:
    """The best peaks of the correlation as candidates, each at the top of the parabola through its peak."""
    s.states = 1
    for period in range(SHORTEST + 1, LONGEST):
        at, before, after = s.correlation[period], s.correlation[period - 1], s.correlation[period + 1]
        if not (at > LEAST and before <= at > after):
            continue
        slope, bend = 0.5 * (after - before), before - 2.0 * at + after
        place = period - slope / bend
        top = at - 0.5 * slope * slope / bend
        weighted = top * (1.0 - LONG * math.sqrt(place / LONGEST))
        if s.states <= MOST:
            j = s.states
            s.states += 1
        else:
            j = 1
            for k in range(2, 1 + MOST):
                if s.weighted[k] < s.weighted[j]:
                    j = k
            if s.weighted[j] >= weighted:
                continue
        s.period[j], s.correlated[j], s.weighted[j] = place, top, weighted


@word
def choose(s: np.record) -> None:
    """One step of the search for the cheapest path, and its present end."""
    level = 10.0 * math.log10(s.energy[SPAN] / SPAN + EMPTY)
    speech = max(level, s.speech - SPEECH_FALL)
    noise = max(min(level, s.noise + NOISE_RISE), NOISE_LEAST)
    unvoiced = UNVOICED + PER_SPEECH_LEVEL * (level - speech) + PER_NOISE_LEVEL * (level - noise)
    s.speech, s.noise = speech, noise
    best = 0
    for k in range(s.states):
        s.cost[k] = math.inf
        for j in range(s.old_states):
            path = s.old_cost[j]
            if k > 0 and j > 0:
                path += JUMP * abs(math.log(s.period[k] / s.old_period[j]))
            elif j > 0:
                path += END
            s.cost[k] = min(s.cost[k], path)
        if k > 0:
            unusual = min(abs(math.log(s.period[k]) - s.usual), 1.0)
            s.cost[k] += 1.0 - s.weighted[k] + USUAL * s.heard / HEARD * unusual
        else:
            s.cost[k] += unvoiced
        if s.cost[k] < s.cost[best]:
            best = k
    s.old_states = s.states
    for k in range(s.states):
        s.old_cost[k] = s.cost[k] - s.cost[best]
        s.old_period[k] = s.period[k]
    if best > 0 and s.weighted[best] > CLEAR:
        s.heard = min(s.heard + 1.0, HEARD)
        s.usual += (math.log(s.period[best]) - s.usual) / s.heard
    s.hz = INNER / s.period[best] if best > 0 else 0.0
    s.periodicity = min(s.correlated[best], 1.0) if best > 0 else 0.0


@word
def track(s: np.record, x: F32) -> None:
    """Take x, shape (160,), and leave `hz` and `periodicity` of the time LATENCY before its start in s."""
    decimate(s, x)
    correlate(s)
    propose(s)
    choose(s)


@kernel(record(F0), f32, f32)
def stream(state: State, out: F32, x: F32) -> None:
    """out[i] = F0 in Hz, 0 where unvoiced, at LATENCY samples before x[160 i]. Shapes (n,), (160 n,)."""
    s = state[0]
    for i in range(out.size):
        track(s, x[HOP * i : HOP * (i + 1)])
        out[i] = s.hz


def offline(x: npt.ArrayLike) -> F32:
    """F0 of x, shape (n,), mono, 16 kHz: value i at the time of x[160 i], in Hz, 0 where unvoiced; shape (n // 160 + 1,).

    ValueError or TypeError for what is no channel of samples.
    """
    signal = mono(x)
    frames = signal.size // HOP + 1
    padded = np.zeros((frames + LATENCY // HOP) * HOP, np.float32)
    padded[: signal.size] = signal
    out = np.empty(padded.size // HOP, np.float32)
    stream(fresh(), out, padded)
    return out[LATENCY // HOP :]

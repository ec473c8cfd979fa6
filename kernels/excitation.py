"""What drives the vocal tract of a vocoder: pulses at exact, fractional times, and noise; 10 ms a call.

Both have power 1 at every frequency: a pulse is a windowed sinc that weighs the root of its period, the noise is even from
-sqrt 3 to sqrt 3. A new pulse is due where the phase, the integral of F0, passes a whole number; F0 moves on a straight line
from frame to frame, and stands still where only one of the two is voiced. So that no pulse begins before it is known, the
times of F0 are taken half a pulse, 0.5 ms, late.
"""

from __future__ import annotations

import math

import numpy as np

from .jit import State, record_dtype, word
from .pitch import chance

HOP = 160
RATE = 16_000
LOWEST, HIGHEST = 30.0, 1000.0  # Hz: below it counts as unvoiced, above as HIGHEST
HALF = 8  # samples a pulse extends to either side: flat within 0.02 dB up to 6 kHz, where harmonics have ended
PHASES = 128  # shapes between two samples, and a straight line between those: 3e-5 of the pulse off
KAISER = 6.0

EXCITATION = record_dtype(
    ("pulse", "f4", (PHASES + 1, 2 * HALF)),  # the pulse at sample j of it, centred at HALF - 1 + row / PHASES
    ("pulses", "f4", (HOP + 2 * HALF,)),  # of this call, and the beginning of the next
    ("noise", "f4", (HOP,)),
    ("phase", "f8"),  # periods since the last pulse
    ("f0", "f8"),  # Hz, of the last frame; 0: unvoiced
    ("random", "i8"),  # of the last sample of noise
)


def fresh(seed: int) -> State:
    """At rest; the noise is that of `seed`."""
    state = np.zeros(1, EXCITATION)
    s = state[0]
    late = np.arange(2 * HALF) - (HALF - 1) - np.arange(PHASES + 1)[:, None] / PHASES
    window = np.i0(KAISER * np.sqrt(np.maximum(0, 1 - (late / HALF) ** 2))) / np.i0(KAISER)
    s.pulse[:] = np.sinc(late) * window
    s.random = seed % 2**31
    return state


@word
def add_pulse(s: np.record, at: float, gain: float) -> None:
    """One pulse at time `at` of this call, HALF - 1 to HOP + HALF."""
    first = int(at)
    row = (at - first) * PHASES
    i = min(int(row), PHASES - 1)
    part = np.float32(row - i)
    first -= HALF - 1
    for j in range(2 * HALF):
        s.pulses[first + j] += np.float32(gain) * (s.pulse[i, j] + part * (s.pulse[i + 1, j] - s.pulse[i, j]))


@word
def excite(s: np.record, f0: float) -> None:
    """pulses[:160] and noise[:] up to the frame with F0 = f0 Hz, 0 or NaN where it is unvoiced."""
    for j in range(2 * HALF):
        s.pulses[j] = s.pulses[HOP + j]
    for j in range(2 * HALF, HOP + 2 * HALF):
        s.pulses[j] = np.float32(0.0)
    to = min(float(f0), HIGHEST) if f0 >= LOWEST else 0.0
    start = s.f0 if s.f0 > 0.0 else to
    slope = (to - start) / HOP if to > 0.0 else 0.0
    phase = float(s.phase) if start > 0.0 else 0.0
    for i in range(HOP):
        step = (start + slope * (i + 1)) / RATE
        phase += step
        if phase >= 1.0:
            phase -= 1.0
            add_pulse(s, HALF + i - phase / step, math.sqrt(1.0 / step))
    s.f0, s.phase = to, phase
    for i in range(HOP):
        s.noise[i] = np.float32(math.sqrt(3.0) * chance(s))

"""Babble: many voices at once that say nothing, made from no recording."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from ...kernels.jit import F32

SECONDS = 4.0  # after which it repeats
_TALKERS = 6  # of fewer a vowel stands out
_SYLLABLES = 4.5  # a second
_FORMANTS = ((250, 850, 60), (850, 2300, 90), (2200, 3000, 140), (3200, 3900, 200))  # Hz: lowest, highest, width


def babble(rate: int) -> F32:
    """SECONDS of it at `rate` Hz, of mean square 1, the same each time, its end joined to its start. Shape (n,)."""
    random = np.random.default_rng(6)
    count, join = round(SECONDS * rate), round(0.1 * rate)
    total = sum(_talker(random, count + join, rate) for _ in range(_TALKERS))
    y = np.asarray(total)
    ramp = np.sin(np.linspace(0, np.pi / 2, join))  # of equal power
    y[:join] = y[:join] * ramp + y[count:] * ramp[::-1]
    y = y[:count]
    return np.asarray(y / np.sqrt(np.mean(y**2)), np.float32)


def _talker(random: np.random.Generator, count: int, rate: int) -> np.ndarray:
    """A gliding pulse train through formants that move from one random vowel to the next."""
    t = np.arange(count) / rate
    pitch = random.uniform(95, 230) * (1 + 0.1 * np.sin(2 * np.pi * random.uniform(0.3, 0.8) * t + random.uniform(0, 6)))
    pulses = np.diff(np.floor(np.cumsum(pitch) / rate), prepend=0.0) + 0.02 * random.normal(size=count)
    y = np.zeros(count)
    start = 0
    while start < count:
        length = min(count - start, round(rate / _SYLLABLES * random.uniform(0.6, 1.5)))
        part = pulses[start : start + length]
        for low, high, width in _FORMANTS:
            hz = random.uniform(low, high)
            if hz < 0.45 * rate:
                r = np.exp(-np.pi * width / rate)
                part = lfilter([1 - r], [1, -2 * r * np.cos(2 * np.pi * hz / rate), r * r], part)
        loudness = np.sin(np.linspace(0, np.pi, length)) / (np.sqrt(np.mean(part**2)) + 1e-9)
        y[start : start + length] = part * loudness
        start += length
    return y

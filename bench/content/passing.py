"""What of a stream leaves a line of some seconds, by when each look of each detector was done: the guard's rules, as arrays.

A detector looks every hop, or as soon as its last look is done; each runs beside the others. A look's time is the CPU time it
took, so that what else the machine does changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...engine.content.detector import Detector
from ...engine.content.hit import Hit
from ...engine.content.spans import GAP, PAD
from ...kernels.jit import F32

RATE = 16_000
TICK = 160  # samples; what leaves is told in these
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Looked:
    """One look of a detector."""

    hits: tuple[Hit, ...]
    passed: int  # samples
    known: float  # seconds since the start of the stream, when it was done
    cost: float  # seconds


def watched(detector: Detector, samples: F32) -> list[Looked]:
    """Every look of `detector` at a stream, from fresh."""
    detector.reset()
    found: list[Looked] = []
    end, free = 0, 0.0
    while end < len(samples):
        end = min(len(samples), max(end + detector.hop, int(free * RATE)))
        start = max(0, end - detector.window)
        began = time.process_time()
        look = detector.look(samples[start:end], start, end == len(samples))
        cost = time.process_time() - began
        free = end / RATE + cost
        found.append(Looked(look.hits, look.passed, free, cost))
    return found


def hidden(looks: Sequence[Looked], length: int, delay: float, kinds: Sequence[str] = ()) -> Mask:
    """The ticks of a stream of `length` samples that leave, after `delay` s, hidden by hits, of `kinds` if given."""
    spans = []
    for look in looks:
        left = (look.known - delay) * RATE
        for hit in look.hits:
            if not kinds or hit.kind in kinds:
                spans.append((max(hit.start - PAD * RATE, left), hit.end + PAD * RATE))
    mask = np.zeros(-(-length // TICK), bool)
    until = -1e9
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if start - until < GAP * RATE:
            start = min(start, max(until, 0))
        mask[max(0, round(start / TICK)) : max(0, round(end / TICK))] = True
        until = max(until, end)
    return mask


def unpassed(looks: Sequence[Looked], length: int, delay: float) -> Mask:
    """The ticks that leave before one detector's looks have passed them."""
    leaves = np.arange(-(-length // TICK)) * TICK / RATE + delay
    known = np.array([look.known for look in looks])
    passed = np.maximum.accumulate([look.passed for look in looks])
    place = np.searchsorted(known, leaves, side="right")
    decided = np.concatenate([[0], passed])[place]
    wanted = (np.arange(len(leaves)) + 1) * TICK + round(PAD * RATE)  # a word may begin a pad later
    return np.asarray(decided < np.minimum(wanted, length))

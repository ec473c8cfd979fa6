"""What is kept of the melody: the pitch contour and what is voiced, by the product's own tracker.

Both recordings are of one utterance and begin at the same time: files of velavox have their delay taken out already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels import f0
from ...kernels.jit import F32

LEAST = 20  # frames of 10 ms voiced in both for a correlation


@dataclass(frozen=True)
class Prosody:
    correlation: float  # of ln F0 where both are voiced (Pearson); NaN: fewer than LEAST such frames, or no melody in one
    agreeing: int  # frames voiced in both or in neither ...
    frames: int  # ... out of these


def prosody(original: F32, anonymized: F32) -> Prosody:
    """Of two recordings at 16 kHz, mono, shapes (n,) and (m,); what one has more at its end does not count."""
    a, b = f0.offline(original), f0.offline(anonymized)
    frames = min(len(a), len(b))
    a, b = a[:frames], b[:frames]
    both = (a > 0) & (b > 0)
    return Prosody(_correlation(np.log(a[both]), np.log(b[both])), int(((a > 0) == (b > 0)).sum()), frames)


def _correlation(a: F32, b: F32) -> float:
    if len(a) < LEAST or min(np.ptp(a), np.ptp(b)) < 1e-6:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])

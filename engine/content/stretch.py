"""Faster speech of the same pitch, whole signals only: WSOLA (Verhelst and Roelands, 1993).

Frames are laid over each other at an even hop; each is taken from near where an even pace would take it, there where it goes on
best from the one before.
"""

from __future__ import annotations

import numpy as np

from ...kernels.jit import F32

_FRAME = 0.03  # s: two periods of the lowest voice
_SEARCH = 0.008  # s to either side: a period of 62 Hz in all


def stretched(x: F32, pace: float, rate: int) -> F32:
    """Speech of shape (n,) at `rate` Hz, `pace` times as fast, from 1 to 2: round(n / pace) samples."""
    if not 1 <= pace <= 2:
        raise ValueError(f"pace={pace!r}: give 1 to 2")
    length = round(len(x) / pace)
    hop = round(_FRAME * rate / 2)
    search = round(_SEARCH * rate)
    if pace == 1 or length < 2 * hop:  # of so little the start is as good as the whole
        return x[:length].copy()
    window = np.hanning(2 * hop + 1)[:-1].astype(np.float32)
    padded = np.concatenate([np.zeros(hop + search, np.float32), x, np.zeros(4 * hop + search, np.float32)])
    y = np.zeros(length + 4 * hop, np.float32)
    at = search  # where the frame begins in `padded`; the first is the silence before the speech
    for out in range(0, length + hop, hop):
        y[out : out + 2 * hop] += window * padded[at : at + 2 * hop]
        wanted = padded[at + hop : at + 3 * hop]  # what would follow at the pace of the original
        even = search + round((out + hop) * pace) - round(hop * (pace - 1))
        low = max(0, min(even - search, len(padded) - 3 * hop - 2 * search - 1))
        around = padded[low : low + 2 * hop + 2 * search]
        at = low + int(np.argmax(_likeness(around, wanted)))
    return y[hop : hop + length]


def _likeness(around: F32, wanted: F32) -> F32:
    """Normalised correlation of `wanted` with each place in `around`."""
    places = np.lib.stride_tricks.sliding_window_view(around, len(wanted))
    power = np.sqrt(np.einsum("ij,ij->i", places, places)) + 1e-9
    return np.asarray(places @ wanted / power, np.float32)

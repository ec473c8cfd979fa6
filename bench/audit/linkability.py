"""D_sys: how well recordings of one speaker can be linked, over all scores that they get.

M. Maouche et al., "A comparative study of speech anonymization metrics", Interspeech 2020, after M. Gomez-Barrero et al.,
"General framework to evaluate unlinkability in biometric template protection systems", IEEE TIFS 13, 2018.
"""

from __future__ import annotations

import numpy as np

from ...kernels.jit import F64
from .curve import Curve

FEWEST = 10  # true claims; a bin for every ten of them
_MOST_BINS = 100


def d_sys(curve: Curve) -> float:
    """Global linkability with equal priors (omega = 1), from 0 (none) to 1; NaN for fewer than `FEWEST` true claims.

    As the authors' code has it: min(n / 10, 100) bins for n true claims, and the trapezoid rule between their centres, which
    leaves out half of the bins at both ends (see `at_ends`). The fewer trials, the higher it comes out.
    """
    return _integrals(curve)[0]


def at_ends(curve: Curve) -> float:
    """What `d_sys` leaves out: more than nothing where many true claims have the highest score there is. At most 0.5."""
    trapezoid, whole = _integrals(curve)
    return whole - trapezoid


def _integrals(curve: Curve) -> tuple[float, float]:
    bins = min(int(curve.true.sum()) // 10, _MOST_BINS)
    low, high = curve.scores[0], curve.scores[-1]
    if bins == 0:
        return float("nan"), float("nan")
    if low == high:  # one score for all
        return 0.0, 0.0
    edges = np.linspace(low, high, bins + 1)
    true, false = (np.histogram(curve.scores, edges, weights=counts)[0] / counts.sum() for counts in (curve.true, curve.false))
    linked = true * _linkability(true, false)
    return float(linked.sum() - (linked[0] + linked[-1]) / 2), float(linked.sum())


def _linkability(true: F64, false: F64) -> F64:
    """D of a bin: 2 p - 1 where p = P(same speaker | score) is over 1/2, else 0."""
    total = true + false
    share = np.divide(true, total, out=np.zeros_like(true), where=total > 0)
    return np.asarray(np.maximum(2 * share - 1, 0))

"""The privacy that scores disclose, as Privacy ZEBRA has it: to the whole population on average, and of one person at worst.

A. Nautsch et al., "The Privacy ZEBRA: Zero Evidence Biometric Recognition Assessment", Interspeech 2020. Scores become
likelihood ratios by pooling adjacent violators, as whoever knows the truth would calibrate them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.jit import F64
from .curve import Curve

MOST_EXPECTED = 1 / (2 * np.log(2))  # 0.721 bit: all is disclosed
_CATEGORIES = ((0.0, "0"), (1.0, "A"), (2.0, "B"), (4.0, "C"), (5.0, "D"), (6.0, "E"), (np.inf, "F"))  # up to this log10


@dataclass(frozen=True)
class Zebra:
    """What is disclosed."""

    expected: float  # bits, averaged over all prior probabilities, 0 (none) to `MOST_EXPECTED`
    worst: float  # log10 of the strongest likelihood ratio for or against anybody
    category: str  # of the worst: "0" (none), "A" (ratios below 10), "B" (below 100), "C" (10^4), "D" (10^5), "E" (10^6), "F"


def zebra(curve: Curve) -> Zebra:
    """Of these scores. The worst case is counted by Laplace's rule of succession (one more of each kind at each end), as an
    infinite ratio would be a matter of few trials."""
    true, false = (counts / counts.sum() for counts in curve.pooled)
    expected = (0.5 - true @ _disclosed(true, false) - false @ _disclosed(false, true)) / np.log(2)
    worst = float(np.abs(_careful(curve)).max() / np.log(10))
    return Zebra(float(max(expected, 0.0)), worst, category(worst))


def category(worst: float) -> str:
    """The paper's table 1."""
    if worst < 1e-9:
        return "0"
    return next(name for limit, name in _CATEGORIES[1:] if worst < limit)


def _disclosed(mine: F64, others: F64) -> F64:
    """The integral over the prior p from 0 to 1 of -p ln(posterior of the truth), for likelihood ratios mine/others: with
    a = ratio - 1 it is 1/(2a) - ln(1 + a)/(2a^2), which is 1/4 for no evidence and 0 for an infinite ratio."""
    found = np.zeros(len(mine))
    finite = (mine > 0) & (others > 0)
    a = mine[finite] / others[finite] - 1
    small = np.abs(a) < 1e-3  # where the difference loses digits: the series, its error below a^4/12
    big = np.where(small, 1.0, a)
    found[finite] = np.where(small, 1 / 4 - a / 6 + a**2 / 8 - a**3 / 10, 1 / (2 * big) - np.log1p(big) / (2 * big**2))
    return found


def _careful(curve: Curve) -> F64:
    """Logarithms of the likelihood ratios of the blocks that hold a trial, by the rule of succession."""
    true, false = curve.pooled
    scores = np.arange(len(true) + 4, dtype=np.float64)
    more = Curve(scores, np.concatenate([[1, 0], true, [1, 0]]), np.concatenate([[0, 1], false, [0, 1]]))
    held = (more.blocks[:-1] < len(scores) - 2) & (more.blocks[1:] > 2)
    odds = np.log(more.pooled[0][held] / more.pooled[1][held])
    return np.asarray(odds - np.log(true.sum() / false.sum()))

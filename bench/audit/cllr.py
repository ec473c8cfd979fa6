"""What scores cost whoever takes them for logarithms of likelihood ratios, in bits: 0 for an oracle, 1 for who knows nothing.

N. Brummer and J. du Preez, "Application-independent evaluation of speaker detection", Computer Speech and Language 20, 2006:
Cllr (eq. 8), and its minimum, over all rising functions of the scores, which pooling adjacent violators finds.
"""

from __future__ import annotations

import numpy as np

from ...kernels.jit import F64
from .curve import Curve


def cllr(curve: Curve) -> float:
    """Of the scores as they are, taken for natural logarithms of likelihood ratios, which cosines are not."""
    true = curve.true @ np.logaddexp(0, -curve.scores) / curve.true.sum()
    false = curve.false @ np.logaddexp(0, curve.scores) / curve.false.sum()
    return float((true + false) / 2 / np.log(2))


def min_cllr(curve: Curve) -> float:
    """Of the scores at their best: what they can tell, from 0 to 1 whatever their scale."""
    true, false = (counts / counts.sum() for counts in curve.pooled)
    return float((_cost(true, false) + _cost(false, true)) / 2)


def _cost(mine: F64, others: F64) -> float:
    seen = mine > 0
    return float(mine[seen] @ np.log2(1 + others[seen] / mine[seen]))

"""How sure a share is that was counted."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from ...kernels.jit import F64

DOUBT = 0.05


def clopper_pearson(hits: npt.ArrayLike, trials: npt.ArrayLike, doubt: float = DOUBT) -> tuple[F64, F64]:
    """The ends of the exact interval of a share, each wrong with at most half of `doubt`, for `hits` of `trials` (arrays or
    numbers): [0, 1] for no trials (C. J. Clopper and E. S. Pearson, Biometrika 26, 1934)."""
    hit, count = np.broadcast_arrays(np.asarray(hits, np.float64), np.asarray(trials, np.float64))
    missed = count - hit
    low = np.where(hit > 0, betaincinv(np.maximum(hit, 1), missed + 1, doubt / 2), 0.0)
    high = np.where(missed > 0, betaincinv(hit + 1, np.maximum(missed, 1), 1 - doubt / 2), 1.0)
    return low, high


def needed(rate: float, doubt: float = DOUBT) -> int:
    """Of how many trials none must be accepted to say that fewer than `rate` are: ln(doubt)/ln(1 - rate), about 3/rate."""
    return math.ceil(math.log(doubt) / math.log1p(-rate))


def shown(trials: int, doubt: float = DOUBT) -> float:
    """The rate that so many trials, none of them accepted, show it to be at most: about 3/trials."""
    return -math.expm1(math.log(doubt) / trials) if trials else 1.0

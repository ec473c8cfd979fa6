"""Does a verifier of voices, set for original speech, still match what is anonymized, and with whom?

MMR, the miss-match rate: true claims that it refuses. WMR, the wrong match rate: false claims that it accepts. The names are
those of Niu et al., 2024; the threshold is here, whatever theirs was, that of the equal error rate on original speech. These
are no attacker's figures: who knows of the anonymization would set another threshold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.jit import F64
from ..bootstrap import Figure
from .binomial import clopper_pearson
from .curve import Curve


@dataclass(frozen=True)
class Matching:
    """Rates from 0 to 1 (intervals: of independent trials) at the `threshold` of original speech."""

    threshold: float
    mmr: Figure
    wmr: Figure


def matching(curve: Curve, original: Curve) -> Matching:
    """Of a verifier whose scores of originals against originals are `original`'s."""
    threshold = equal_threshold(original)
    above = curve.scores >= threshold
    missed, wrong = _share(curve.true[~above], curve.true), _share(curve.false[above], curve.false)
    return Matching(threshold, missed, wrong)


def equal_threshold(curve: Curve) -> float:
    """The score, accepted itself, at which misses and false alarms are nearest to each other."""
    false, true = curve.accepted
    return float(curve.scores[::-1][np.argmin(np.abs(true + false - 1)[1:])])


def _share(hits: F64, trials: F64) -> Figure:
    low, high = clopper_pearson(hits.sum(), trials.sum())
    return Figure(float(hits.sum() / trials.sum()), float(low), float(high))

"""What an attacker finds who must not err: the share of true claims that he accepts at a small share of false ones (VoxGuard).

Two things are uncertain at a stated false positive rate (FPR): where its threshold lies, which order statistics of the false
claims bound, and how many true claims lie above it, which Clopper-Pearson bounds at each end. Half of the doubt goes to
either, so that the interval is wrong at most as often as it says, for independent trials of any distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom

from ..bootstrap import Figure
from .binomial import DOUBT, clopper_pearson, needed, shown
from .curve import Curve

RATES = (1e-2, 1e-3, 1e-4)


@dataclass(frozen=True)
class Point:
    """What is accepted at one false positive rate, with 95 % intervals."""

    fpr: float
    tpr: Figure  # true positive rate, 0 to 1
    epsilon: Figure  # `eps_hat` of it, nats
    mu: Figure  # the mu of the Gaussian mechanism whose best attacker has this TPR
    resolved: bool  # there are false claims enough to know the FPR, and true ones to know TPR and epsilon from above
    note: str  # "" where resolved


def eps_hat(tpr: float, fpr: float) -> float:
    """VoxGuard's max(ln(TPR/FPR), ln((1 - FPR)/(1 - TPR))), nats: no mechanism with a smaller epsilon (and delta 0) lets a test
    have these rates, TPR in [0, 1] and FPR in (0, 1). Not below 0; infinite for a TPR of 1."""
    if not 0 < fpr < 1:
        raise ValueError(f"fpr={fpr!r}: give a rate above 0 and below 1")
    if not 0 <= tpr <= 1:
        raise ValueError(f"tpr={tpr!r}: give a rate from 0 to 1")
    if tpr == 1:
        return math.inf
    return max(0.0, math.log(tpr / fpr) if tpr else 0.0, math.log1p(-fpr) - math.log1p(-tpr))


def equivalent_mu(tpr: float, fpr: float) -> float:
    """Phi^-1(TPR) - Phi^-1(FPR): of the two normal distributions, one apart by it, that a test with this pair tells apart as
    well; not below 0."""
    return max(0.0, float(ndtri(tpr) - ndtri(fpr)))


def point(curve: Curve, fpr: float) -> Point:
    """The curve at one false positive rate. A TPR of 0 or 1 is taken for half a true claim more or less where a logarithm would
    be infinite; the note then says that more cannot be told."""
    claims, negatives = round(float(curve.true.sum())), round(float(curve.false.sum()))
    tpr = Figure(curve.true_at(fpr), *_ends(curve, fpr, claims, negatives))
    most = 1 - 0.5 / claims
    within = [min(rate, most) for rate in (tpr.value, tpr.low, tpr.high)]
    notes = []
    if negatives < needed(fpr):
        notes.append(
            f"{negatives:,} false claims, none accepted, show an FPR of at most {shown(negatives):.1g}: "
            f"{fpr:g} needs {needed(fpr):,}"
        )
    if tpr.high > most:
        notes.append(f"no upper end: {claims:,} true claims are too few, or all are accepted; epsilon and mu may be higher")
    return Point(
        fpr,
        tpr,
        Figure(*(eps_hat(rate, fpr) for rate in within)),
        Figure(*(equivalent_mu(rate, fpr) for rate in within)),
        not notes,
        "; ".join(notes),
    )


def points(curve: Curve) -> tuple[Point, ...]:
    """At each of `RATES`."""
    return tuple(point(curve, fpr) for fpr in RATES)


def _ends(curve: Curve, fpr: float, claims: int, negatives: int) -> tuple[float, float]:
    """Of the TPR's interval: from `fewest` to `most` false claims lie above the threshold that has this FPR. At the lower end
    the true claims above the last of the fewest are counted, at the upper end those from the next of the most on."""
    fewest, most = (int(binom.ppf(tail, negatives, fpr)) for tail in (DOUBT / 4, 1 - DOUBT / 4))
    false, true = curve.above
    low = true[np.searchsorted(false, fewest - 0.5) - 1] if fewest else 0
    high = true[np.searchsorted(false, most + 0.5)] if most < negatives else claims
    ends = clopper_pearson([low, high], claims, DOUBT / 2)
    return float(ends[0][0]), float(ends[1][1])

"""How well two speakers are told apart, from below: what scores of the one and of the other prove of mu.

A threshold with the hit rate t and the false alarm rate f shows that mu is Phi^-1(t) - Phi^-1(f) at least, since G_mu lets no
test do better (J. Dong, A. Roth, W. J. Su, "Gaussian differential privacy", J. R. Stat. Soc. B 84, 2022). With the lower
Clopper-Pearson end of t and the upper one of f that is a lower confidence bound, so long as the threshold was chosen without a
look at what is counted: one half of the scores chooses, the other one counts. It holds for any score; the best one is the
likelihood ratio, or what grows with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from ...kernels.jit import F64
from ..bootstrap import Figure
from .binomial import clopper_pearson

FPRS = (1e-2, 1e-3, 1e-4)
BEST = "best"
FEWEST = 200  # scores of each
_CANDIDATES = 500  # thresholds of which the best one is chosen
_POINTS = 80  # of a curve
_PLOTTED = 0.05  # doubt of an interval in a plot


@dataclass(frozen=True)
class Proof:
    """One threshold, chosen on one half of the scores and counted on the other."""

    chosen: str  # `BEST` of all there, or for a false alarm rate there, as "FPR 0.01"
    fpr: Figure  # with Clopper-Pearson intervals, as wide as all proofs together need
    tpr: Figure
    mu: float  # at least


@dataclass(frozen=True)
class Point:
    """Of an empirical trade-off curve; 95 % intervals of this threshold alone."""

    fpr: Figure
    missed: Figure


def least_mu(tpr: float | F64, fpr: float | F64) -> F64:
    """What hits of at least `tpr` at false alarms of at most `fpr` show: mu is this or more, 0 where they show nothing."""
    tpr, fpr = np.asarray(tpr, np.float64), np.asarray(fpr, np.float64)
    shows = (tpr > fpr) & (fpr < 1)
    return np.asarray(np.where(shows, ndtri(tpr) - ndtri(np.where(shows, fpr, 0.5)), 0.0))


def proven(mine: F64, theirs: F64, thresholds: F64, doubt: float) -> F64:
    """The least mu at each of `thresholds` that were chosen beforehand; each holds but for a chance of `doubt`."""
    return least_mu(_rates(mine, thresholds, doubt)[1], _rates(theirs, thresholds, doubt)[2])


def proofs(mine: F64, theirs: F64, doubt: float, fprs: Sequence[float] = FPRS) -> tuple[Proof, ...]:
    """All of them hold together, but for a chance of `doubt`.

    mine, theirs: scores (n,), (m,) in the order in which they were drawn, independent of each other, higher for `mine`.
    Thresholds: the one that proves most on the first half, and those with the false alarm rates `fprs` there, where it has so
    many scores that one of them is a false alarm. ValueError for fewer than 200 scores of either, or what is not finite.
    """
    for scores in (mine, theirs):
        if len(scores) < FEWEST or not np.isfinite(scores).all():
            finite = int(np.isfinite(scores).sum())
            raise ValueError(
                f"{len(scores)} scores, {finite} of them finite: give {FEWEST} numbers or more, all of them finite"
            )
    (my_choice, my_count), (their_choice, their_count) = (np.split(scores, [len(scores) // 2]) for scores in (mine, theirs))
    resolved = _resolved(len(their_choice), fprs)
    doubt /= 1 + len(resolved)
    between = _spread(np.concatenate([my_choice, their_choice]), _CANDIDATES)
    candidates = (between[1:] + between[:-1]) / 2  # amid a gap, if there is one, not at its end
    thresholds = [candidates[np.argmax(proven(my_choice, their_choice, candidates, doubt))]]
    falling = np.sort(their_choice)[::-1]
    thresholds += [falling[int(fpr * len(falling))] for fpr in resolved]
    tprs, found = (_rates(scores, np.array(thresholds), doubt) for scores in (my_count, their_count))
    names = [BEST, *(f"FPR {fpr:g}" for fpr in resolved)]
    return tuple(
        Proof(name, Figure(*fpr), Figure(*tpr), float(least_mu(tpr[1], fpr[2])))
        for name, tpr, fpr in zip(names, np.transpose(tprs).tolist(), np.transpose(found).tolist(), strict=True)
    )


def most(scores: int, doubt: float, fprs: Sequence[float] = FPRS) -> float:
    """The largest mu that `proofs` of so many scores of each can show: where there is no error at all."""
    counted = scores - scores // 2
    low, high = clopper_pearson([counted, 0], counted, doubt / (1 + len(_resolved(scores // 2, fprs))))
    return float(least_mu(low[0], high[1]))


def curve(mine: F64, theirs: F64) -> tuple[Point, ...]:
    """The trade-off of all scores: at most 80 points, by rising false alarms, evenly in Phi^-1 of them."""
    thresholds = _spread(theirs, _POINTS)
    false, hits = (np.transpose(_rates(scores, thresholds, _PLOTTED)).tolist() for scores in (theirs, mine))
    return tuple(
        Point(Figure(*fpr), Figure(1 - hit, 1 - high, 1 - low)) for fpr, (hit, low, high) in zip(false, hits, strict=True)
    )


def _resolved(scores: int, fprs: Sequence[float]) -> list[float]:
    """Rates at which so many scores have a false alarm."""
    return [fpr for fpr in fprs if fpr * scores >= 1]


def _spread(scores: F64, most: int) -> F64:
    """At most so many of the scores, falling, as dense at both ends as quantiles of a Gaussian."""
    falling = np.sort(scores)[::-1]
    end = ndtri(1 / len(falling))
    ranks = np.unique(np.rint(ndtr(np.linspace(end, -end, most)) * len(falling)).astype(int))
    return np.asarray(falling[ranks[ranks < len(falling)]])


def _rates(scores: F64, thresholds: F64, doubt: float) -> tuple[F64, F64, F64]:
    """The share of scores above each threshold, and the ends of its interval, each with half of the doubt."""
    above = len(scores) - np.searchsorted(np.sort(scores), thresholds, side="right")
    low, high = clopper_pearson(above, len(scores), doubt)
    return above / len(scores), low, high

"""The equal error rate of an attacker who compares voices, with an interval.

It is that of the convex hull of the ROC curve (ROCCH), where the attacker may also choose between two thresholds at random: at
most the rate at which the curve itself crosses the diagonal, equal to it for many scores, and the same whatever the order of
equal scores (N. Brummer and E. de Villiers, The BOSARIS Toolkit, 2011).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..kernels.jit import F64, I64
from .bootstrap import Figure, draws
from .trials import Flags, Trials


def equal_error_rate(same: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """From 0 to 1, of the scores of the same speaker and of others; 0.5 is chance, more means that scores are upside down.

    ValueError if there are none of one kind, or NaN.
    """
    values = np.concatenate([np.asarray(same, np.float64).ravel(), np.asarray(other, np.float64).ravel()])
    flags = np.arange(len(values)) < np.size(same)
    return _Ranking(values, flags).rate()


def figure(trials: Trials, seed: int = 0) -> Figure:
    """The equal error rate with an interval from drawing speakers anew (trials, if nobody says who spoke).

    A trial counts as often as its speaker is drawn, a false claim of another speaker as often as both are.
    """
    ranking = _Ranking(trials.values, trials.same)
    if trials.speakers is None:
        count = len(trials.values)
        return Figure.of(ranking.rate(), [ranking.rate(drawn.astype(np.float64)) for drawn in draws(count, seed=seed)])
    claimed = trials.speakers if trials.claimed is None else trials.claimed
    names, index = np.unique(np.concatenate([trials.speakers, claimed]), return_inverse=True)
    spoke, named = np.split(index, 2)
    alone = trials.same if trials.claimed is not None else np.ones(len(spoke), np.bool_)
    repeated = [ranking.rate(_weights(drawn, spoke, named, alone)) for drawn in draws(len(names), seed=seed)]
    return Figure.of(ranking.rate(), repeated)


def _weights(drawn: I64, spoke: I64, claimed: I64, alone: Flags) -> F64:
    return np.where(alone, drawn[spoke], drawn[spoke] * drawn[claimed]).astype(np.float64)


class _Ranking:
    """Scores in order, once for all repetitions."""

    def __init__(self, values: F64, same: Flags) -> None:
        if np.isnan(values).any():
            raise ValueError(f"{int(np.isnan(values).sum())} scores are NaN: leave these trials out and say so")
        if same.all() or not same.any():
            raise ValueError("scores of one kind only: give some of the same speaker and some of others")
        self._order = np.argsort(values, kind="stable")
        ordered = values[self._order]
        self._same = same[self._order]
        self._last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(values) - 1)  # of a group of equal scores

    def rate(self, weights: F64 | None = None) -> float:
        """The equal error rate; NaN if all the weight is on one kind."""
        ordered = np.ones(len(self._order)) if weights is None else weights[self._order]
        missed = self._cumulative(np.where(self._same, ordered, 0))
        accepted = 1 - self._cumulative(np.where(self._same, 0, ordered))
        return _hull_crossing(missed, accepted)

    def _cumulative(self, weights: F64) -> F64:
        total = np.cumsum(weights)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.append(0, total[self._last]) / total[-1])


def _hull_crossing(missed: F64, accepted: F64) -> float:
    """Where the lower convex hull of the points crosses the diagonal: the ends of an edge close in on it (quickhull)."""
    if np.isnan(missed[-1]) or np.isnan(accepted[0]):
        return float("nan")
    left, right = np.array([0.0, 1.0]), np.array([1.0, 0.0])  # (accepted, missed) above and below the diagonal
    while True:
        along = right - left
        height = along[0] * (missed - left[1]) - along[1] * (accepted - left[0])
        lowest = int(np.argmin(height))
        if height[lowest] > -1e-12:
            above, below = left[1] - left[0], right[0] - right[1]
            return float((left * below + right * above)[0] / (above + below)) if above + below else float(left[0])
        point = np.array([accepted[lowest], missed[lowest]])
        if point[1] >= point[0]:
            left = point
        else:
            right = point

"""The curve of an attacker's choices: how many true and how many false claims he accepts at each threshold (ROC)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression

from ...kernels.jit import F64, I64


@dataclass(frozen=True)
class Curve:
    """Of n distinct scores, rising: how many true and false claims each has. Weights, of drawn trials, need not be whole."""

    scores: F64  # (n,)
    true: F64  # (n,)
    false: F64  # (n,)

    @classmethod
    def of(cls, true: npt.ArrayLike, false: npt.ArrayLike) -> Self:
        """Of the scores of true and of false claims; ValueError if there are none of one kind, or some are not finite."""
        kinds = [np.sort(np.asarray(values, np.float64), axis=None) for values in (true, false)]
        broken = sum(len(values) - np.count_nonzero(np.isfinite(values)) for values in kinds)
        if broken:
            raise ValueError(f"{broken} scores are NaN or infinite: leave these trials out and say so")
        if not all(len(values) for values in kinds):
            raise ValueError("scores of one kind only: give some of the same speaker and some of others")
        scores = np.sort(np.concatenate(kinds))
        scores = scores[np.append(True, scores[1:] != scores[:-1])]
        counts = [np.diff(np.append(np.searchsorted(values, scores), len(values))).astype(np.float64) for values in kinds]
        return cls(scores, *counts)

    @cached_property
    def above(self) -> tuple[F64, F64]:
        """How many false and true claims are accepted, shapes (n + 1,), from nobody to everybody: no score, the highest, ..."""
        false, true = (np.append(0, np.cumsum(counts[::-1])) for counts in (self.false, self.true))
        return false, true

    @property
    def accepted(self) -> tuple[F64, F64]:
        """`above` as shares."""
        false, true = self.above
        return false / false[-1], true / true[-1]

    @cached_property
    def blocks(self) -> I64:
        """Ends, shape (b + 1,), of the groups of scores in which pooling adjacent violators gives one share of true claims:
        the corners of the curve's convex hull, from the lowest score (M. Ayer et al., Ann. Math. Statist. 26, 1955)."""
        total = self.true + self.false
        found = isotonic_regression(self.true / total, weights=total)
        return np.asarray(found.blocks, np.int64)

    @cached_property
    def pooled(self) -> tuple[F64, F64]:
        """How many true and false claims each block has, shapes (b,)."""
        true, false = (np.add.reduceat(counts, self.blocks[:-1]) for counts in (self.true, self.false))
        return true, false

    @cached_property
    def hull(self) -> tuple[F64, F64]:
        """`accepted` at the corners of its upper convex hull, what an attacker reaches who also chooses between thresholds at
        random (F. Provost and T. Fawcett, Machine Learning 42, 2001)."""
        return Curve(np.arange(len(self.pooled[0]), dtype=np.float64), *self.pooled).accepted

    def equal_error_rate(self) -> float:
        """Where the hull has as many misses as false alarms, from 0 to 0.5 (ROCCH; N. Brummer and E. de Villiers, The BOSARIS
        Toolkit, 2011). The fewer trials, the lower it comes out: a corner is where luck has been good."""
        return _crossing(*self.hull)

    def crossing(self) -> float:
        """Where the curve itself has as many misses as false alarms, from 0 to 1: without that bias."""
        return _crossing(*self.accepted)

    def area(self) -> float:
        """Under the curve: how often a true claim scores higher than a false one, ties counting half; 0.5 is chance, less means
        that scores are upside down."""
        false, true = self.accepted
        return float(np.sum(np.diff(false) * (true[1:] + true[:-1]) / 2))

    def true_at(self, rate: float) -> float:
        """The share of true claims accepted where the share `rate`, in [0, 1], of false claims is, equal scores in part."""
        false, true = self.accepted
        last = int(np.searchsorted(false, rate, side="right")) - 1
        if last == len(false) - 1:
            return 1.0
        part = (rate - false[last]) / (false[last + 1] - false[last])
        return float(true[last] + part * (true[last + 1] - true[last]))

    def thinned(self, points: int) -> tuple[tuple[float, float], ...]:
        """Points (false, true) for a plot: the ends of the curve and, between them, evenly spaced in rank and in the logarithm
        of the rank from either end, so that small rates are as well drawn as large ones."""
        false, true = self.accepted
        steps = len(false) - 1
        near = np.geomspace(1, steps, points // 3).round().astype(np.int64)
        kept = np.unique(np.concatenate([[0, steps], near, steps - near, np.linspace(0, steps, points // 3).astype(np.int64)]))
        return tuple((float(false[i]), float(true[i])) for i in kept)

    def turned(self) -> Curve:
        """Of the scores with their signs changed."""
        return Curve(-self.scores[::-1], self.true[::-1], self.false[::-1])


def _crossing(false: F64, true: F64) -> float:
    return float(np.interp(0, true + false - 1, false))

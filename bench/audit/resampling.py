"""Curves of trials drawn anew, with replacement, the unit being who spoke (a trial, where nobody says who spoke).

Millions of trials take seconds, in bounded memory: scores become a few thousand ranks, units beyond a thousand are drawn in
groups put together at random, which leaves the spread of the sums as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...kernels.jit import F64, I64
from ..bootstrap import REPETITIONS, draws
from ..trials import Names, Trials
from .curve import Curve

RANKS = 2048
_UNITS = 1000
_FEWEST_REPETITIONS = 200
_WORK = 4e9  # additions, about 4 s: beyond it there are fewer repetitions
_ROOM = 1 << 24  # numbers held at a time: 64 MB
_DENSE = 30  # times as cheap as an addition in a sparse table is one in a dense table


def resampled(trials: Trials, curve: Curve, seed: int = 0) -> Iterator[Curve]:
    """`REPETITIONS` curves (down to 200, where that took minutes) of `trials`, whose own is `curve`, with its scores or, if
    there are more, `RANKS` of them.

    A trial counts as often as its speaker is drawn, a false claim of another speaker as often as both are.
    """
    scores = curve.scores[_ranks(curve)]
    spoke, other, units = _units(trials, seed)
    rank = np.searchsorted(scores, trials.values, side="right") - 1
    kinds = [_Kind(spoke[same], other[same], rank[same], units, len(scores)) for same in (trials.same, ~trials.same)]
    repetitions = int(np.clip(_WORK / max(kind.work for kind in kinds), _FEWEST_REPETITIONS, REPETITIONS))
    drawn = np.pad(draws(units, repetitions, seed), ((0, 0), (0, 1)), constant_values=1)  # the last: nobody
    at_once = max(1, _ROOM // max(kind.width for kind in kinds))
    for start in range(0, repetitions, at_once):
        for true, false in zip(*(kind.sums(drawn[start : start + at_once]) for kind in kinds), strict=True):
            kept = true + false > 0
            if true.any() and false.any():  # else all that is drawn is of one kind
                yield Curve(scores[kept], true[kept], false[kept])


class _Kind:
    """True claims, or false ones: how many of each pair of units have each rank."""

    def __init__(self, spoke: I64, other: I64, rank: I64, units: int, ranks: int) -> None:
        pair = spoke * (units + 1) + other
        there = np.bincount(pair, minlength=units * (units + 1)) > 0
        self._pairs = np.flatnonzero(there)
        self._units = units
        row = (np.cumsum(there) - 1)[pair]
        size = len(self._pairs) * ranks
        self._counts: Any
        if size < _ROOM and size < _DENSE * len(rank):
            self._counts = np.bincount(row * ranks + rank, minlength=size).reshape(-1, ranks).astype(np.float32)
            self.work = size / _DENSE
        else:
            self._counts = csr_array((np.ones(len(rank), np.float32), (row, rank)), shape=(len(self._pairs), ranks))
            self.work = self._counts.nnz
        self.width = len(self._pairs) + ranks

    def sums(self, drawn: I64) -> F64:
        """How many trials have each rank, shape (repetitions, ranks), where units are drawn so often."""
        spoke, other = np.divmod(self._pairs, self._units + 1)
        return np.asarray((drawn[:, spoke] * drawn[:, other]).astype(np.float32) @ self._counts, np.float64)


def _ranks(curve: Curve) -> I64:
    """Where the scores of each rank start: as many trials of either kind in each as can be."""
    if len(curve.scores) <= RANKS:
        return np.arange(len(curve.scores))
    middle = (np.cumsum(counts) / counts.sum() for counts in (curve.true, curve.false))
    share = sum(middle) * ((RANKS - 1) / 2)
    return np.append(0, np.flatnonzero(np.diff(np.floor(share))) + 1)


def _units(trials: Trials, seed: int) -> tuple[I64, I64, int]:
    """The numbers of who spoke and of who else is concerned (the number of units: nobody), and how many units there are."""
    count = len(trials.values)
    if trials.speakers is None:
        units = min(count, _UNITS)
        return _group(count, seed)[np.arange(count)], np.full(count, units), units
    spoken = Names.of(trials.speakers)
    claimed = spoken if trials.claimed is None else Names.of(trials.claimed)
    people = sorted({*spoken.present(), *claimed.present()})
    units, group = min(len(people), _UNITS), _group(len(people), seed)
    speaker, other = spoken.numbered(people), claimed.numbered(people)
    alone = trials.same | (speaker == other)
    return group[speaker], np.where(alone, units, group[other]), units


def _group(count: int, seed: int) -> I64:
    """The unit that each of so many belongs to."""
    return np.arange(count) if count <= _UNITS else np.random.default_rng(seed).permutation(count) % _UNITS

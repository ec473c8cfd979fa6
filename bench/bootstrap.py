"""How sure a figure is: an interval from drawing the speakers anew, with replacement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..kernels.jit import F64, I64

REPETITIONS = 1000
_LEVEL = 0.95


@dataclass(frozen=True)
class Figure:
    """An estimate and the ends of its 95 % interval, NaN where there is none."""

    value: float
    low: float = float("nan")
    high: float = float("nan")

    @classmethod
    def of(cls, value: float, repeated: npt.ArrayLike) -> Figure:
        """With the interval between the percentiles of what repetitions gave."""
        tail = 50 * (1 - _LEVEL)
        low, high = np.nanpercentile(np.asarray(repeated, np.float64), [tail, 100 - tail])
        return cls(float(value), float(low), float(high))


def draws(speakers: int, repetitions: int = REPETITIONS, seed: int = 0) -> I64:
    """How often each of so many speakers is drawn in each repetition, shape (repetitions, speakers)."""
    random = np.random.default_rng(seed)
    return random.multinomial(speakers, np.full(speakers, 1 / speakers), size=repetitions).astype(np.int64)


def ratio(of_speaker: Iterable[tuple[str, float, float]], seed: int = 0) -> Figure:
    """Sum over sum, as an error rate or (with 1 below) a mean; from (speaker, numerator, denominator) of each utterance."""
    sums: dict[str, F64] = defaultdict(lambda: np.zeros(2))
    for speaker, above, below in of_speaker:
        sums[speaker] += above, below
    if not sums:
        return Figure(float("nan"))
    table = np.array(list(sums.values()))
    repeated = draws(len(table), seed=seed) @ table
    return Figure.of(table[:, 0].sum() / table[:, 1].sum(), repeated[:, 0] / repeated[:, 1])

"""What phones are said, from their likelihoods: the likeliest reading so far while speech goes on, the best one at its end.

While an utterance goes on its readings compete by sound alone (`kernels/prefix.py`); when it is over, those left are weighed
anew with how likely their phones follow each other, by phonotactics.onnx, counted in the transcripts of the training speech.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources.abc import Traversable

import numpy as np

from ...kernels import prefix
from ...kernels.jit import F32
from ...models_onnx import manifest
from .phones import PHONES

WIDTH = 16  # readings that compete
WEIGHT = 0.3  # of the log likelihood of a phone after those before it: 2 % of the errors less, as with .15 to .8
_EDGE = 0  # before and after an utterance


@dataclass(frozen=True)
class Reading:
    """Phones, and the row of the utterance in which each was first thought of."""

    phones: tuple[str, ...]
    rows: tuple[int, ...]


class Reader:
    """Reads one utterance after the other."""

    def __init__(self, width: int = WIDTH, folder: Traversable | None = None) -> None:
        """width: readings that compete, 1 to 64. folder: of the graphs, None for the package's; GraphError as of any graph."""
        self._state = prefix.fresh(width)
        self._table = _table(folder)

    def read(self, likely: F32) -> Reading:
        """Further rows of log likelihoods, (n, UNITS), any number of them; the likeliest reading of all since the last end.

        ValueError, with nothing read, for rows that the memory of an utterance may not hold: 40 s and more, at WIDTH.
        """
        if not prefix.room(self._state, len(likely)):
            raise ValueError(f"{len(likely)} rows more than the utterance's memory may hold: end() it, give fewer at once")
        prefix.stream(self._state, np.ascontiguousarray(likely, np.float32))
        return self._reading(0)

    def end(self) -> Reading:
        """The reading of the whole utterance that sound and phonotactics together like best. Another utterance begins."""
        best = max(range(int(self._state[0].count)), key=self._score)
        reading = self._reading(best)
        prefix.reset(self._state)
        return reading

    def _score(self, place: int) -> float:
        units, _, total = prefix.spelled(self._state, place)
        return total + WEIGHT * self._follow(units)

    def _follow(self, units: list[int]) -> float:
        line = np.array([_EDGE, _EDGE, *units, _EDGE])
        return float(self._table[line[:-2], line[1:-1], line[2:]].sum())

    def _reading(self, place: int) -> Reading:
        units, rows, _ = prefix.spelled(self._state, place)
        return Reading(tuple(PHONES[unit] for unit in units), tuple(rows))


def _table(folder: Traversable | None) -> F32:
    """Log likelihoods [before, last, next] of phones."""
    count = len(PHONES)
    history = np.stack(np.meshgrid(np.arange(count), np.arange(count), indexing="ij"), -1).reshape(-1, 2)
    likely = manifest.load("phonotactics", folder).run({"history": history})["likely"]
    return np.asarray(likely.reshape(count, count, count), np.float32)

"""Which English words in small letters are names: where no capital says so, their vectors do.

A logistic regression on GloVe: names of the lists against ordinary words, fitted at load (14,000 words, 51 weights), since
what stands near "Boston" in six billion words is places. With capitals put back by it, spaCy finds 133 of 160 names, places and
organisations that no list has in sentences in small letters; as they stand, 51.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import numpy.typing as npt

from ...kernels.jit import F32
from . import pool_en
from .ordinary import ordinary
from .pronounce import in_dictionary
from .vectors import vectors

_ORDINARY, _FORMED = 20_000, 60_000  # of the commonest words, where ordinary ones and those of an ending are taken from
_ENDING = re.compile(r"(ed|ing|ly|ness|tions?|ous|less|ful|[ai]ble|ers|ments?|ity|ive|ish)$")
_STEPS, _PENALTY = 12, 0.1


class ProperNouns:
    """Tells names from other words. Read-only."""

    def __init__(self) -> None:
        """Raises Unusable where the vectors are missing, or the dictionary."""
        self._vectors = vectors()
        lists = pool_en.FIRST_NAMES, pool_en.SURNAMES, pool_en.PLACES, pool_en.ORGANISATIONS
        self._listed = {entry.lower() for entries in lists for entry in entries if " " not in entry}
        common = self._vectors.words[:_FORMED]
        others = {word for word in common[:_ORDINARY] if ordinary(word)}
        others |= {word for word in common if word.isalpha() and _ENDING.search(word) and in_dictionary(word)}
        self._weights = _fitted(self._vectors.stack(sorted(self._listed)), self._vectors.stack(sorted(others - self._listed)))

    def __call__(self, word: str) -> bool:
        """For a word in small letters."""
        if word in self._listed:
            return True
        at = self._vectors.of(word)
        return at is not None and not ordinary(word) and bool(at @ self._weights[:-1] + self._weights[-1] > 0)


def _fitted(names: F32, others: F32) -> npt.NDArray[np.float64]:
    """Weights of a logistic regression, the constant last, by Newton's method; both sides weigh the same."""
    x = np.column_stack((np.concatenate((names, others)), np.ones(len(names) + len(others)))).astype(np.float64)
    is_name = np.arange(len(x)) < len(names)
    share = np.where(is_name, len(x) / 2 / len(names), len(x) / 2 / len(others))
    weights = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-(x @ weights)))
        slope = x.T @ (share * (likely - is_name)) + _PENALTY * weights
        bend = (x * (share * likely * (1 - likely))[:, None]).T @ x + _PENALTY * np.eye(len(weights))
        weights -= np.linalg.solve(bend, slope)
    return weights


@cache
def proper_nouns() -> ProperNouns:
    """The one of this process. Raises Unusable where packages are missing."""
    return ProperNouns()

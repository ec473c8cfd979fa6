"""Two figures with the names of the law: can recordings of one person be linked, can one person be singled out?

They are the criteria of the Article 29 Working Party's Opinion 05/2014 on Anonymisation Techniques as N. Vauquier, B. M. L.
Srivastava, S. A. Hosseini and E. Vincent measure them ("Legally validated evaluation framework for voice anonymization",
Interspeech 2025; package `voice-anonymization-legal-eval`), with the CNIL's agreement. Here a conversation is one test.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ...kernels.jit import F64, I64
from ..bootstrap import Figure, ratio
from ..trials import Names, Trials

_CALIBRATION = 9  # recordings of a speaker that set the threshold, at most
_FOLDS = 5  # draws of the test recordings
FEWEST = 2  # recordings of a speaker: one to test, one to set the threshold with


@dataclass(frozen=True)
class Linking:
    """How often a recording's own speaker scores highest among so many `candidates`; 1/candidates is chance."""

    rate: Figure
    candidates: int


@dataclass(frozen=True)
class Singling:
    """How often a threshold, set for one in N recordings, picks exactly one of N `speakers`. A predicate that knows nothing of
    them gets 1/e = 37 %; more is a risk."""

    rate: Figure
    speakers: int


@dataclass(frozen=True)
class Grid:
    """Scores of every test, shape (m,), against every enrolled speaker, shape (k,); NaN where there is no trial."""

    scores: F64  # (k, m)
    speakers: I64  # (m,) who spoke: the row of the enrolled speaker, -1 if he is not enrolled
    names: tuple[str, ...]  # (k,)

    @classmethod
    def of(cls, trials: Trials) -> Grid | None:
        """None where nobody says which tests, speakers and claims the trials are of. Equal trials: the higher score counts."""
        if trials.speakers is None or trials.claimed is None or trials.tests is None:
            return None
        claimed, spoken, recordings = Names.of(trials.claimed), Names.of(trials.speakers), Names.of(trials.tests)
        names = claimed.present()
        speaker = spoken.numbers.astype(np.int64) * len(recordings.names) + recordings.numbers
        tests, first, column = np.unique(speaker, return_index=True, return_inverse=True)
        scores = np.full((len(names), len(tests)), -np.inf)
        np.maximum.at(scores, (claimed.numbered(names), column), trials.values)
        return cls(np.where(np.isneginf(scores), np.nan, scores), spoken.numbered(names)[first], tuple(names))


def linking(grid: Grid, candidates: int | None = None, seed: int = 0) -> Linking | None:
    """Among all the enrolled speakers of a test, or so many drawn of them with its own, exactly: none of the m who score higher
    of n others is among k drawn with probability C(n - m, k)/C(n, k). Equal scores are the attacker's. None: no such test."""
    own = grid.scores[grid.speakers, np.arange(len(grid.speakers))]
    rows = np.flatnonzero((grid.speakers >= 0) & ~np.isnan(own))
    if not len(rows):
        return None
    others = (~np.isnan(grid.scores[:, rows])).sum(0) - 1
    higher = (grid.scores[:, rows] > own[rows]).sum(0)
    least = int(others.min()) + 1
    drawn = (candidates or least) - 1
    if not 0 <= drawn < least:
        raise ValueError(f"candidates={candidates}: give 1 to {least}, the enrolled speakers of every test")
    chance = np.array([_missed(int(n), int(m), drawn) for n, m in zip(others, higher, strict=True)])
    told = [(grid.names[grid.speakers[row]], float(p), 1.0) for row, p in zip(rows, chance, strict=True)]
    return Linking(ratio(told, seed), drawn + 1)


def _missed(others: int, higher: int, drawn: int) -> float:
    steps = np.arange(drawn)
    return float(np.prod(np.maximum(others - higher - steps, 0) / (others - steps)))


def singling(grid: Grid, seed: int = 0) -> Singling | None:
    """Over all enrolled speakers who have `FEWEST` tests and more. None if fewer than two have.

    A fold draws one test of each speaker, and up to nine others that set thresholds: midway between the scores number M and
    M + 1, for M calibration recordings of the enrolled speaker, who is one of the N.
    """
    random = np.random.default_rng(seed)
    by_speaker: dict[int, list[int]] = defaultdict(list)
    for column, speaker in enumerate(grid.speakers):
        by_speaker[int(speaker)].append(column)
    heard = {s: np.array(columns) for s, columns in by_speaker.items() if s >= 0 and len(columns) >= FEWEST}
    told: list[tuple[str, float, float]] = []
    fewest = len(heard)
    for _ in range(_FOLDS):
        order = {s: random.permutation(columns)[: _CALIBRATION + 1] for s, columns in heard.items()}
        for s in heard:
            among = [other for other in heard if not np.isnan(grid.scores[s, order[other]]).any()]
            if s not in among or len(among) < 2:
                continue
            fewest = min(fewest, len(among))
            limit = _threshold(grid.scores[s, np.concatenate([order[other][1:] for other in among])], len(order[s]) - 1)
            picked = np.count_nonzero(grid.scores[s, [order[other][0] for other in among]] > limit)
            told.append((grid.names[s], float(picked == 1), 1.0))
    return Singling(ratio(told, seed), fewest) if told else None


def _threshold(scores: F64, above: int) -> float:
    ordered = np.sort(scores)[::-1]
    return float((ordered[above - 1] + ordered[above]) / 2)

"""What tells speakers apart in vectors of their speech, learnt from other speakers: linear discriminant analysis.

Of McAdams, an attacker who compares its projections by the cosine has an EER of 9 % (two encoders' embeddings joined), without
it 25 %. `plda` goes on from the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from ..kernels.jit import F64

PRINCIPAL = 120  # dimensions before the analysis ...
DISCRIMINANT = 40  # ... and after, at most
_SHRINK = 0.1  # of the scatter within speakers towards a multiple of the identity


class Discriminant:
    """A projection in which vectors of one speaker scatter alike in each direction, and speakers as far as can be."""

    def __init__(self, values: F64, speakers: Sequence[str]) -> None:
        """Learn from `values`, shape (n, d), of these speakers; those heard once count for the mean and the axes only.

        ValueError if fewer than three are heard twice or more.
        """
        self._mean, self._spread = values.mean(0), values.std(0) + 1e-6
        x = (values - self._mean) / self._spread
        _, _, axes = np.linalg.svd(x, full_matrices=False)
        self._axes = axes[:PRINCIPAL].T
        several = heard_twice(x @ self._axes, speakers)
        whiten = whitening(several)
        means = np.cov(np.array([rows.mean(0) for rows in several.values()]).T)
        _, directions = np.linalg.eigh(whiten.T @ means @ whiten)
        kept = min(DISCRIMINANT, len(several) - 1)
        self._project = whiten @ directions[:, ::-1][:, :kept]

    def __call__(self, values: F64) -> F64:
        """Vectors, shape (n, d), seen so: shape (n, directions)."""
        return np.asarray((values - self._mean) / self._spread @ self._axes @ self._project)


def heard_twice(rows: F64, speakers: Sequence[str]) -> dict[str, F64]:
    """The rows, shape (n, d), of each speaker who has two or more. ValueError if fewer than three have."""
    groups = defaultdict(list)
    for row, speaker in zip(rows, speakers, strict=True):
        groups[speaker].append(row)
    several = {speaker: np.array(own) for speaker, own in groups.items() if len(own) > 1}
    if len(several) < 3:
        raise ValueError(f"{len(several)} speakers with two utterances or more: give three or more, better fifty")
    return several


def whitening(groups: Mapping[str, F64]) -> F64:
    """A projection, shape (d, d), in which what varies within a speaker has the variance 1 in each direction."""
    centred = np.concatenate([rows - rows.mean(0) for rows in groups.values()])
    within = centred.T @ centred / (len(centred) - len(groups))
    within = (1 - _SHRINK) * within + _SHRINK * np.trace(within) / len(within) * np.eye(len(within))
    scatter, vectors = np.linalg.eigh(within)
    return np.asarray(vectors / np.sqrt(scatter))

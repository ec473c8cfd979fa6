"""How many times likelier two vectors are if one speaker said both: probabilistic linear discriminant analysis.

A vector is its speaker's plus what varies from one utterance to the next, both Gaussian (S. Ioffe, ECCV 2006; P. Kenny, Odyssey
2010), learnt from other speakers; vectors have one length (D. Garcia-Romero and C. Espy-Wilson, Interspeech 2011).

Of McAdams, an attacker with the vectors of two encoders has an EER of 7.5 % by this and 8.3 % by `discriminant` (mean of 28
speakers who are unheard and three times 19 or 20 left out of the others; learnt from 20 utterances each), 21.8 % by the cosine.
Normalising scores by a cohort was no better (7.1 to 8.0 %), nor was leaving out what differs between corpora (7.5 %).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels.jit import F64
from .attackers import normed
from .discriminant import PRINCIPAL, heard_twice, whitening


class Plda:
    """Learnt from vectors, shape (n, d), of these speakers; those heard once count for the mean and the axes only.

    ValueError if fewer than three are heard twice or more.
    """

    def __init__(self, values: F64, speakers: Sequence[str]) -> None:
        self._mean, self._spread = values.mean(0), values.std(0) + 1e-6
        x = (values - self._mean) / self._spread
        _, _, axes = np.linalg.svd(x, full_matrices=False)
        self._axes = axes[:PRINCIPAL].T
        several = heard_twice(normed(x @ self._axes), speakers)
        whiten = whitening(several)
        means = np.array([rows.mean(0) for rows in several.values()]) @ whiten
        means -= means.mean(0)
        noise = np.mean([1 / len(rows) for rows in several.values()])  # of these means, where each vector has 1
        between, directions = np.linalg.eigh(means.T @ means / len(means) - noise * np.eye(len(whiten)))
        kept = between > 0
        self._between, self._project = between[kept], whiten @ directions[:, kept]

    def __call__(self, enrolled: F64, trials: F64) -> F64:
        """Natural logarithms of the ratio of each of `enrolled`, shape (n, d), and each of `trials`, (m, d): shape (n, m)."""
        a, b = self._seen(enrolled), self._seen(trials)
        total = 1 + self._between
        rest = total**2 - self._between**2
        alone, together = 0.5 * (1 / total - total / rest), self._between / rest
        constant = 0.5 * float(np.log(total**2 / rest).sum())
        return np.asarray((a**2 @ alone)[:, np.newaxis] + b**2 @ alone + a * together @ b.T + constant)

    def _seen(self, values: F64) -> F64:
        """In the directions in which speakers differ, at the length that vectors have on average."""
        x = normed((values - self._mean) / self._spread @ self._axes) @ self._project
        scale = np.sqrt(1 + self._between)
        return np.asarray(normed(x / scale) * np.sqrt(len(scale)) * scale)

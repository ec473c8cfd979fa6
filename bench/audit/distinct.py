"""Whether people can still be told from one another, and from themselves before: gain of voice distinctiveness, and
de-identification (P.-G. Noe et al., "Speech pseudonymisation assessment using voice similarity matrices", Interspeech 2020).

The similarity of two speakers is the mean, over pairs of their utterances, of the logarithm of the likelihood ratio that one
person said both, through a sigmoid. Here the ratio is the cosine of embeddings, calibrated by logistic regression on the
original speech at hand, where the paper has a PLDA trained on other speakers: a set's gain compares with another's only by the
same encoder. Speakers are compared within their corpus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ...kernels.jit import F64, I64
from ..attackers import Voices, corpus, normed
from ..bootstrap import Figure, draws
from ..trials import Flags
from .logistic import Logistic


@dataclass(frozen=True)
class Distinctiveness:
    gain: Figure  # dB: 0 as before, below 0 voices are more alike than the speakers were
    deidentification: Figure  # 1: nothing links a voice with its speaker; 0: as alike as two of his recordings


def distinctiveness(original: Voices, anonymized: Voices, seed: int = 0) -> Distinctiveness:
    """Of the same utterances, in the same order. ValueError if they differ, or fewer than two speakers of a corpus have two
    utterances each."""
    if list(original.speakers) != list(anonymized.speakers):
        raise ValueError("the utterances of the two differ: give vectors of the same ones, in the same order")
    speakers = np.array(original.speakers)
    names, index = np.unique(speakers, return_inverse=True)
    several = np.bincount(index) > 1
    corpora = np.array([corpus(name) for name in names])
    near = (corpora[:, np.newaxis] == corpora) & several & several[:, np.newaxis]
    if not (near & ~np.eye(len(names), dtype=bool)).any():
        raise ValueError("fewer than two speakers of one corpus with two utterances each: give more")
    before, after = normed(original.vectors), normed(anonymized.vectors)
    calibration = _calibration(before, index, near)
    oo, pp, op = (_similarity(a @ b.T, index, calibration) for a, b in ((before, before), (after, after), (before, after)))
    drawn = np.concatenate([np.ones((1, len(names))), draws(len(names), seed=seed)]) * several
    o, p, x = (_dominance(m, near, drawn) for m in (oo, pp, op))
    with np.errstate(divide="ignore", invalid="ignore"):
        gain, hidden = 10 * np.log10(p / o), 1 - x / o
    return Distinctiveness(Figure.of(gain[0], gain[1:]), Figure.of(hidden[0], hidden[1:]))


def _calibration(vectors: F64, index: I64, near: Flags) -> Logistic:
    first, second = np.triu_indices(len(vectors), 1)
    kept = near[index[first], index[second]]
    cosines = np.einsum("ij,ij->i", vectors[first[kept]], vectors[second[kept]])
    return Logistic(cosines[:, np.newaxis], (index[first] == index[second])[kept])


def _similarity(cosines: F64, index: I64, calibration: Logistic) -> F64:
    """Of each two speakers; an utterance is not compared with itself, nor with what was made of it."""
    ratios = calibration(cosines.reshape(-1, 1)).reshape(cosines.shape)
    np.fill_diagonal(ratios, 0.0)
    member = (index == np.arange(index.max() + 1)[:, np.newaxis]).astype(np.float64)
    counts = member @ (1 - np.eye(len(index))) @ member.T
    return np.asarray(expit(member @ ratios @ member.T / np.maximum(counts, 1)))


def _dominance(similarity: F64, near: Flags, drawn: F64) -> F64:
    """How far, of each draw of speakers, the mean of the diagonal is from the mean beside it; NaN where nothing is beside."""
    beside = near & ~np.eye(len(near), dtype=bool)
    with np.errstate(invalid="ignore"):
        own = drawn @ np.diag(similarity) / drawn.sum(1)
        others = np.einsum("ri,ij,rj->r", drawn, similarity * beside, drawn) / np.einsum("ri,ij,rj->r", drawn, beside, drawn)
    return np.asarray(np.abs(own - others))

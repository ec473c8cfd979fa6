"""Who attacks, and what he knows. All compare the voice of a trial with that of an enrolled speaker by the cosine.

ignorant       enrols original speech
lazy-informed  anonymizes his enrolments too, in other voices
semi-informed  also learns from anonymized speech of other speakers what still tells people apart

Trials are against every enrolled speaker of the same corpus: other corpora differ by their rooms and microphones alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ..kernels.jit import F64
from .discriminant import Discriminant
from .trials import Trials


@dataclass(frozen=True)
class Voices:
    """A vector for each utterance, shape (n, d), and its speaker, as "corpus:name"."""

    vectors: F64
    speakers: Sequence[str]

    def with_(self, other: Self) -> Voices:
        """Both vectors of each utterance in one, shape (n, d + e)."""
        if list(self.speakers) != list(other.speakers):
            raise ValueError("the utterances of the two differ: give vectors of the same ones, in the same order")
        return Voices(np.concatenate([self.vectors, other.vectors], axis=1), self.speakers)


def compare(enrolled: Voices, trials: Voices) -> Trials:
    """Of an attacker who has not learnt: ignorant or lazy-informed, by what is `enrolled`."""
    speakers = np.array(enrolled.speakers)
    names = sorted(set(enrolled.speakers))
    models = normed(np.array([normed(enrolled.vectors[speakers == name]).mean(0) for name in names]))
    likeness = normed(trials.vectors) @ models.T
    row, column = np.nonzero([[corpus(t) == corpus(name) for name in names] for t in trials.speakers])
    return Trials.between(likeness[row, column], [trials.speakers[int(i)] for i in row], [names[int(i)] for i in column])


def learnt(known: Voices, enrolled: Voices, trials: Voices) -> Trials:
    """Of the semi-informed attacker, who has learnt from `known`; ValueError if he knows a speaker whom he attacks."""
    both = set(known.speakers) & (set(enrolled.speakers) | set(trials.speakers))
    if both:
        raise ValueError(f"{len(both)} speakers are both learnt from and attacked, as {min(both)}: give others to learn from")
    seen = Discriminant(known.vectors, known.speakers)
    return compare(Voices(seen(enrolled.vectors), enrolled.speakers), Voices(seen(trials.vectors), trials.speakers))


def corpus(speaker: str) -> str:
    return speaker.split(":")[0]


def normed(vectors: F64) -> F64:
    """Each vector, shape (..., d), scaled to norm 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))

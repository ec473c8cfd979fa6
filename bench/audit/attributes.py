"""Attackers of an attribute of the speaker, such as gender, accent or age group (VoxGuard, arXiv 2509.18413).

relaxed: does this recording show the class? strict: of two recordings of the same words, by two people alike in all else that
is known, are both of one class? Each attacker has learnt from other speakers how much a recording leans to a class:

cosine          how much nearer it is to the mean vector of the class than to those of the others
differences     log odds of a logistic regression on the squared differences of its vector and the mean vector of a class
concatenations  likewise on both vectors and their product, without which a linear model could not compare them

For two recordings the question is whether they lean to the same class. Of McAdams, gender is found with an EER of 15, 14 and
12 % (vectors of `dvector`, 28 speakers, learnt from 267 others).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...kernels.jit import F64, I64
from ..attackers import Voices, normed
from ..trials import Trials
from .logistic import Logistic

ATTACKS = ("cosine", "differences", "concatenations")
_PENALTY = 30.0  # of 3 to 300, all of which give the same EER within its interval
_LEAST = 2  # known speakers of a class


@dataclass(frozen=True)
class Labelled:
    """Utterances whose class is known."""

    voices: Voices
    classes: Sequence[str]
    rest: Sequence[str] = ()  # all else that is known, of words and speaker, in one string; "": not told. The strict form's

    def __post_init__(self) -> None:
        n = len(self.voices.speakers)
        if len(self.classes) != n or (self.rest and len(self.rest) != n):
            raise ValueError(f"{n} voices, {len(self.classes)} classes, {len(self.rest)} texts: give one of each for each")


def relaxed(attack: str, known: Labelled, trials: Labelled) -> Trials:
    """Each recording against each class; of two classes against the first alone, as the other's scores would be the same.

    ValueError for speakers who are known and attacked, or fewer than two known speakers of a class, or two classes.
    """
    classes, leaning = _leaning(attack, known, trials)
    claimed = range(1 if len(classes) == 2 else len(classes))
    labels = np.array(trials.classes)
    return Trials(
        np.concatenate([leaning[:, c] for c in claimed]),
        np.concatenate([labels == classes[c] for c in claimed]),
        [name for _ in claimed for name in trials.voices.speakers],
        None,
        [f"{i}" for _ in claimed for i in range(len(labels))],
    )


def strict(attack: str, known: Labelled, trials: Labelled) -> Trials:
    """Pairs of recordings that are alike in `rest`, of two people; of who is in a pair, the first is the unit of intervals.

    ValueError as for `relaxed`, and if there is no pair.
    """
    first, second = _pairs(trials)
    _, leaning = _leaning(attack, known, trials)
    labels = np.array(trials.classes)
    values = np.einsum("ij,ij->i", leaning[first], leaning[second])
    return Trials(values, labels[first] == labels[second], [trials.voices.speakers[i] for i in first.tolist()])


def _leaning(attack: str, known: Labelled, trials: Labelled) -> tuple[list[str], F64]:
    """The classes, and how much each recording leans to each, shape (n, classes): less the mean of how much to the others."""
    classes = _check(known, trials)
    x, labels = known.voices.vectors, np.array(known.classes)
    mean, spread = x.mean(0), x.std(0) + 1e-9
    x, y = (x - mean) / spread, (trials.voices.vectors - mean) / spread
    centres = np.array([_centre(x[labels == c], np.array(known.voices.speakers)[labels == c]) for c in classes])
    if attack == "cosine":
        likeness = normed(y) @ normed(centres).T
    else:
        features = {"differences": _differences, "concatenations": _concatenations}[attack]
        pairs = [features(x, centre) for centre in centres]
        told = Logistic(np.concatenate(pairs), np.concatenate([labels == c for c in classes]), _PENALTY)
        likeness = np.stack([told(features(y, centre)) for centre in centres], axis=1)
    others = (likeness.sum(1, keepdims=True) - likeness) / (len(classes) - 1)
    return classes, np.asarray(likeness - others)


def _check(known: Labelled, trials: Labelled) -> list[str]:
    """The classes."""
    both = set(known.voices.speakers) & set(trials.voices.speakers)
    if both:
        raise ValueError(f"{len(both)} speakers are both learnt from and attacked, as {min(both)}: give others to learn from")
    classes = sorted(set(known.classes))
    people = {c: len({s for s, own in zip(known.voices.speakers, known.classes, strict=True) if own == c}) for c in classes}
    lacking = [c for c in {*classes, *trials.classes} if people.get(c, 0) < _LEAST]
    if lacking:
        raise ValueError(
            f"{people.get(min(lacking), 0)} known speakers of class {min(lacking)!r}: give {_LEAST} or more of each"
        )
    if len(classes) < 2:
        raise ValueError(f"{len(classes)} classes: give known speakers of two or more")
    return classes


def _centre(x: F64, speakers: npt.NDArray[np.str_]) -> F64:
    """The mean vector, in which each speaker counts the same."""
    return np.asarray(np.mean([x[speakers == s].mean(0) for s in np.unique(speakers)], axis=0))


def _pairs(trials: Labelled) -> tuple[I64, I64]:
    if not trials.rest:
        raise ValueError("it is not told which recordings are alike in words and all else: the strict form needs that")
    rest, speakers = np.array(trials.rest), np.array(trials.voices.speakers)
    first, second = np.triu_indices(len(rest), 1)
    kept = (rest[first] == rest[second]) & (rest[first] != "") & (speakers[first] != speakers[second])
    if not kept.any():
        raise ValueError("no two recordings of the same words, by speakers alike in all else that is known")
    return first[kept], second[kept]


def _differences(x: F64, centre: F64) -> F64:
    return np.asarray((x - centre) ** 2)


def _concatenations(x: F64, centre: F64) -> F64:
    return np.concatenate([x, np.broadcast_to(centre, x.shape), x * centre], axis=1)

"""How well the content channel alone tells speakers apart.

The attacker takes statistics of each utterance (mean, spread and mean change of every class), learns by linear discriminant
analysis on other speakers' utterances what differs between speakers, and compares trials with enrolments by the cosine. An
equal error rate of 50 % is chance; the words and the speaking rate alone give 36 %.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from ...kernels.jit import F64
from .content import channel
from .evaluate import run
from .packs import Pack
from .student import Student

_PRINCIPAL = 120  # dimensions before the analysis ...
_DISCRIMINANT = 40  # ... and after
_SHRINK = 0.1  # of the scatter within speakers towards a multiple of the identity
_SHORTEST = 100  # frames


@dataclass(frozen=True)
class Statistics:
    """Utterances of one pack: names, speakers, and a row of numbers each."""

    utterances: list[str]
    speakers: list[str]
    values: F64


def statistics(student: Student, pack: Pack, source: str = "") -> Statistics:
    """Of the frames in which the channel says speech."""
    names: list[str] = []
    speakers: list[str] = []
    values: list[F64] = []
    for rows, outputs in run(student, pack, source):
        content = channel(outputs)
        for b, row in enumerate(rows):
            frames = content[b, : row.frames]
            speech = frames[frames[:, 0] < 0.5]  # class 0 is silence
            if row.frames < _SHORTEST or len(speech) < _SHORTEST // 2:
                continue
            change = (frames[1:] - frames[:-1]).abs().mean(0)
            values.append(torch.cat((speech.mean(0), speech.std(0), change)).double().numpy())
            names.append(row.utterance)
            speakers.append(row.speaker)
    return Statistics(names, speakers, np.array(values))


def attack(known: Statistics, unknown: Statistics, enrolled: frozenset[str]) -> float:
    """Equal error rate, 0 to 1, of the attacker who has learnt from `known`, for the speakers of `unknown`.

    enrolled: names of utterances that enrol their speaker; the others are trials against every speaker of the same corpus.
    """
    project = _Discriminant(known)
    vectors = project(unknown.values)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    models: dict[str, list[F64]] = defaultdict(list)
    for name, speaker, vector in zip(unknown.utterances, unknown.speakers, vectors, strict=True):
        if name in enrolled:
            models[speaker].append(vector)
    same: list[float] = []
    other: list[float] = []
    for name, speaker, vector in zip(unknown.utterances, unknown.speakers, vectors, strict=True):
        for claimed, enrolments in models.items():
            if name not in enrolled and claimed.split(":")[0] == speaker.split(":")[0]:
                (same if claimed == speaker else other).append(float(vector @ np.mean(enrolments, axis=0)))
    return equal_error_rate(same, other)


def equal_error_rate(same: Sequence[float], other: Sequence[float]) -> float:
    """Where as many of `same` fall below the threshold as of `other` above it; higher scores mean the same speaker."""
    scores = np.concatenate([same, other])
    target = np.concatenate([np.ones(len(same)), np.zeros(len(other))])[np.argsort(scores, kind="stable")]
    missed = np.concatenate([[0], np.cumsum(target)]) / max(len(same), 1)
    accepted = 1 - np.concatenate([[0], np.cumsum(1 - target)]) / max(len(other), 1)
    at = int(np.argmin(np.abs(missed - accepted)))
    return float((missed[at] + accepted[at]) / 2)


class _Discriminant:
    """The projection that separates the speakers of `known` best."""

    def __init__(self, known: Statistics) -> None:
        x = known.values
        self._mean, self._spread = x.mean(0), x.std(0) + 1e-6
        x = (x - self._mean) / self._spread
        _, _, axes = np.linalg.svd(x, full_matrices=False)
        self._axes = axes[:_PRINCIPAL].T
        x = x @ self._axes
        groups = defaultdict(list)
        for row, speaker in zip(x, known.speakers, strict=True):
            groups[speaker].append(row)
        several = [np.array(rows) for rows in groups.values() if len(rows) > 1]
        centred = np.concatenate([rows - rows.mean(0) for rows in several])
        within = centred.T @ centred / (len(centred) - len(several))
        within = (1 - _SHRINK) * within + _SHRINK * np.trace(within) / len(within) * np.eye(len(within))
        between = np.cov(np.array([rows.mean(0) for rows in several]).T)
        values, vectors = np.linalg.eigh(within)
        whiten = vectors / np.sqrt(values)
        _, directions = np.linalg.eigh(whiten.T @ between @ whiten)
        self._project = whiten @ directions[:, ::-1][:, : min(_DISCRIMINANT, len(several) - 1)]

    def __call__(self, x: F64) -> F64:
        return np.asarray((x - self._mean) / self._spread @ self._axes @ self._project)

"""Attackers of a speaker, by what they know: how alike each finds every enrolment and every trial.

ignorant             enrols original speech and compares by the cosine
lazy-informed        anonymizes his enrolments too, in other voices
semi-informed        also learns from anonymized speech of other speakers what still tells people apart: a discriminant
fine-tuned-informed  likewise: likelihood ratios of a model of voices (PLDA), or a network adapted to anonymized speech (torch)
inverting            knows the method, tries its parameters and undoes it
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...kernels.jit import F64
from ..condition import Condition
from ..discriminant import Discriminant
from ..plda import Plda
from . import inverted
from .material import BOTH, Material, Part, Side, laid_out
from .scored import Likeness, cosine

IGNORANT, LAZY, SEMI, INVERTING = "ignorant", "lazy-informed", "semi-informed", "inverting"
PLDA = "fine-tuned-informed (PLDA)"
NETWORK, NETWORK_PLDA = "fine-tuned-informed (network)", "fine-tuned-informed (network, PLDA)"

KNOWS = {
    IGNORANT: "has original speech of the speakers, and does not know that the trials are anonymized",
    LAZY: "knows the method, and anonymizes the speakers' enrolments with it in voices of his own draw",
    SEMI: "as lazy-informed, and has learnt (linear discriminant analysis) from anonymized speech of other speakers",
    PLDA: "as lazy-informed, and has learnt a model of voices (PLDA) from anonymized speech of other speakers",
    NETWORK: "as lazy-informed, and has adapted a speaker encoder (a network) to anonymized speech of other speakers",
    NETWORK_PLDA: "the same, and has learnt a model of that network's vectors (PLDA) from the same speech",
}
_ORIGINALS = {
    IGNORANT: "has original speech of the speakers, and the trials are original too: the baseline",
    SEMI: "the baseline, having learnt (linear discriminant analysis) from original speech of other speakers",
    PLDA: "the baseline, having learnt a model of voices (PLDA) from original speech of other speakers",
}

_ATTACKED: tuple[Part, Part] = ("enrol", "trial")

Compare = Callable[[F64, F64], F64]  # vectors (n, d) and (m, d) to likeness (n, m)
Learner = Callable[[F64, Sequence[str]], Compare]


@dataclass(frozen=True)
class Likened:
    """What one attacker finds alike, of trials and (what sets his threshold) of original trials against original enrolments."""

    attacker: str
    knows: str
    encoder: str
    trials: Likeness
    originals: Likeness | None
    notes: tuple[str, ...] = ()


def attackers(material: Material, original: Side, side: Side | None) -> Iterator[Likened]:
    """All who need no torch, on the original speech (`side` None) or on anonymized speech."""
    knows = _ORIGINALS if side is None else KNOWS
    heard = original if side is None else side
    for encoder in heard.vectors:
        before, after = original.vectors[encoder], heard.vectors[encoder]
        plain = _whole(cosine(before["enrol"], before["trial"]))
        if side is None:
            yield Likened(IGNORANT, knows[IGNORANT], encoder, plain, None)
        else:
            yield Likened(IGNORANT, knows[IGNORANT], encoder, _whole(cosine(before["enrol"], after["trial"])), plain)
            yield Likened(LAZY, knows[LAZY], encoder, _whole(cosine(after["enrol"], after["trial"])), plain)
        for name, learner in ((SEMI, _discriminant), (PLDA, Plda)):
            yield from learnt(material, original, heard, encoder, name, knows[name], learner, anonymized=side is not None)


def learnt(
    material: Material, original: Side, side: Side, encoder: str, name: str, knows: str, learner: Learner, anonymized: bool
) -> Iterator[Likened]:
    """An attacker who learns from the known speech of `side`; nobody, if there is too little of it."""
    folds = material.protocol.folds
    if not folds:
        return
    after, before = side.vectors[encoder], original.vectors[encoder]
    trials = np.full((1, len(after["enrol"]), len(after["trial"])), np.nan, np.float32)
    originals = trials.copy()
    taught = 0
    for fold in folds:
        names = {r.utterance for r in fold.known}
        rows = [
            i for i, r in enumerate(material.parts["known"]) if r.utterance in names and not np.isnan(after["known"][i]).any()
        ]
        try:
            compare = learner(after["known"][rows], [material.parts["known"][i].speaker for i in rows])
        except ValueError:
            continue
        taught += 1
        for table, vectors in ((trials, after), (originals, before)):
            _fill(table[0], vectors, material, fold.speakers, compare)
    if taught:
        notes = () if taught == len(folds) else (f"learnt for {taught} of {len(folds)} halves only: too few others",)
        yield Likened(name, knows, encoder, trials, originals if anonymized else None, notes)


def inverting(material: Material, original: Side, side: Side, condition: Condition) -> Iterator[Likened]:
    """Who undoes `condition`; nobody, where it has no inverse."""
    if not inverted.undoings(condition):
        return
    there = [sound for sound in side.sounds["trial"] if sound is not None]
    rows = [i for i, sound in enumerate(side.sounds["trial"]) if sound is not None]
    undone = material.embedded.undone(there, condition)
    if len(undone) > 1:
        undone = {**undone, BOTH: np.concatenate(list(undone.values()), axis=2)}
    for encoder, candidates in undone.items():
        enrolled = original.vectors[encoder]["enrol"]
        trials = np.full((len(candidates), len(enrolled), len(side.sounds["trial"])), np.nan, np.float32)
        for k, vectors in enumerate(candidates):
            trials[k][:, rows] = cosine(enrolled, vectors)
        plain = _whole(cosine(enrolled, original.vectors[encoder]["trial"]))
        knows = f"has original speech of the speakers, knows the method {condition.method}, undoes it with {len(candidates)} "
        knows += f"parameters and keeps the best for each claim; {inverted.how(condition)}"
        yield Likened(INVERTING, knows, encoder, trials, plain)


def network(
    material: Material, original: Side, side: Side, folder: Path, seed: int, say: Callable[[str], None]
) -> Iterator[Likened]:
    """Who adapts a network, for each fold, and compares its vectors by the cosine or by PLDA. ValueError without torch."""
    from .adapted import adapt

    folds, known = material.protocol.folds, material.parts["known"]
    shape = 1, len(side.sounds["enrol"]), len(side.sounds["trial"])
    tables = {
        name: (np.full(shape, np.nan, np.float32), np.full(shape, np.nan, np.float32)) for name in (NETWORK, NETWORK_PLDA)
    }
    for number, fold in enumerate(folds):
        names = {r.utterance for r in fold.known}
        heard = [(r.speaker, s) for r, s in zip(known, side.sounds["known"], strict=True) if r.utterance in names and s]
        encoder = adapt([(who, s.samples()) for who, s in heard], folder / f"fold-{number}", seed=seed, say=say)
        taught = material.embedded.by(encoder, encoder.key, [s for _, s in heard])
        there = np.asarray(~np.isnan(taught).any(1))
        plda = Plda(taught[there], [who for (who, _), good in zip(heard, there, strict=True) if good])
        for i, its in enumerate((side, original)):
            vectors: dict[Part, F64] = {}
            for part in _ATTACKED:
                sounds = [s for s in its.sounds[part] if s is not None]
                vectors |= laid_out({part: its.sounds[part]}, material.embedded.by(encoder, encoder.key, sounds))
            for name, compare in ((NETWORK, cosine), (NETWORK_PLDA, plda)):
                _fill(tables[name][i][0], vectors, material, fold.speakers, compare)
    if folds:
        for name, (trials, originals) in tables.items():
            yield Likened(name, KNOWS[name], "adapted", trials, originals)


def _discriminant(vectors: F64, speakers: Sequence[str]) -> Compare:
    seen = Discriminant(vectors, speakers)
    return lambda enrolled, trials: cosine(seen(enrolled), seen(trials))


def _whole(likeness: F64) -> Likeness:
    return likeness[np.newaxis].astype(np.float32)


def _fill(table: Likeness, vectors: Mapping[Part, F64], material: Material, speakers: frozenset[str], compare: Compare) -> None:
    """Into `table`, shape (enrolments, trials), how alike those of these speakers are that have vectors."""
    rows, columns = (
        [i for i, r in enumerate(material.parts[part]) if r.speaker in speakers and not np.isnan(vectors[part][i]).any()]
        for part in _ATTACKED
    )
    if rows and columns:
        table[np.ix_(rows, columns)] = compare(vectors["enrol"][rows], vectors["trial"][columns])

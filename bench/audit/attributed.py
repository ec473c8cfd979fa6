"""Attackers of an attribute (gender, accent, age group): what they are given of the recordings, and what they find."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...kernels.jit import F64
from ..attackers import Voices
from ..trials import Trials
from .attributes import ATTACKS, Labelled, relaxed, strict
from .material import Material, Side
from .recordings import ATTRIBUTES, Recording
from .scored import RELAXED, STRICT, told

KNOWS = {
    "cosine": "compares with the mean voice of each class",
    "differences": "has learnt a logistic regression on differences of vectors",
    "concatenations": "has learnt a logistic regression on pairs of vectors",
}


@dataclass(frozen=True)
class Found:
    """The trials of one attacker of an attribute."""

    attribute: str
    form: str
    attacker: str
    encoder: str
    trials: Trials
    speakers: int
    notes: tuple[str, ...]


def attributes(material: Material, side: Side) -> Iterator[Found | str]:
    """Of each attribute that the table tells of, each attacker by each encoder, having learnt from `side`; or, in a line that
    may come again, why there is none."""
    for attribute in ATTRIBUTES:
        labelled = [r for r in material.protocol.trial if attribute in r.attributes]
        if len({r.attributes[attribute] for r in labelled}) < 2:
            continue
        lacking = len(material.protocol.trial) - len(labelled)
        notes = (f"{lacking} trials whose {attribute} is not told are left out",) if lacking else ()
        for form in (RELAXED, STRICT):
            for encoder in side.vectors:
                for attack in ATTACKS:
                    trials, why = _attacked(material, side, attribute, encoder, attack, form)
                    if trials is None:
                        yield f"{attribute}, {form}: not attacked: {why}"
                    else:
                        yield Found(attribute, form, attack, encoder, trials, len(set(trials.speakers or ())), notes)


def knows(attacker: str, anonymized: bool) -> str:
    """In a sentence."""
    return f"{KNOWS[attacker]}, from {'anonymized' if anonymized else 'original'} speech of other speakers whose class is known"


def _attacked(
    material: Material, side: Side, attribute: str, encoder: str, attack: str, form: str
) -> tuple[Trials | None, str]:
    vectors = side.vectors[encoder]
    found: list[Trials] = []
    why = "nobody else to learn from"
    for fold in material.protocol.folds:
        taught = {r.utterance for r in fold.known}
        known = _labelled(
            material.parts["known"], vectors["known"], attribute, [r.utterance in taught for r in material.parts["known"]]
        )
        trial = _labelled(
            material.parts["trial"], vectors["trial"], attribute, [r.speaker in fold.speakers for r in material.parts["trial"]]
        )
        try:
            found.append((relaxed if form == RELAXED else strict)(attack, known, trial))
        except ValueError as error:
            why = str(error)
    if not found:
        return None, why
    speakers = [name for trials in found for name in trials.speakers or ()]
    tests = [f"{n}/{name}" for n, trials in enumerate(found) for name in trials.tests or ()]
    values, same = np.concatenate([t.values for t in found]), np.concatenate([t.same for t in found])
    if same.all() or not same.any():
        return None, "all trials are of one kind"
    return Trials(values, same, speakers or None, None, tests or None), ""


def _labelled(recordings: Sequence[Recording], vectors: F64, attribute: str, wanted: Sequence[bool]) -> Labelled:
    """Those that are wanted, have a vector and are labelled."""
    rows = [i for i, r in enumerate(recordings) if wanted[i] and attribute in r.attributes and not np.isnan(vectors[i]).any()]
    chosen = [recordings[i] for i in rows]
    return Labelled(
        Voices(vectors[rows], [r.speaker for r in chosen]),
        [r.attributes[attribute] for r in chosen],
        [_rest(r, attribute) for r in chosen],
    )


def _rest(recording: Recording, attribute: str) -> str:
    """All that is known of what is said and who says it, but the attribute; "" without a text, which is like no other."""
    text = told(recording.text)
    others = [f"{name}={recording.attributes.get(name, '')}" for name in ATTRIBUTES if name != attribute]
    return " ".join([text, *others]) if text else ""

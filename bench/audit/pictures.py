"""The plots of a report: what each one shows of the audits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..bootstrap import Figure
from . import plots
from .binomial import shown
from .blocks import Picture, Pictures
from .mechanism import MechanismAudit
from .result import Attack, Audit
from .strongest import RELAXED, USER, by_attacker, by_encoder, of, resolved_rate, strongest


def privacy_against_words(audits: Sequence[Audit]) -> Picture | None:
    """Of all methods whose words were recognised."""
    methods = []
    for audit in audits:
        wer, found = audit.utility.get("wer"), by_attacker(of(audit, USER, RELAXED))
        if wer is not None and math.isfinite(wer.value) and found:
            eers = {attacker: strongest(group).summary.eer for attacker, group in found.items()}
            methods.append(plots.Method(audit.condition, wer, eers))
    if not methods:
        return None
    about = (
        "For each method the EER of each attacker's strongest variant over the share of words that a recogniser gets wrong. "
    )
    about += "Up and to the left is good. Bars are 95 % intervals."
    return Picture("Privacy against words", plots.privacy_against_words(methods), about)


def accuracies(audits: Sequence[Audit], privacy: str, form: str) -> Picture | None:
    """Of an attribute, for all methods."""
    rows: dict[str, dict[str, Figure]] = {}
    for audit in audits:
        for attacker, group in by_attacker(of(audit, privacy, form)).items():
            eer = strongest(group).summary.eer
            rows.setdefault(audit.condition, {})[attacker] = Figure(1 - eer.value, 1 - eer.high, 1 - eer.low)
    if not rows:
        return None
    about = f"How often attackers are right about the {privacy}, where they are wrong about every class as often (1 - EER), by "
    about += "the strongest encoder of each; 50 % is chance. Bars are 95 % intervals."
    return Picture(f"Accuracy: {privacy}, {form}", plots.accuracies(rows), about)


def of_speaker(audit: Audit, form: str) -> Pictures | None:
    """ROC, DET and the growth with enrolment, of each attacker's strongest variant."""
    attacks = of(audit, USER, form)
    if not attacks:
        return None
    curves = [_curve(attack) for attack in drawn(audit, form)]
    limit = max(curve.resolved for curve in curves)
    where = f"{audit.condition}, {form}"
    latest = plots.percent(float(f"{limit:.1g}"))
    resolved = f"Each begins where its trials resolve it, at {latest} false alarms at the latest. "
    straight = "Dotted: chance and the Gaussian mechanism of mu 1, 2, 3."
    pictures = [
        Picture(f"ROC: {where}", plots.roc(curves), f"Hits over false alarms, logarithmic. {resolved}{straight}"),
        Picture(f"DET: {where}", plots.det(curves), f"Misses over false alarms on normal deviates. {resolved}{straight}"),
    ]
    growth = _growth(attacks, where)
    return Pictures(pictures if growth is None else [*pictures, growth])


def drawn(audit: Audit, form: str) -> list[Attack]:
    """Whose curves are shown: each attacker's strongest variant."""
    return [strongest(group) for group in by_attacker(of(audit, USER, form)).values()]


def of_mechanism(found: MechanismAudit) -> Pictures:
    """The trade-off curve, whole and at few false alarms."""
    about = (
        "The attack's errors, with 95 % intervals, beside the curve G of the claim, which no attack may go beyond, and that of "
    )
    about += f"the mu that is proven, {found.lower:.3f}."
    return Pictures(
        [
            Picture("Trade-off: misses over false alarms", plots.trade_off(found), about),
            Picture("Trade-off where false alarms are few", plots.trade_off(found, logarithmic=True), about),
        ]
    )


def _curve(attack: Attack) -> plots.Curve:
    fpr, tpr = np.array(attack.summary.roc, np.float64).reshape(-1, 2).T
    resolved = shown(attack.summary.trials - attack.summary.same)
    return plots.Curve(f"{attack.attacker} ({attack.encoder})", fpr, tpr, resolved)


def _growth(attacks: Sequence[Attack], where: str) -> Picture | None:
    """Each attacker's strongest encoder, by pooling."""
    if len({a.enrolment for a in attacks}) < 2:
        return None
    fpr = resolved_rate(attacks)
    if fpr is None:
        return None
    lines = []
    for attacker, group in by_attacker(attacks).items():
        own = by_encoder(group)[strongest(group).encoder]
        for pooling in dict.fromkeys(a.pooling for a in own):
            some = sorted((a for a in own if a.pooling == pooling), key=lambda a: a.enrolment)
            lines.append(plots.Line(f"{attacker}, {pooling}", [a.enrolment for a in some], [_hits(a, fpr) for a in some]))
    about = f"Hits at {plots.percent(fpr)} false alarms over the number of enrolment utterances, by each attacker's strongest "
    about += "encoder. Bars are 95 % intervals; dotted: chance."
    return Picture(f"Enrolment: {where}", plots.over_enrolment(lines, fpr), about)


def _hits(attack: Attack, fpr: float) -> Figure:
    return next((p.tpr for p in attack.summary.points if p.fpr == fpr), Figure(math.nan))

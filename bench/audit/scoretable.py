"""A summary of scores as a table to read."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...engine.progress import counted
from ..bootstrap import Figure
from .lowfpr import Point
from .singling import Linking, Singling
from .summary import Summary
from .zebra import MOST_EXPECTED


def as_text(summary: Summary, title: str, attacker: str = "") -> str:
    """With what each figure means; `attacker`: who got the scores and what he knew, "" where nobody says."""
    counts = f"{summary.trials:,} trials, {summary.same:,} of the same speaker"
    if summary.speakers is not None:
        counts += f", {counted(summary.speakers, 'speaker')}"
    head = [
        f"{title}: {counts}",
        f"attacker: {attacker or 'unknown. No figure means anything without its attacker: name him with --attacker'}",
        *(f"warning: {warning}" for warning in summary.warnings),
    ]
    unit = "trials" if summary.speakers is None else "speakers"
    rates = [
        _row("EER", percent(summary.eer), f"50 %: a coin toss; 95 % interval of {unit}"),
        _row("AUC", percent(summary.auc), "how often a true claim scores higher; 50 %: a coin toss"),
    ]
    low = [
        "the attacker who must not err: at a false positive rate (FPR), what he finds of the true claims (TPR)",
        f"{'FPR':<8}  {'TPR':<26}  {'epsilon':<20}  mu",
        *(_point(point) for point in summary.points),
        *(f"* {point.fpr:.6g}: {point.note}" for point in summary.points if point.note),
    ]
    zebra = summary.zebra
    others = [
        _row(
            "D_sys",
            "none" if math.isnan(summary.d_sys) else f"{summary.d_sys:.3f}",
            "0: no score tells, 1: every score does",
        ),
        _row(
            "Cllr, at best",
            f"{summary.cllr:.3f}, {summary.min_cllr:.3f} bit",
            "1: tells nothing; the first of scores as they are",
        ),
        _row("ZEBRA", f"{zebra.expected:.3f} bit", f"disclosed on average, of {MOST_EXPECTED:.3f}"),
        _row("", f"10^{zebra.worst:.2f} ({zebra.category})", "strongest evidence of one person; 0, A (weak) to F"),
        *_legal(summary.linking, summary.singling),
    ]
    if summary.matching is not None:
        limit = f"threshold {summary.matching.threshold:.4g}, of originals"
        others += [
            _row("MMR", percent(summary.matching.mmr), f"true claims that a verifier refuses ({limit})"),
            _row("WMR", percent(summary.matching.wmr), "false claims that it accepts"),
        ]
    return "\n\n".join("\n".join(part) for part in (head, rates, low, others))


def percent(figure: Figure) -> str:
    """As in "21.5 % [19.0, 23.5]", to three digits."""
    return _with_ends(figure, lambda rate: _three_digits(100 * rate), " %")


def number(figure: Figure) -> str:
    """As in "1.49 [1.21, 1.71]"."""
    return _with_ends(figure, lambda value: f"{value:.2f}")


def _with_ends(figure: Figure, text: Callable[[float], str], unit: str = "") -> str:
    if math.isnan(figure.low):
        return f"{text(figure.value)}{unit} [no interval]"
    return f"{text(figure.value)}{unit} [{text(figure.low)}, {text(figure.high)}]"


def _three_digits(value: float) -> str:
    digits = 2 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{min(max(digits, 0), 6)}f}"


def _row(name: str, value: str, meaning: str) -> str:
    return f"{name:<14}  {value:<26}  {meaning}"


def _point(point: Point) -> str:
    star = " " if point.resolved else "*"
    rate = f"{100 * point.fpr:.6g} %"
    return f"{rate:<7}{star}  {percent(point.tpr):<26}  {number(point.epsilon):<20}  {number(point.mu)}"


def _legal(linking: Linking | None, singling: Singling | None) -> list[str]:
    """The two figures of the Opinion on Anonymisation Techniques."""
    found = []
    if linking is not None:
        chance = f"own speaker ranked first of {linking.candidates}; chance: {_three_digits(100 / linking.candidates)} %"
        found.append(_row("linked", percent(linking.rate), chance))
    if singling is not None:
        found.append(_row("singled out", percent(singling.rate), f"exactly one of {singling.speakers} picked; chance: 37 %"))
    return found

"""The tables of a report. A figure stands beside who attacked and what he knew; one that the trials cannot resolve says so."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from ..bootstrap import Figure
from .blocks import Cell, Table
from .mechanism import MechanismAudit
from .plausible import Baseline
from .plots import percent
from .result import Attack, Audit
from .strongest import USER, by_attacker, by_encoder, of, rates, strongest, variant, worst_at
from .summary import Point
from .utility import MEANING

_DASH = "-"
_MARK = " (?)"
_PERCENTS = ("wer", "cer", "voicing_agreement", "deidentification")
_MORE = {
    "distinctiveness": "gain of voice distinctiveness, dB: 0 as between the originals, below 0 voices are more alike",
    "deidentification": "how far voices are from their speakers: 100 % nothing links them",
}
CHANNELS = {"same": "enrolled in the trial's own channel", "cross": "enrolled in other channels"}


def overview(audits: Sequence[Audit], baseline: Baseline) -> Table:
    """One row a method."""
    rows: list[list[str | Cell]] = []
    for audit in audits:
        attacks = of(audit, USER, "relaxed")
        bound = "its bound is of the speaker embedding alone: see there" if audit.scope else ""
        row: list[str | Cell] = [Cell(audit.condition, bound), delay(audit.delay_ms)]
        row += [_kept(audit, name, baseline) for name in ("wer", "dnsmos", "f0_correlation")]
        if attacks:
            worst = strongest(attacks)
            row.append(Cell(_eer(worst, baseline), f"{worst.attacker}: {variant(worst)}"))
        rows.append(row if attacks else [*row, _DASH])
    head = ["method", "delay", "WER", "DNSMOS", "F0 correlation", "EER of the strongest attacker on the speaker"]
    return Table(
        "Methods", head, rows, ["EER: 50 % is chance; low is bad for the speaker. WER and the rest: what is left of speech."]
    )


def eers(audits: Sequence[Audit], baseline: Baseline) -> Table:
    """Methods over attackers."""
    by_most = sorted((by_attacker(of(audit, USER, "relaxed")) for audit in audits), key=len, reverse=True)
    attackers = list(dict.fromkeys(name for found in by_most for name in found))
    rows: list[list[str | Cell]] = []
    for audit in audits:
        found = by_attacker(of(audit, USER, "relaxed"))
        row: list[str | Cell] = [audit.condition]
        for name in attackers:
            worst = strongest(found[name]) if name in found else None
            row.append(_DASH if worst is None else Cell(_eer(worst, baseline), variant(worst)))
        rows.append(row)
    note = "Each cell: the strongest of this attacker's variants (encoder, enrolment utterances, pooling), and which it was."
    return Table("EER on the speaker, by attacker", ["method", *attackers], rows, [note])


def knowledge(audits: Iterable[Audit]) -> Table:
    """Who attacks, and what he knows."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for audit in audits:
        for attack in audit.attacks:
            found.setdefault((attack.attacker, attack.knows), {})[audit.condition] = None
    rows: list[list[str | Cell]] = [[attacker, knows, ", ".join(conditions)] for (attacker, knows), conditions in found.items()]
    return Table("Attackers", ["attacker", "what he knows", "of"], rows)


def attacked(title: str, attacks: Sequence[Attack], baseline: Baseline) -> Table:
    """Each attacker with each encoder: his strongest variant."""
    rows: list[list[str | Cell]] = []
    shown = [strongest(group) for some in by_attacker(attacks).values() for group in by_encoder(some).values()]
    for attack in shown:
        s = attack.summary
        rows.append(
            [
                Cell(attack.attacker, attack.knows),
                variant(attack),
                _eer(attack, baseline),
                f"{attack.speakers}",
                f"{s.trials:,} ({s.same:,} true)",
                _shares(s.auc),
                *(_number(value) for value in (s.d_sys, s.cllr, s.min_cllr)),
                f"{_number(s.zebra.expected)}, {_number(s.zebra.worst)}, {s.zebra.category}",
                _DASH if s.matching is None else f"{_shares(s.matching.mmr)} / {_shares(s.matching.wmr)}",
                _DASH if s.linking is None else f"{_shares(s.linking.rate)} of {s.linking.candidates}",
                _DASH if s.singling is None else _shares(s.singling.rate),
            ]
        )
    head = ["attacker", "by", "EER", "speakers", "trials", "AUC", "D_sys", "Cllr", "min Cllr", "ZEBRA"]
    head += ["MMR / WMR", "linked", "singled out"]
    told = [i for i in range(len(head)) if any(row[i] != _DASH for row in rows)]
    note = "Each row: the variant (enrolment utterances, pooling) with the lowest EER. All others are in the JSON file."
    return Table(title, [head[i] for i in told], [[row[i] for i in told] for row in rows], [note, *_said(shown, baseline)])


def few_false_alarms(title: str, attacks: Sequence[Attack], baseline: Baseline) -> Table:
    """Each attacker at each low false alarm rate: the variant that is sure of most hits."""
    fprs = rates(attacks)
    rows: list[list[str | Cell]] = []
    shown: list[tuple[Attack, Point]] = []
    for group in by_attacker(attacks).values():
        row: list[str | Cell] = [Cell(group[0].attacker, group[0].knows)]
        for fpr in fprs:
            worst = worst_at(group, fpr)
            if worst is None:
                row.append(_DASH)
                continue
            shown.append(worst)
            row += [Cell(_hits(worst[1]) + (_MARK if baseline.doubt(worst[0]) else ""), variant(worst[0])), _epsilon(worst[1])]
        rows.append(row)
    head = [text for fpr in fprs for text in (f"TPR at FPR {percent(fpr)}", "eps-hat; mu")]
    notes = dict.fromkeys(f"FPR {percent(point.fpr)}: {point.note}" for _, point in shown if point.note)
    return Table(title, ["attacker", *head], rows, list(notes))


def by_channel(audit: Audit, privacy: str, form: str, baseline: Baseline) -> Table | None:
    """Trials of the enrolment's channel and of others apart; None if the recordings do not tell."""
    rows: list[list[str | Cell]] = []
    for channel, said in CHANNELS.items():
        for attacker, group in by_attacker(of(audit, privacy, form, channel)).items():
            worst = strongest(group)
            trials = f"{worst.summary.trials:,}"
            rows.append([Cell(attacker, worst.knows), said, variant(worst), _eer(worst, baseline), f"{worst.speakers}", trials])
    head = ["attacker", "trials", "by", "EER", "speakers", "trials counted"]
    return Table("Same channel and cross channel", head, rows) if rows else None


def utility(audit: Audit, baseline: Baseline) -> Table | None:
    """What is kept of speech, beside the originals'."""
    if not audit.utility:
        return None
    original = None if audit is baseline.original else baseline.original
    meanings = {**MEANING, **_MORE}
    rows: list[list[str | Cell]] = []
    for name in sorted(audit.utility, key=lambda n: list(meanings).index(n) if n in meanings else len(meanings)):
        before = [] if original is None else [_kept(original, name, baseline)]
        rows.append([Cell(name.replace("_", " "), meanings.get(name, "")), _kept(audit, name, baseline), *before])
    head = ["figure", audit.condition, *([] if original is None else ["original speech"])]
    return Table("What is kept of speech", head, rows)


def mechanism(found: MechanismAudit) -> Table:
    rows = [[proof.chosen, _shares(proof.fpr), _shares(proof.tpr), f"{proof.mu:.3f}"] for proof in found.proofs]
    head = ["threshold", "FPR", "TPR", "mu at least"]
    sure = f"Intervals are as wide as all of the proofs need to hold together with {1 - found.doubt:.1%} confidence."
    return Table("What the releases prove", head, rows, [sure])


def _said(attacks: Sequence[Attack], baseline: Baseline) -> list[str]:
    """Warnings and notes of the rows, each once, with how many rows it is of."""
    found: dict[str, list[str]] = {}
    for attack in attacks:
        texts = [*attack.summary.warnings, *attack.notes]
        if doubt := baseline.doubt(attack):
            texts.append(f"(?): {doubt}")
        for text in texts:
            found.setdefault(text, []).append(f"{attack.attacker}, {attack.encoder}")
    return [text if len(rows) == len(attacks) else f"{text} [{'; '.join(rows)}]" for text, rows in found.items()]


def _eer(attack: Attack, baseline: Baseline) -> str:
    return _shares(attack.summary.eer) + (_MARK if baseline.doubt(attack) else "")


def _kept(audit: Audit, name: str, baseline: Baseline) -> str:
    figure = audit.utility.get(name)
    if figure is None:
        return _DASH
    text = _shares(figure) if name in _PERCENTS else _interval(figure, lambda value: f"{value:.3g}")
    return text + (_MARK if baseline.doubt_of_words(name) else "")


def _hits(point: Point) -> str:
    if point.resolved:
        return _shares(point.tpr)
    known = point.tpr.low > 0 or point.tpr.high < 1
    return f"not resolved: {_share(point.tpr.low)} to {_share(point.tpr.high)} %" if known else "not resolved"


def _epsilon(point: Point) -> str:
    """Without an upper end where no trial count gives one."""
    if point.resolved:
        return f"{_interval(point.epsilon, _two)}; {_interval(point.mu, _two)}"
    known = point.epsilon.low > 0
    return f"not resolved: {_two(point.epsilon.low)} or more; {_two(point.mu.low)} or more" if known else "not resolved"


def _shares(figure: Figure) -> str:
    """In percent, with the interval where there is one."""
    return _interval(figure, _share, " %")


def _interval(figure: Figure, written: Callable[[float], str], unit: str = "") -> str:
    if not math.isfinite(figure.value):
        return _DASH
    ends = "" if not math.isfinite(figure.low + figure.high) else f" [{written(figure.low)}, {written(figure.high)}]"
    return f"{written(figure.value)}{unit}{ends}"


def _share(value: float) -> str:
    return "unknown" if not math.isfinite(value) else f"{100 * value:.3g}"


def _two(value: float) -> str:
    return "unknown" if not math.isfinite(value) else f"{value:.2f}"


def _number(value: float) -> str:
    return _DASH if not math.isfinite(value) else f"{value:.3f}"


def delay(ms: float) -> str:
    return "not known" if not math.isfinite(ms) else f"{ms:.0f} ms"

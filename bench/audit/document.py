"""The report of audits: one JSON, one Markdown and one page, with all that a reader needs to judge a figure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ... import __version__
from ...engine import jsonfile
from ...engine.atomic import atomically
from ...engine.progress import counted
from . import markdown, mechanism, page, pictures, result, tables
from .blocks import Block, Document, Items, Pictures, Section, Table, Warnings
from .mechanism import MechanismAudit
from .plausible import Baseline
from .recordings import TRAIN
from .result import Audit
from .strongest import USER, asked, of

NAMES = ("report.json", "report.md", "report.html")
_LEAD = (
    "What attackers find out about the speaker, and what is left of the speech. Every figure is of the attacker beside it: a "
    "stronger one may find more."
)
_READING = (
    "EER: the equal error rate of the attacker, where he misses as often as he raises a false alarm; 50 % is chance, 0 % is "
    "certainty. Intervals in brackets hold 95 % of repetitions in which the speakers are drawn anew.",
    "TPR at FPR: how many of the true claims an attacker finds who accepts so few false ones (VoxGuard). Intervals are exact "
    "(Clopper-Pearson, with the threshold's own uncertainty), for independent trials.",
    "eps-hat: max(ln(TPR/FPR), ln((1-FPR)/(1-TPR))), in nats: the least epsilon of a mechanism that lets this happen. mu: the "
    "same for Gaussian differential privacy.",
    "not resolved: there are too few trials to tell; what is known is given, as the ends of the interval.",
    "AUC: how often a true claim scores higher than a false one. D_sys: linkability, 0 none, 1 all, as published "
    "with half of the outermost bins left out. Cllr and min Cllr: cost of "
    "the scores as log-likelihood ratios in bits, as they are and at their best; 1 is no information. ZEBRA: expected "
    "disclosure in bits (0.721 is all), log10 of the worst likelihood ratio, its category.",
    "MMR: how often a verifier set up on original speech no longer matches the speaker. WMR: how often it matches another one. "
    "linked: how often the nearest of so many speakers is the right one. singled out: a guess that names one person is right.",
    "relaxed: any text. strict: the same text, and only what is asked for differs.",
    "(?): the original speech makes the figure doubtful; why stands below the table.",
)


@dataclass(frozen=True)
class Results:
    audits: tuple[Audit, ...] = ()
    mechanisms: tuple[MechanismAudit, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {**result.as_json(self.audits), "mechanisms": [found.as_json() for found in self.mechanisms]}


def load(paths: Sequence[Path]) -> Results:
    """Of one or several files: results of audits of speech or of the mechanism, and reports; what is in several with the same
    figures counts once. OSError when one cannot be read;
    ValueError, in a line with its path, when it is none of these."""
    audits: list[Audit] = []
    mechanisms: list[MechanismAudit] = []
    for path in paths:
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(value, dict) and value.get("format") == mechanism.FORMAT:
                mechanisms.append(mechanism.from_json(value))
            else:
                audits += result.from_json(value)
                mechanisms += [mechanism.from_json(each) for each in value.get("mechanisms", ())]
        except ValueError as error:
            raise ValueError(f"{path}: {' '.join(str(error).split())}") from error
    return Results(result.distinct(audits), tuple(mechanisms))


def write(folder: Path, audits: Sequence[Audit], mechanisms: Sequence[MechanismAudit] = ()) -> tuple[Path, ...]:
    """The three files of a report, each made or replaced as a whole; the page has plots if matplotlib is there. OSError when
    one cannot be written. The JSON has the ROC curves that are drawn; those of all attacks are in the results."""
    results = Results(tuple(audits), tuple(mechanisms))
    document = written(results)
    paths = tuple(folder / name for name in NAMES)
    jsonfile.write(paths[0], Results(tuple(map(_light, audits)), results.mechanisms).as_json())
    for path, text in zip(paths[1:], (markdown.text(document), page.text(document)), strict=True):
        with atomically(path) as part:
            part.write_text(text, encoding="utf-8")
    return paths


def written(results: Results) -> Document:
    """The report, before it is Markdown or a page."""
    baseline = Baseline.among(results.audits)
    sections = [_all(results, baseline)] if results.audits else []
    sections += [_one(audit, baseline) for audit in results.audits]
    sections += [_mechanism(found) for found in results.mechanisms]
    sections.append(Section("How to read the figures", [Items(_READING)]))
    return Document("Audit of voice anonymization", f"{_LEAD} Written by velavox {__version__}.", sections)


def _all(results: Results, baseline: Baseline) -> Section:
    audits = results.audits
    drawn = [pictures.privacy_against_words(audits)]
    drawn += [pictures.accuracies(audits, privacy, form) for privacy, form in asked(audits) if privacy != USER]
    shown = [picture for picture in drawn if picture is not None]
    blocks: list[Block] = [
        *_warned([*_known(audits), *baseline.doubts(audits)]),
        tables.overview(audits, baseline),
        *([Pictures(shown)] if shown else []),
        tables.eers(audits, baseline),
        tables.knowledge(audits),
    ]
    return Section("All methods", blocks)


def _one(audit: Audit, baseline: Baseline) -> Section:
    about = [f"Delay: {tables.delay(audit.delay_ms)}."]
    if audit.scope:
        about.append(f"Scope of its bound: {audit.scope}")
    counts = [f"{name.replace('_', ' ')}: {count:,}" for name, count in audit.counts.items()]
    blocks: list[Block] = [*about, *([Items(counts)] if counts else []), *([Items(audit.notes)] if audit.notes else [])]
    kept = tables.utility(audit, baseline)
    blocks += [kept] if kept else []
    inner = [_question(audit, privacy, form, baseline) for privacy, form in asked([audit])]
    return Section(audit.condition, blocks, [*inner, *_made(audit.made)])


def _question(audit: Audit, privacy: str, form: str, baseline: Baseline) -> Section:
    attacks = of(audit, privacy, form)
    who = "speaker" if privacy == USER else privacy
    blocks: list[Block] = []
    if attacks:
        drawn = pictures.of_speaker(audit, form) if privacy == USER else None
        blocks = [
            *([drawn] if drawn else []),
            tables.attacked(f"Attacks on the {who}, {form}", attacks, baseline),
            tables.few_false_alarms(f"The {who} at few false alarms, {form}", attacks, baseline),
        ]
    channels = tables.by_channel(audit, privacy, form, baseline)
    return Section(f"{who.capitalize()}, {form}", [*blocks, *([channels] if channels else [])])


def _mechanism(found: MechanismAudit) -> Section:
    about = (
        f"Gaussian noise of sigma {found.sigma_radii:.4g} U on the speaker embedding, asked for with mu {found.mu:g} and "
        f"calibration {found.calibration}, claimed to be mu {found.claim:g}. {counted(found.draws, 'release')} of each "
        f"of two embeddings {found.apart_radii:.4g} U apart, told apart by their likelihood ratio."
    )
    verdict = found.verdict[0].upper() + found.verdict[1:] + "."
    blocks: list[Block] = [about, *([verdict] if found.holds else [Warnings([verdict])]), pictures.of_mechanism(found)]
    blocks += [tables.mechanism(found), "What this audit sees and what not:", Items(found.scope)]
    title = f"Speaker mechanism: mu {found.mu:g}, calibration {found.calibration}, claimed {found.claim:g}"
    return Section(title, blocks, _made(found.made))


def _made(made: dict[str, Any]) -> list[Section]:
    """Where figures come from: versions, seeds, command, data."""
    if not made:
        return []
    rows = [[str(name), value if isinstance(value, str) else json.dumps(value)] for name, value in made.items()]
    return [Section("How it was made", [Table("Versions, seeds, data", ["what", "value"], rows)], folded=True)]


def _light(audit: Audit) -> Audit:
    """Without the ROC curves that no plot shows: of hundreds of attacks they would be most of the file."""
    drawn = {id(attack) for form in dict.fromkeys(a.form for a in audit.attacks) for attack in pictures.drawn(audit, form)}
    bare = [a if id(a) in drawn else replace(a, summary=replace(a.summary, roc=())) for a in audit.attacks]
    return replace(audit, attacks=tuple(bare))


def _known(audits: Sequence[Audit]) -> list[str]:
    """That a method may have been trained on who is attacked."""
    known = ", ".join(audit.condition for audit in audits if audit.made.get("split") == TRAIN)
    return [f"Speakers of the split {TRAIN}: what was trained may have been trained on them ({known})."] if known else []


def _warned(texts: Sequence[str]) -> list[Block]:
    return [Warnings(texts)] if texts else []

"""One method judged: what is understood of it, how it sounds, what each attacker finds out, how its voices differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np

from ..engine.host import Engine
from ..engine.stage import RATE
from ..kernels.jit import F32, F64
from ..models_onnx.training.corpora import Utterance
from . import leak
from .attackers import Voices, compare, corpus, learnt
from .bootstrap import Figure, ratio
from .condition import ORIGINAL, Condition, Spoken
from .eer import figure
from .encoders import ENCODERS
from .judged import Judges
from .recognition import errors
from .selection import Selection, person, speech
from .trials import Trials
from .variety import Variety, variety

BOTH = "both"  # encoders, their vectors joined
_LEARNT = 8.0  # seconds of an utterance that attackers learn from

Attacks = dict[str, dict[str, Figure]]  # attacker, encoder


@dataclass(frozen=True)
class Result:
    """Of one condition. Rates from 0 to 1; `all` corpora together, or each by its name."""

    condition: str
    delay_ms: float  # of the engine at 16 kHz
    wer: dict[str, Figure]  # by speech, as `selection` has it
    cer: dict[str, Figure]
    dnsmos: dict[str, Figure]
    eer: dict[str, Attacks]  # by "all" or corpus
    leak: Figure | None  # EER on the content channel; None where there is none
    variety: Variety | None  # of many voices of one recording
    unheard: int  # utterances with too little speech to be attacked
    cpu_seconds: float


def score(
    condition: Condition, chosen: Selection, voices: int, folder: Path, seed: int = 0, say: Callable[[str], None] = print
) -> Result:
    """Judge `condition` on `chosen` speech, with `voices` voices of one recording; audio and verdicts are kept in `folder`."""
    began = process_time()
    judges = Judges(folder / "judged")
    spoken = Spoken(folder / "anonymized", condition, seed)
    wer, cer, dnsmos = _heard(chosen.heard, spoken, judges)
    say(f"{condition}: {len(chosen.heard)} utterances heard, {process_time() - began:.0f} s of CPU time")
    eer, unheard = _attacked(chosen, spoken, Spoken(folder / "anonymized", Condition(ORIGINAL)), judges, seed)
    say(f"{condition}: {len(chosen.trial)} attacked, {process_time() - began:.0f} s")
    stage = condition.stage() if condition.anonymizes else None
    return Result(
        condition=str(condition),
        delay_ms=0.0 if stage is None else Engine(stage, sample_rate=RATE).latency / RATE * 1000,
        wer=wer,
        cer=cer,
        dnsmos=dnsmos,
        eer=eer,
        leak=_leak(condition, chosen, seed) if stage is not None and leak.has_channel(stage) else None,
        variety=_variety(chosen.trial, spoken, voices, judges) if stage is not None and voices > 1 else None,
        unheard=unheard,
        cpu_seconds=process_time() - began,
    )


def _heard(
    utterances: Sequence[Utterance], spoken: Spoken, judges: Judges
) -> tuple[dict[str, Figure], dict[str, Figure], dict[str, Figure]]:
    """Word and character error rate and DNSMOS, by speech."""
    rows: dict[tuple[str, str], list[tuple[str, float, float]]] = defaultdict(list)
    for u in utterances:
        y = spoken(u.audio(), u.utterance)
        found = errors(u.transcript, judges.words(y, u.language), u.language)
        rows["wer", speech(u)].append((person(u), found.word_edits, found.words))
        rows["cer", speech(u)].append((person(u), found.letter_edits, found.letters))
        rows["dnsmos", speech(u)].append((person(u), judges.dnsmos(y), 1))
    wer, cer, dnsmos = ({c: ratio(r) for (k, c), r in rows.items() if k == kind} for kind in ("wer", "cer", "dnsmos"))
    return wer, cer, dnsmos


def _attacked(chosen: Selection, spoken: Spoken, original: Spoken, judges: Judges, seed: int) -> tuple[dict[str, Attacks], int]:
    trials, unheard = _voices(chosen.trial, spoken, judges)
    enrolled, lost = _voices(chosen.enrol, original, judges)
    scores: dict[str, dict[str, Trials]] = {"ignorant": {e: compare(enrolled[e], trials[e]) for e in trials}}
    unheard += lost
    if spoken.condition.anonymizes:
        enrolled, lost = _voices(chosen.enrol, spoken, judges)
        known, _ = _voices(chosen.known, spoken, judges, _LEARNT)
        scores["lazy-informed"] = {e: compare(enrolled[e], trials[e]) for e in trials}
        scores["semi-informed"] = {e: learnt(known[e], enrolled[e], trials[e]) for e in trials}
        unheard += lost
    names = ["all", *sorted({corpus(s) for s in trials[BOTH].speakers})]
    return {n: {a: {e: figure(_of(s, n), seed) for e, s in by.items()} for a, by in scores.items()} for n in names}, unheard


def _of(trials: Trials, name: str) -> Trials:
    return trials.rows(np.array([name in ("all", corpus(speaker)) for speaker in trials.speakers or ()]))


def _voices(
    utterances: Sequence[Utterance], spoken: Spoken, judges: Judges, seconds: float | None = None
) -> tuple[dict[str, Voices], int]:
    """By encoder, and of both; and how many utterances have too little speech for one of them."""
    rows: list[list[F64 | None]] = []
    for u in utterances:
        y = spoken(_cut(u, seconds), u.utterance)
        rows.append([judges.embedding(encoder, y) for encoder in ENCODERS])
    kept = [i for i, row in enumerate(rows) if all(v is not None for v in row)]
    speakers = [person(utterances[i]) for i in kept]
    found = {e: Voices(np.array([rows[i][n] for i in kept], np.float64), speakers) for n, e in enumerate(ENCODERS)}
    first, second = found.values()
    return {**found, BOTH: first.with_(second)}, len(rows) - len(kept)


def _leak(condition: Condition, chosen: Selection, seed: int) -> Figure:
    stage = condition.stage()
    stage.prepare()

    def told(utterances: Sequence[Utterance], seconds: float | None = None) -> Voices:
        found = [(leak.statistics(leak.heard(stage, _cut(u, seconds))), person(u)) for u in utterances]
        kept = [(v, s) for v, s in found if v is not None]
        return Voices(np.array([v for v, _ in kept]), [s for _, s in kept])

    return figure(learnt(told(chosen.known, _LEARNT), told(chosen.enrol), told(chosen.trial)), seed)


def _variety(utterances: Sequence[Utterance], spoken: Spoken, voices: int, judges: Judges) -> Variety:
    def ge2e(samples: F32) -> F32:
        found = judges.embedding("ge2e", samples)
        if found is None:
            raise ValueError(f"{longest.utterance}: half of what {spoken.condition} made of it has too little speech")
        return np.asarray(found, np.float32)

    longest = max(utterances, key=lambda u: u.seconds)
    x = longest.audio()
    return variety([spoken(x, f"voices/{longest.utterance}-{n}") for n in range(voices)], ge2e)


def _cut(u: Utterance, seconds: float | None) -> F32:
    return u.audio() if seconds is None else u.audio()[: int(seconds * RATE)]

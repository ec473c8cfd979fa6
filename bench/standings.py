"""A comparison of anonymizers as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .bootstrap import Figure
from .comparison import Result
from .published import PUBLISHED
from .selection import Selection, person, speech
from .timing import Timing

PLAIN = "McAdams in NumPy and librosa"
_DASH = "-"
_NOTES = """
Intervals hold 95 % of repetitions in which the speakers are drawn anew. Whisper base recognises, DNSMOS is the overall score.
EER: 50 % is chance. ignorant: original enrolments; lazy-informed: enrolments anonymized in other voices; semi-informed: has
also learnt, by linear discriminant analysis, from anonymized speech of other speakers. ge2e is the encoder that comes with
velavox, dvector an independent one, both: their vectors joined. C-leak: the same on statistics of all that the decoder gets
but the voice. Each utterance has a voice of its own. No figure speaks of another attacker than the one beside it."""


def text(results: Sequence[Result], timings: Mapping[str, Timing], chosen: Selection) -> str:
    """All tables."""
    parts = [_cost(results, timings), _speech(results), _privacy(results), _voices(results), _published()]
    said = counts(chosen)
    about = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in said.items() if name != "by_speech")
    notes = [f"Utterances: {about}; heard of each: {said['by_speech']}.", *chosen.notes]
    unheard = {r.condition: r.unheard for r in results if r.unheard}
    if unheard:
        notes.append(f"Too little speech to be attacked, and left out: {unheard}")
    return "\n\n".join([*parts, "\n".join(notes) + _NOTES])


def counts(chosen: Selection) -> dict[str, Any]:
    """Speakers and utterances by their part."""
    return {
        "heard": len(chosen.heard),
        "attacked_speakers": len({person(u) for u in chosen.trial}),
        "trials": len(chosen.trial),
        "enrolments": len(chosen.enrol),
        "learnt_from_speakers": len({person(u) for u in chosen.known}),
        "learnt_from": len(chosen.known),
        "by_speech": dict(sorted(Counter(map(speech, chosen.heard)).items())),
    }


def percent(figure: Figure | None) -> str:
    """A rate with its interval, in percent."""
    return _DASH if figure is None else f"{100 * figure.value:.1f} [{100 * figure.low:.0f}, {100 * figure.high:.0f}]"


def grid(title: str, rows: Sequence[Sequence[str]]) -> str:
    """Rows under a title, the first one being the head; columns aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([title, lines[0], "-" * max(map(len, lines)), *lines[1:]])


def _cost(results: Sequence[Result], timings: Mapping[str, Timing]) -> str:
    rows = [["method", "delay", "RTC", f"against {PLAIN}"]]
    for r in results:
        timing = timings.get(r.condition)
        if timing is not None:
            times = timings[PLAIN].rtc / timing.rtc
            rows.append([r.condition, f"{r.delay_ms:.1f} ms", f"{timing.rtc:.4f}", f"{times:.1f} times cheaper"])
    return grid("Delay and CPU time in the engine at 16 kHz", [*rows, [PLAIN, _DASH, f"{timings[PLAIN].rtc:.4f}", _DASH]])


def _speech(results: Sequence[Result]) -> str:
    rows = [["speech", "method", "WER %", "CER %", "DNSMOS"]]
    for group in sorted({g for r in results for g in r.wer}):
        for r in results:
            d = r.dnsmos[group]
            clean = f"{d.value:.2f} [{d.low:.2f}, {d.high:.2f}]"
            rows.append([group, r.condition, percent(r.wer[group]), percent(r.cer[group]), clean])
    return grid("What is understood, and how it sounds", rows)


def _privacy(results: Sequence[Result]) -> str:
    encoders = list(dict.fromkeys(e for r in results for by in r.eer["all"].values() for e in by))
    rows = [["method", "attacker", *encoders]]
    for r in results:
        for attacker, by in r.eer["all"].items():
            rows.append([r.condition, attacker, *(percent(by.get(e)) for e in encoders)])
        if r.leak is not None:
            rows.append([r.condition, f"C-leak, no encoder: {percent(r.leak)}", *[""] * len(encoders)])
    return grid("What attackers find out: EER %, by speaker encoder", rows)


def _voices(results: Sequence[Result]) -> str:
    rows = [["method", "voices", "likeness", "closest", "mean F0, Hz", "steadiness", "least"]]
    for r in results:
        v = r.variety
        if v is not None:
            rows.append(
                [
                    *(r.condition, str(v.voices), f"{v.likeness:.2f}", f"{v.closest:.2f}"),
                    *(f"{v.lowest:.0f} to {v.highest:.0f}", f"{v.steadiness:.2f}", f"{v.least_steady:.2f}"),
                ]
            )
    return grid("Voices of one recording (likeness: mean cosine by ge2e of two; steadiness: of two halves)", rows)


def _published() -> str:
    head = ["system", "delay", "RTC", "WER %", "ignorant", "lazy-informed", "semi-informed", "source"]
    rows = [[p.system, p.delay, p.rtc, p.wer, p.ignorant, p.lazy, p.semi, p.source] for p in PUBLISHED]
    return grid("PUBLISHED, on other speech, by other attackers, on other machines: EER %", [head, *rows])

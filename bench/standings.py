"""A comparison of anonymizers as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .bootstrap import Figure
from .comparison import Result
from .published import PUBLISHED
from .selection import Selection, corpus, person
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
    parts = [_speech(results, timings), _privacy(results), _voices(results), _published()]
    said = counts(chosen)
    about = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in said.items() if name != "corpora")
    notes = [f"Speech: {about}. By corpus: {said['corpora']}.", *chosen.notes]
    unheard = {r.condition: r.unheard for r in results if r.unheard}
    if unheard:
        notes.append(f"Too little speech to be attacked, and left out: {unheard}")
    return "\n\n".join([*parts, "\n".join(notes) + _NOTES])


def counts(chosen: Selection) -> dict[str, Any]:
    """Speakers and utterances by their part."""
    corpora = {c: sum(corpus(u) == c for u in chosen.heard) for c in sorted({corpus(u) for u in chosen.heard})}
    return {
        "heard": len(chosen.heard),
        "attacked_speakers": len({person(u) for u in chosen.trial}),
        "trials": len(chosen.trial),
        "enrolments": len(chosen.enrol),
        "learnt_from_speakers": len({person(u) for u in chosen.known}),
        "learnt_from": len(chosen.known),
        "corpora": corpora,
    }


def percent(figure: Figure | None) -> str:
    """A rate with its interval, in percent."""
    return _DASH if figure is None else f"{100 * figure.value:.1f} [{100 * figure.low:.0f}, {100 * figure.high:.0f}]"


def grid(title: str, rows: Sequence[Sequence[str]]) -> str:
    """Rows under a title, the first one being the head; columns aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([title, lines[0], "-" * max(map(len, lines)), *lines[1:]])


def _speech(results: Sequence[Result], timings: Mapping[str, Timing]) -> str:
    corpora = sorted({c for r in results for c in r.wer})
    head = ["method", "delay", "RTC", *(f"WER % {c}" for c in corpora)]
    head += [f"CER % {c}" for c in corpora] + [f"DNSMOS {c}" for c in corpora]
    rows = [head]
    for r in results:
        timing = timings.get(r.condition)
        rows.append(
            [r.condition, f"{r.delay_ms:.1f} ms", _DASH if timing is None else f"{timing.rtc:.4f}"]
            + [percent(r.wer.get(c)) for c in corpora]
            + [percent(r.cer.get(c)) for c in corpora]
            + [f"{r.dnsmos[c].value:.2f} [{r.dnsmos[c].low:.2f}, {r.dnsmos[c].high:.2f}]" for c in corpora]
        )
    rows.append([PLAIN, _DASH, f"{timings[PLAIN].rtc:.4f}", *[_DASH] * (3 * len(corpora))])
    return grid("What is understood, and at what cost", rows)


def _privacy(results: Sequence[Result]) -> str:
    columns = list(dict.fromkeys((a, e) for r in results for a, by in r.eer["all"].items() for e in by))
    rows = [["method", *(f"{attacker} {encoder}" for attacker, encoder in columns), "C-leak"]]
    for r in results:
        known = r.eer["all"]
        rows.append([r.condition, *(percent(known.get(a, {}).get(e)) for a, e in columns), percent(r.leak)])
    return grid("What attackers find out: EER %", rows)


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

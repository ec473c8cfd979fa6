"""A word that a recogniser heard, and when."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a hypothesis. Times are samples at 16 kHz since the start of the stream, [start, end)."""

    text: str = field(repr=False)  # what is said is never printed
    start: int
    end: int
    probability: float = 1.0  # the recogniser's own, from 0 to 1
    language: str = "en"  # "en" or "zh"

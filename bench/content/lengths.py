"""Recall of short and of long words apart: what a short word sounds like is said by chance, so it is found less surely."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...engine.content.entry import SHORT, Entry
from ...engine.content.lexicon import Lexicon
from .material import Stream, listed
from .passing import Looked
from .scores import Tally

# The longest word of each class but the last, which has no end. English: phones. Mandarin: syllables.
BOUNDS = {"en": (SHORT, 5, 7), "zh": (2, 3)}
UNIT = {"en": "phones", "zh": "syllables"}


@dataclass(frozen=True)
class Heard:
    """Of the listed words of one length."""

    length: str  # as in "4 to 5 phones"
    listed: int
    words: int  # of them, spoken
    recall: float
    false: float  # an hour and listed word


def drawn(streams: Sequence[Stream], each: int, seed: int = 0) -> list[str]:
    """Words of every length, up to `each` of every class and stream."""
    found: set[str] = set()
    for stream in streams:
        words = listed([stream], len(stream.words), seed, letters=2)
        taken: dict[int, int] = defaultdict(int)
        for entry in Lexicon.of(np.random.default_rng(seed).permutation(words).tolist(), b"").entries if words else ():
            at = _class(entry, stream.language)
            taken[at] += 1
            if taken[at] <= each:
                found.add(entry.text)
    return sorted(found)


def heard(
    streams: Sequence[Stream], looks: Sequence[Mapping[str, Sequence[Looked]]], delay: float, lexicon: Lexicon
) -> list[Heard]:
    """A row for each class; `looks` by stream and detector, by which hits of the class's words alone count."""
    language = streams[0].language
    classes: dict[int, list[Entry]] = defaultdict(list)
    for entry in lexicon.entries:
        classes[_class(entry, language)].append(entry)
    rows = []
    for at, entries in sorted(classes.items()):
        ids = {entry.term for entry in entries}
        tally = Tally(frozenset(entry.text for entry in entries))
        for stream, detectors in zip(streams, looks, strict=True):
            own = {
                name: [replace(look, hits=tuple(hit for hit in look.hits if hit.term in ids)) for look in one]
                for name, one in detectors.items()
            }
            tally.add(stream, own, delay, strict=False)
        found = tally.result()
        rows.append(Heard(_named(at, language), len(entries), found.words, found.recall, found.false))
    return rows


def _class(entry: Entry, language: str) -> int:
    length = len(entry.syllables) if language == "zh" else min(map(len, entry.phones))
    return int(np.searchsorted(BOUNDS[language], length))


def _named(at: int, language: str) -> str:
    bounds = (0, *BOUNDS[language])
    first, last = bounds[at] + 1, bounds[at + 1] if at + 1 < len(bounds) else None
    many = f"{first} or more" if last is None else str(first) if last == first else f"{first} to {last}"
    return f"{many} {UNIT[language]}"


HEAD = f"{'by the length of listed words':34} {'':20} listed  words recall  false/h/kw"


def line(title: str, row: Heard) -> str:
    """A row of the table."""
    return f"{title:34} {row.length:20} {row.listed:6} {row.words:6} {row.recall:6.3f} {row.false:11.1f}"

"""Where the entries of a word list are in what a recogniser wrote: as they are written, or as they sound.

Whole words alone are compared (a run of Chinese characters at each of them), so that "ann" is not in "annual"; an entry may be
written as more words or fewer than it is listed as. What sounds nearly the same counts too, as far as its length allows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from .entry import Entry
from .inflect import forms
from .likeness import Nearest
from .normalize import Unit, comparable, has_han
from .ordinary import ordinary
from .pronounce import Phones, as_pinyin, of_syllable, sounds
from .transliterate import Beat, Transcribed, beats

# What may differ, as a share of the entry's phones. On 514 s of speech, heard a second at a time, .92 of the listed words of
# five letters and more are found, twins alone .82, with 2.1 false ones an hour and word.
_NEAR = 0.26
_NEAR_ORDINARY = (
    0.12  # where ordinary words were written, which are likely to be right (false ones are 3.4 without), or Chinese
)
_NEAR_PHONES = 5  # shorter entries have to sound the same
_REMEMBERED = 16_384  # stretches of speech: a hypothesis holds most of the one before it
_MOST_WAYS = 16  # pronunciations of some words together
_POSSESSIVES = (("Z",), ("S",), ("AH", "Z"), ("IH", "Z"))


class Match(NamedTuple):
    """From word `first` up to word `last`."""

    first: int
    last: int
    entry: Entry
    cost: float  # of what sounds different, 0 for nothing


class Matcher:
    """Finds entries; read-only once made."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._written: dict[str, list[Entry]] = defaultdict(list)
        self._sounds: dict[Phones, list[Entry]] = defaultdict(list)
        near: list[tuple[Phones, Entry]] = []
        transcribed: list[tuple[Phones, Entry]] = []
        self._pinyin = False
        for entry in entries:
            self._pinyin |= bool(entry.syllables)
            self._written["".join(entry.words)].append(entry)
            spoken = set(entry.phones)
            if entry.match == "inflect":
                for words, ways in forms(entry):
                    self._written["".join(words)].append(entry)
                    spoken |= set(ways)
            if entry.match == "exact":
                continue
            if not entry.chinese:
                spoken |= {phones + ending for phones in spoken for ending in _POSSESSIVES}
            for phones in spoken:
                self._sounds[phones].append(entry)
            near += [(phones, entry) for phones in entry.phones if len(phones) >= _NEAR_PHONES]
            if not (entry.chinese or entry.syllables or entry.careful):
                transcribed += [(phones, entry) for phones in entry.phones]
        self._transcribed = Transcribed(transcribed)
        nearest = Nearest(near)
        self._near = lru_cache(_REMEMBERED)(lambda phones, share: tuple(nearest.find(phones, share)))
        self._written_as = lru_cache(_REMEMBERED)(lambda chinese: tuple(self._transcribed.find(chinese)))
        self._letters = max(map(len, self._written), default=0)
        self._phones = max(map(len, self._sounds), default=0)

    def find(self, units: Sequence[Unit]) -> list[Match]:
        """Every place where an entry is in `surface` units, in order; those of different entries may overlap."""
        found = list(self._as_written(comparable(units)))
        if self._sounds:
            found += self._as_sounded(units)
            found += self._as_transcribed(units)
        return sorted(_best(found), key=lambda match: (match.first, match.last, match.entry.line))

    def _as_written(self, units: Sequence[Unit]) -> Iterator[Match]:
        for begin, unit in enumerate(units):
            text = ""
            for last in units[begin:]:
                text += last.text
                if len(text) > self._letters:
                    break
                for entry in self._written.get(text, ()):
                    yield Match(unit.first, last.last, entry, 0.0)

    def _as_sounded(self, units: Sequence[Unit]) -> Iterator[Match]:
        heard = self._heard(units)
        longest = int(1 + self._phones * (1 + _NEAR))
        for begin in range(len(units)):
            ways: list[Phones] = [()]
            for end in range(begin, len(units)):
                ways = [before + more for before in ways for more in heard[end] if len(before) + len(more) <= longest][
                    :_MOST_WAYS
                ]
                if not ways:
                    break
                for entry, cost in self._sounding(ways, units[begin : end + 1]):
                    yield Match(units[begin].first, units[end].last, entry, cost)

    def _sounding(self, ways: Sequence[Phones], units: Sequence[Unit]) -> Iterator[tuple[Entry, float]]:
        for phones in ways:
            for entry in self._sounds.get(phones, ()):
                if not (entry.careful and _harmless(units)):
                    yield entry, 0.0
            if len(phones) >= _NEAR_PHONES - 1:
                yield from self._near(phones, _NEAR_ORDINARY if _harmless(units) else _NEAR)

    def _as_transcribed(self, units: Sequence[Unit]) -> Iterator[Match]:
        """English in Chinese speech, written by its sound."""
        syllables = [
            beats(ways[0]) if has_han(unit.text) and ways else () for unit, ways in zip(units, sounds(units), strict=True)
        ]
        for begin in range(len(units)):
            chinese: tuple[Beat, ...] = ()
            for end in range(begin, min(begin + self._transcribed.longest, len(units))):
                if not syllables[end]:
                    break
                chinese += syllables[end]
                if end > begin:
                    for entry, cost in self._written_as(chinese):
                        yield Match(units[begin].first, units[end].last, entry, cost)

    def _heard(self, units: Sequence[Unit]) -> list[tuple[Phones, ...]]:
        """Pronunciations of each unit; Latin letters may be pinyin, where the list has any."""
        found = sounds(units)
        if self._pinyin:
            for at, unit in enumerate(units):
                if not has_han(unit.text) and (syllables := as_pinyin(unit.text.replace("'", ""))):
                    phones = tuple(phone for syllable in syllables for phone in of_syllable(syllable))
                    found[at] = tuple(dict.fromkeys((*found[at], phones)))
        return found


def _harmless(units: Sequence[Unit]) -> bool:
    """Whether words are ordinary ones, or Chinese, of whose syllables there are few."""
    return all(ordinary(unit.text) or has_han(unit.text) for unit in units)


def _best(found: Iterable[Match]) -> Iterator[Match]:
    """Of places where one entry overlaps itself, the best: what sounds nearest, then what is shortest."""
    kept: dict[str, list[Match]] = defaultdict(list)
    for match in sorted(found, key=lambda match: (match.cost, match.last - match.first, match.first)):
        if all(match.first >= other.last or match.last <= other.first for other in kept[match.entry.term]):
            kept[match.entry.term].append(match)
            yield match

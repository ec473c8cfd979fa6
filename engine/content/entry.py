"""One entry of a word list: what it is called, how it is compared, how it sounds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product

from .hit import KINDS
from .normalize import Unit, comparable, has_han, surface
from .pronounce import Phones, as_pinyin, in_dictionary, of_syllable, sounds, toneless

CLASSES = tuple(kind for kind in KINDS if kind != "doubt")
MATCHES = ("exact", "phonetic", "inflect")  # each takes in the one before it
SHORT = 3  # phones: what is no longer is said by chance all the time
_LONGEST = 12  # comparable units of an entry
_MOST_SOUNDS = 8  # pronunciations of an entry


class RefusedError(Exception):
    """Why one entry cannot be used, without the word."""


@dataclass(frozen=True)
class Entry:
    """What one line lists; `entry_of` makes it."""

    term: str  # salted id, another in every run
    kind: str  # of CLASSES
    match: str  # of MATCHES
    careful: bool  # short, and nobody asked for what sounds the same: ordinary words that do are left alone
    line: int
    text: str = field(repr=False)  # as it is written
    substitute: str = field(repr=False)  # "" for none
    words: tuple[str, ...] = field(repr=False)  # comparable units
    phones: tuple[Phones, ...] = field(repr=False)  # pronunciations, the commonest first; empty where none is known
    syllables: tuple[str, ...] = field(repr=False)  # toneless, of what is Chinese or pinyin; else empty

    @property
    def chinese(self) -> bool:
        return has_han(self.text)

    @property
    def short(self) -> bool:
        return len(self.syllables) == 1 or (bool(self.phones) and min(map(len, self.phones)) <= SHORT)

    @cached_property
    def guessed(self) -> bool:
        """Whether its sound is known by its letters alone."""
        heard = surface([self.text])
        return not self.syllables and not all(has_han(u.text) or u.text.isdecimal() or in_dictionary(u.text) for u in heard)


def entry_of(text: str, kind: str = "word", match: str = "", substitute: str = "", *, line: int = 0, salt: bytes) -> Entry:
    """The entry for `text`; `match` empty means phonetic. RefusedError for what cannot be used."""
    heard = surface([text])
    words = tuple(unit.text for unit in comparable(heard))
    if not words:
        raise RefusedError("holds no word; give letters, characters or digits before the first |")
    if len(words) > _LONGEST:
        raise RefusedError(f"is of {len(words)} words; give {_LONGEST} at most")
    syllables = _syllables(heard)
    phones = _phones(heard, syllables)
    if not phones and match != "exact":
        raise RefusedError("has no pronunciation in English or Mandarin; give match=exact to find it as it is written alone")
    term = hashlib.blake2b(" ".join(words).encode(), key=salt, digest_size=6).hexdigest()
    entry = Entry(term, kind, match or MATCHES[1], False, line, text, substitute, words, phones, syllables)
    return replace(entry, careful=entry.short and not match)


def _syllables(heard: list[Unit]) -> tuple[str, ...]:
    """Of what is Chinese throughout, or of Latin words that no dictionary has and that are pinyin."""
    if all(has_han(unit.text) for unit in heard):
        return toneless("".join(unit.text for unit in heard))
    spelled = [as_pinyin(unit.text.replace("'", "")) for unit in heard]
    if all(spelled) and not all(in_dictionary(unit.text) for unit in heard):
        return tuple(syllable for syllables in spelled for syllable in syllables)
    return ()


def _phones(heard: list[Unit], syllables: tuple[str, ...]) -> tuple[Phones, ...]:
    ways = [sounds(heard)]
    if syllables and not has_han(heard[0].text):
        ways.insert(0, [(of,) for of in map(of_syllable, syllables)])
    whole = (way for parts in ways for way in islice(product(*parts), _MOST_SOUNDS))
    found = dict.fromkeys(tuple(phone for part in way for phone in part) for way in whole)
    return tuple(found)

"""Forms of an English word: more than one of it, and what is made of a verb."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from .entry import Entry
from .pronounce import Phones, dictionary, of_word

_VOWELS = frozenset("aeiou")
_HISSING, _VOICELESS = frozenset("S Z SH CH JH ZH".split()), frozenset("P T K F TH S SH CH".split())
_MOST_SOUNDS = 8


def forms(entry: Entry) -> Iterator[tuple[tuple[str, ...], tuple[Phones, ...]]]:
    """Comparable words and pronunciations of the forms of an entry's last word; none for what is not English."""
    *before, word = entry.words
    if not (word.isascii() and word.isalpha() and all(unit.isascii() for unit in before)):
        return
    for form, ending in _spelled(word):
        last = of_word(form) if form in dictionary() else tuple(stem + _spoken(ending, stem) for stem in of_word(word))
        ways = islice(product(*(of_word(unit) for unit in before), last), _MOST_SOUNDS)
        yield (*before, form), tuple(tuple(phone for part in way for phone in part) for way in ways)


def _spelled(word: str) -> Iterator[tuple[str, str]]:
    """Forms, and the ending of each."""
    consonant_y = word[-1] == "y" and word[-2:-1] not in _VOWELS
    if word.endswith(("s", "x", "z", "ch", "sh")):
        yield word + "es", "s"
    else:
        yield (word[:-1] + "ies" if consonant_y else word + "s"), "s"
    stem = word[:-1] if word[-1] == "e" else word
    yield (word[:-1] + "ied" if consonant_y else stem + "ed"), "ed"
    yield stem + "ing", "ing"
    if word[-1] not in _VOWELS | {"w", "x", "y"} and word[-2:-1] in _VOWELS and word[-3:-2] not in _VOWELS:  # stop: stopped
        yield word + word[-1] + "ed", "ed"
        yield word + word[-1] + "ing", "ing"


def _spoken(ending: str, stem: Phones) -> Phones:
    if ending == "ing":
        return ("IH", "NG")
    if ending == "ed":
        return ("AH", "D") if stem[-1] in ("T", "D") else ("T",) if stem[-1] in _VOICELESS else ("D",)
    return ("AH", "Z") if stem[-1] in _HISSING else ("S",) if stem[-1] in _VOICELESS else ("Z",)

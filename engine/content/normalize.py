"""Comparable words: what is written in different ways and said in one is the same afterwards.

Case, width, accents and traditional characters are levelled; `@` is at, a dot inside an address is dot; Chinese is taken
character by character. Numbers, in digits or in words, become single digits: "415", "four hundred and fifteen" and "four one
five" are 4 1 5, 二十三 is 2 3.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, takewhile

from .numbers import chinese_digits, english_digits, is_chinese_numeral
from .segment import simplified

HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"  # the numeral zero too
_HAN = re.compile(f"[{HAN}]")
_TOKEN = re.compile(rf"[{HAN}]|\d|[^\W\d_{HAN}]+(?:'[^\W\d_{HAN}]+)*'?|[@&]|(?<=[^\W\d_]{{2}})\.(?=[^\W\d_]{{2}})")
_SAID = {"@": "at", "&": "and", ".": "dot"}
_ORDINALS = frozenset(("st", "nd", "rd", "th"))
_LONGEST = 12  # words of a number that is read as one
_SPELLED = 3  # letters


@dataclass(frozen=True, slots=True)
class Unit:
    """A word, a Chinese character or a digit, and which of the given words it is from: [first, last)."""

    text: str = field(repr=False)
    first: int
    last: int


def has_han(text: str) -> bool:
    return _HAN.search(text) is not None


def surface(texts: Sequence[str]) -> list[Unit]:
    """What is said, unit by unit, in small letters and simplified characters; numbers as they are written."""
    found: list[Unit] = []
    for number, text in enumerate(texts):
        found += [Unit(_said(token), number, number + 1) for token in _TOKEN.findall(_levelled(text))]
    return found


def comparable(units: Sequence[Unit]) -> list[Unit]:
    """`surface` units with digits for numbers, without possessives and apostrophes; spelled-out words are joined."""
    return _joined(_digits([replace(unit, text=without_possessive(unit.text).replace("'", "")) for unit in units]))


def words_of(text: str) -> tuple[str, ...]:
    """The comparable units of `text`."""
    return tuple(unit.text for unit in comparable(surface([text])))


def without_possessive(word: str) -> str:
    return word.removesuffix("'s").rstrip("'") if len(word) > 1 else word


def _said(token: str) -> str:
    return str(int(token)) if token.isdecimal() else _SAID.get(token, token)  # digits of any script


def _levelled(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'").replace("\u2018", "'")
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFD", text)
    text = "".join(letter for letter in parts if unicodedata.category(letter) not in ("Mn", "Cf"))  # accents, joiners
    return simplified(text) if has_han(text) else text


def _digits(units: Sequence[Unit]) -> list[Unit]:
    """Words for numbers become digits, each from all the words that its number takes."""
    found: list[Unit] = []
    at = 0
    while at < len(units):
        taken, digits = _number(units, at, after_digit=bool(found) and found[-1].text.isdecimal())
        if not taken:
            found.append(units[at])
            at += 1
            continue
        first, last = units[at].first, units[at + taken - 1].last
        found += [Unit(digit, first, last) for digit in digits]
        at += taken
        if at < len(units) and units[at].text in _ORDINALS and units[at].first == last - 1:  # "3rd"
            at += 1
    return found


def _number(units: Sequence[Unit], at: int, after_digit: bool) -> tuple[int, str]:
    """How many units from `at` on are a number, and its digits; 0 for none."""
    numerals = "".join(unit.text for unit in takewhile(lambda unit: is_chinese_numeral(unit.text), _from(units, at)))
    if numerals:
        return (len(numerals), digits) if (digits := chinese_digits(numerals)) else (0, "")
    written = _written(units, at)
    words = ([written] if written else []) + [unit.text for unit in units[at + len(written) : at + _LONGEST]]
    digits, taken = english_digits(words, after_digit) or ("", 0)
    return (taken - 1 + len(written) if written else taken), digits


def _written(units: Sequence[Unit], at: int) -> str:
    """The digits from `at` on that are of one word."""
    same = takewhile(lambda unit: unit.text.isdecimal() and unit.first == units[at].first, _from(units, at))
    return "".join(unit.text for unit in same)


def _from(units: Sequence[Unit], at: int) -> Iterator[Unit]:
    return (units[n] for n in range(at, len(units)))


def _joined(units: Sequence[Unit]) -> list[Unit]:
    """Three letters and more that stand alone are one word, spelled out."""
    found: list[Unit] = []
    for single, run in groupby(units, lambda unit: len(unit.text) == 1 and unit.text.isalpha() and not has_han(unit.text)):
        letters = list(run)
        if single and len(letters) >= _SPELLED:
            found.append(Unit("".join(unit.text for unit in letters), letters[0].first, letters[-1].last))
        else:
            found += letters
    return found

"""What gives people away by its form, spoken or written: numbers, cards, ids, e-mail and street addresses, dates.

A number is hidden as a class, from three digits on, since recognisers lose digits. In live speech a card or an id is known only
when its last digit is: where those matter, hide numbers.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from .normalize import HAN, Unit

# Patterns are of the units' texts, each with a space after it.
_FILLER = "(?:(?:dash|hyphen|minus|slash|space|stroke|plus|dot|point|comma|uh|um|er|and|杠|减|点|横|嗯|啊|呃|转) )?"
_MORE = rf"(?:{_FILLER}\d )"
_NUMBER = re.compile(rf"\b\d {_MORE}{{2,}}")
_RESIDENT = re.compile(rf"\b\d {_MORE}{{16}}{_FILLER}[\dx] ")
_NO_ID = "(?!(?:a|i|am|an|as|at|be|by|do|go|he|id|if|in|is|it|me|my|no|of|oh|on|or|so|to|uh|um|up|us|we) )"
_LETTERED = re.compile(rf"\b(?:{_NO_ID}[a-z]{{1,2}} ){{1,2}}\d {_MORE}{{5,}}")
_AT, _DOT = r"(?:at|艾 特|圈 a) ", r"(?:dot|点) "
_JOIN = rf"(?:{_DOT}|underscore |dash |hyphen )"
_EMAIL = re.compile(rf"(?<!\S)(?:\S+ )?\S+ (?:{_JOIN}\S+ |\d ){{0,12}}{_AT}\S+ (?:\S+ ){{0,2}}?{_DOT}\S+ (?:{_DOT}\S+ )*")
_CLEAR_MONTH = (
    "(?:january|february|april|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec) "
)
_MONTH = f"(?:{_CLEAR_MONTH}|(?:march|may) )"  # the last two are words as well: "the 5 may not march to town" has no date
_AFTER_DAY = (
    f"(?:{_CLEAR_MONTH}"
    "|may (?!(?:be|have|not|also|well|come|go|need|take|want|get|make|do|see|find|say|ask|use|still|never|seem|look|feel"
    "|enter) )"
    "|march (?!(?:to|into|through|down|up|off|out|away|past|towards?|together) ))"
)
_YEAR = r"(?:(?:of )?(?:\d ){4})?"
_DATE = re.compile(
    rf"\b(?:{_MONTH}(?:the )?(?:\d ){{1,2}}{_YEAR}|(?:the )?(?:\d ){{1,2}}(?:of {_MONTH}|{_AFTER_DAY}){_YEAR}"
    rf"|(?:(?:\d ){{1,4}}年 )?(?:\d ){{1,2}}月 (?:\d ){{1,2}}(?:[日号] )?|(?:\d ){{1,4}}年 (?:\d ){{1,2}}月 |(?:\d ){{4}}年 )"
)
_NUMERIC_DATE = re.compile(r"(?<!\d)(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2}))(?!\d)")
_NO_NAME = "(?!(?:of|the|on|in|to|a|and|or|from|down|up|at|people|way|more) )"
_STREET = re.compile(
    rf"\b(?:\d ){{1,5}}(?:{_NO_NAME}[a-z]+ ){{1,2}}"
    "(?:street|road|avenue|lane|drive|boulevard|court|square|terrace|crescent|highway|parkway|close|st|rd|ave|ln|blvd) "
    rf"|(?:[{HAN}] ){{1,4}}[路街道巷弄] (?:\d )+[号弄] (?:(?:\d )+[号楼层室] )*"
)
_CARD, _SOCIAL = range(13, 20), 9  # digits
_WEIGHTS, _CHECKS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2), "10x98765432"  # GB 11643


class Ruled(NamedTuple):
    """Words `first` up to `last` are what `kind` says."""

    first: int
    last: int
    kind: str


def find(units: Sequence[Unit], texts: Sequence[str], kinds: Sequence[str]) -> list[Ruled]:
    """Stretches of the words `texts`, whose `comparable` units are given, that are of one of `kinds`, a key of RULES each.

    In order; they may overlap.
    """
    said = "".join(unit.text + " " for unit in units)
    begins = list(accumulate((len(unit.text) + 1 for unit in units), initial=0))
    found = set()
    for kind in kinds:
        for begin, end in RULES[kind](said):
            first, last = bisect_left(begins, begin), bisect_left(begins, end)
            found.add(Ruled(units[first].first, units[last - 1].last, kind))
    if "date" in kinds:
        found |= {Ruled(n, n + 1, "date") for n, text in enumerate(texts) if _NUMERIC_DATE.search(text)}
    return sorted(found)


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of a card's number (ISO/IEC 7812)."""
    doubled = [2 * int(digit) if n % 2 else int(digit) for n, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def resident_id(digits: str) -> bool:
    """Whether 17 digits and a check digit, which may be x, are a Chinese resident's (GB 11643)."""
    return _CHECKS[sum(w * int(d) for w, d in zip(_WEIGHTS, digits[:17], strict=True)) % 11] == digits[17]


Spans = Iterator[tuple[int, int]]


def _form(pattern: re.Pattern[str], said: str) -> Spans:
    return (found.span() for found in pattern.finditer(said))


def _cards(said: str) -> Spans:
    return (found.span() for found in _NUMBER.finditer(said) if len(d := _digits(found[0])) in _CARD and luhn(d))


def _ids(said: str) -> Spans:
    yield from (found.span() for found in _RESIDENT.finditer(said) if resident_id(_digits(found[0])))
    yield from (found.span() for found in _NUMBER.finditer(said) if len(_digits(found[0])) == _SOCIAL)
    yield from _form(_LETTERED, said)


def _digits(said: str) -> str:
    return re.sub(r"[^\dx]", "", said)


RULES: dict[str, Callable[[str], Spans]] = {
    "number": partial(_form, _NUMBER),
    "card": _cards,
    "id": _ids,
    "email": partial(_form, _EMAIL),
    "date": partial(_form, _DATE),
    "address": partial(_form, _STREET),
}

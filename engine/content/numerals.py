"""English numbers in words, as a reader says them."""

from __future__ import annotations

import re

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SIZES = ((1_000, "thousand"), (100, "hundred"))
_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip
_NUMBER = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(st\b|nd\b|rd\b|th\b)?")
_YEARS = range(1100, 2000)


def spelled(text: str) -> str:
    """`text`, in lower case, with words for its digits: "3rd" third, "2,000" two thousand, "1848" eighteen forty eight.

    Seven digits and more, or a zero before others, are read one by one.
    """
    return _NUMBER.sub(lambda found: f" {_words(found[1], ordinal=bool(found[2]))} ", text)


def _words(digits: str, ordinal: bool) -> str:
    number = int(digits.replace(",", ""))
    if number >= 1_000_000 or (len(digits) > 1 and digits[0] == "0"):
        return " ".join(_UNITS[int(digit)] for digit in digits if digit != ",")
    if ordinal:
        *before, last = _cardinal(number).split()
        return " ".join([*before, _ORDINALS.get(last) or last.removesuffix("y") + ("ieth" if last.endswith("y") else "th")])
    if number in _YEARS and "," not in digits:
        century, year = divmod(number, 100)
        return f"{_cardinal(century)} {'hundred' if year == 0 else 'oh ' * (year < 10) + _cardinal(year)}"
    return _cardinal(number)


def _cardinal(number: int) -> str:
    if number < 20:
        return _UNITS[number]
    if number < 100:
        return _TENS[number // 10 - 2] + _more(number % 10)
    size, name = next(entry for entry in _SIZES if number >= entry[0])
    return f"{_cardinal(number // size)} {name}{_more(number % size)}"


def _more(rest: int) -> str:
    return f" {_cardinal(rest)}" if rest else ""

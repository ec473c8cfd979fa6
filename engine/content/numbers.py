"""Numbers in words to digits, English and Chinese: what a recogniser writes down either way is the same number."""

from __future__ import annotations

from collections.abc import Sequence

_SMALL = {
    word: value
    for value, words in enumerate(
        (
            "zero nought naught zeroth", "one first", "two second", "three third", "four fourth", "five fifth", "six sixth",
            "seven seventh", "eight eighth", "nine ninth niner", "ten tenth", "eleven eleventh", "twelve twelfth",
            "thirteen thirteenth", "fourteen fourteenth", "fifteen fifteenth", "sixteen sixteenth", "seventeen seventeenth",
            "eighteen eighteenth", "nineteen nineteenth",
        )
    )
    for word in words.split()
}  # fmt: skip
_TENS = {
    word: 10 * value
    for value, words in enumerate(
        (
            "twenty twentieth", "thirty thirtieth", "forty fortieth fourty", "fifty fiftieth", "sixty sixtieth",
            "seventy seventieth", "eighty eightieth", "ninety ninetieth",
        ),
        2,
    )
    for word in words.split()
}  # fmt: skip
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_ZEROS = frozenset(("oh", "o"))  # only beside other digits
_TIMES = {"double": 2, "triple": 3, "treble": 3}
_HAN_DIGITS = {
    han: value for value, hans in enumerate(("零〇", "一幺", "二两", "三", "四", "五", "六", "七", "八", "九")) for han in hans
}
_HAN_SIZES = {"十": 10, "百": 100, "千": 1_000}
_HAN_SCALES = {"万": 10_000, "亿": 100_000_000}

Digits = tuple[str, int]  # and how many words they took


def is_chinese_numeral(text: str) -> bool:
    return text in _HAN_DIGITS or text in _HAN_SIZES or text in _HAN_SCALES


def english_digits(words: Sequence[str], after_digit: bool = False) -> Digits | None:
    """The number that `words`, in small letters, begin with; None if with none.

    after_digit: digits stand before it, so that "oh" is one of them.
    """
    if not words:
        return None
    if words[0] in _TIMES and len(words) > 1:
        repeated = "0" if words[1] in _ZEROS else words[1] if words[1].isdecimal() else str(_SMALL.get(words[1], ""))
        return (repeated * _TIMES[words[0]], 2) if len(repeated) == 1 else None
    if words[0] in _ZEROS:
        return ("0", 1) if after_digit or english_digits(words[1:]) else None
    if words[0] == "a" and len(words) > 1 and (words[1] == "hundred" or words[1] in _SCALES):
        digits, taken = english_digits(("one", *words[1:])) or ("", 0)
        return digits, taken
    small = _below_hundred(words)
    if small is None:
        return None
    value, at = small
    if at == len(words) or not (words[at] in _SCALES or (words[at] == "hundred" and value < 100)):
        return (words[0] if words[0].isdecimal() else str(value)), at
    total = 0
    while at < len(words):
        if words[at] == "hundred" and value < 100:
            value, at = 100 * value, at + 1
            more, at = _more(words, at)
            value += more
        elif words[at] in _SCALES:
            total, at = total + value * _SCALES[words[at]], at + 1
            value, at = _more(words, at)
        else:
            break
    return str(total + value), at


def chinese_digits(numerals: str) -> str:
    """Digits for a run of Chinese numerals; empty for sizes alone (千万, 百), which are words."""
    if not any(han in _HAN_DIGITS for han in numerals) and not numerals.startswith("十"):
        return ""
    if not any(han in _HAN_SIZES or han in _HAN_SCALES for han in numerals):
        return "".join(str(_HAN_DIGITS[han]) for han in numerals)
    total = section = 0
    digit: int | None = None
    for han in numerals:
        if han in _HAN_DIGITS:
            digit = _HAN_DIGITS[han] if not digit else 10 * digit + _HAN_DIGITS[han]
        elif han in _HAN_SIZES:
            section, digit = section + (1 if digit is None else digit) * _HAN_SIZES[han], None
        else:
            total, section, digit = (total + section + (digit or 0)) * _HAN_SCALES[han], 0, None
    return str(total + section + (digit or 0))


def _below_hundred(words: Sequence[str]) -> tuple[int, int] | None:
    """A number below a hundred, or one written in digits, and how many words it is."""
    if words[0].isdecimal():
        return int(words[0]), 1
    if words[0] in _TENS:
        unit = _SMALL.get(words[1], 0) if len(words) > 1 else 0
        return (_TENS[words[0]] + unit, 2) if 0 < unit < 10 else (_TENS[words[0]], 1)
    return (_SMALL[words[0]], 1) if words[0] in _SMALL else None


def _more(words: Sequence[str], at: int) -> tuple[int, int]:
    """What follows "hundred" or "thousand", with "and" or without: 0 for nothing, and where it ends."""
    begin = at + 1 if at < len(words) and words[at] == "and" else at
    small = _below_hundred(words[begin:]) if begin < len(words) else None
    return (small[0], begin + small[1]) if small else (0, at)

"""Whether one text gives another away: the same word, a form of it, a part of it, or one that sounds the same."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from .normalize import comparable, has_han, surface
from .pronounce import Phones, in_dictionary, of_word, toneless

_STEM = 4  # letters
_REMEMBERED = 8_192  # texts that may stand for others; the originals are not


class _Read(NamedTuple):
    words: tuple[str, ...]  # comparable
    joined: str
    han: str  # as it is written, if all of it is Chinese
    sounds: frozenset[Phones]  # of a single word of the dictionary


def _read(text: str) -> _Read:
    units = surface([text])
    words = tuple(unit.text for unit in comparable(units))
    written = "".join(unit.text for unit in units)
    one = words[0] if len(words) == 1 else ""
    sounds = frozenset(of_word(one)) if one and in_dictionary(one) else frozenset()
    return _Read(words, "".join(words), written if written and all(map(has_han, written)) else "", sounds)


_read_often = lru_cache(_REMEMBERED)(_read)


class Original:
    """What has been said, to be compared with what may stand in its place."""

    def __init__(self, text: str) -> None:
        self._text, self._read = text, _read(text)

    def __repr__(self) -> str:
        return "Original()"

    def is_given_away_by(self, text: str) -> bool:
        """By written form and, for words of the dictionary and Chinese ones, by sound."""
        mine, other = self._read, _read_often(text)
        if not mine.words or not other.words:
            return text == self._text
        a, b = other.joined, mine.joined
        if a == b:
            return True
        if mine.han and other.han:
            return (len(a) > 1 and a in b) or (len(b) > 1 and b in a) or toneless(mine.han) == toneless(other.han)
        if len(mine.words) == len(other.words) == 1:
            return _same_stem(a, b) or bool(mine.sounds & other.sounds)
        x, y = f" {' '.join(mine.words)} ", f" {' '.join(other.words)} "
        return x in y or y in x


def _same_stem(a: str, b: str) -> bool:
    """contract, contracts, contracted; Maria, Marie; car, cars; not Carter, Carson."""
    shared = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    shorter, longer = sorted((len(a), len(b)))
    return shared >= max(_STEM, shorter - 1) or (shared == shorter and longer - shorter <= 2)

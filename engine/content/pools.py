"""What may stand in place of a word: others of its class, the most alike first.

English ones by GloVe. Chinese ones, for which no vectors may be shipped, by form: the same ending (大学, 区), as long, about as
common. All are of public lists.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from functools import cache
from itertools import product
from random import Random
from typing import Protocol

from . import pool_en, pool_zh
from .segment import segmenter
from .vectors import by_nearness, vectors

_COMMON = 20_000  # English words that stand for others; rarer ones are mostly names
_FUNCTION = 150  # the commonest English words (the, of, that) stand for nothing
_MOST = 200  # of like words that are told: enough to leave out forbidden ones
_COUNTED = 100  # times at least that jieba counted a Chinese word: 2,800 nouns of two characters
_NOUN = "n"


class Pools(Protocol):
    """Of one language. Read-only."""

    def alike(self, text: str, kind: str) -> list[str]:
        """What may stand in place of `text`, the most alike first; `text` itself may be among it."""


class EnglishPools:
    """Of one English word; of an organisation or a place also of several. Read-only."""

    def __init__(self) -> None:
        """Raises Unusable where the vectors are missing."""
        self._vectors = vectors()
        self._entries: dict[str, tuple[str, ...]] = {
            "first": pool_en.FIRST_NAMES,
            "last": pool_en.SURNAMES,
            "name": (*pool_en.FIRST_NAMES, *pool_en.SURNAMES),
            "place": pool_en.PLACES,
            "organisation": pool_en.ORGANISATIONS,
            "word": tuple(w for w in self._vectors.words[_FUNCTION:_COMMON] if w.isascii() and w.isalpha() and len(w) > 1),
        }
        self._matrices = {pool: self._vectors.stack(entries) for pool, entries in self._entries.items()}
        self._first, self._last = ({name.lower() for name in self._entries[pool]} for pool in ("first", "last"))

    def alike(self, text: str, kind: str) -> list[str]:
        """The words most like `text`; the most typical ones of its class if `text` has no vector."""
        pool = kind if kind in self._entries else "word"
        if pool == "name" and (text.lower() in self._first) != (text.lower() in self._last):
            pool = "first" if text.lower() in self._first else "last"
        entries, matrix = self._entries[pool], self._matrices[pool]
        at = self._vectors.of(text)
        return [entries[n] for n in by_nearness(matrix.mean(axis=0) if at is None else at, matrix, _MOST)]


class ChinesePools:
    """Of some Chinese characters: a name, a word. Read-only."""

    def __init__(self) -> None:
        """Raises Unusable where jieba is missing."""
        self._segmenter = segmenter()

    def alike(self, text: str, kind: str) -> list[str]:
        if kind == "name":
            return _alike_names(text)
        if kind == "place":
            return _places().alike(text)
        if kind == "organisation":
            return _organisations().alike(text)
        return _words(self._segmenter.tag(text) or _NOUN).alike(text)


def _alike_names(text: str) -> list[str]:
    """Foreign names for what is written like one; 李经理 keeps the title; else as many characters, none of them the same."""
    title = next((title for title in pool_zh.TITLES if len(text) > len(title) and text.endswith(title)), "")
    if title:
        return [surname + title for surname in pool_zh.PERSONS_SURNAMES]
    if len(text) == 1:
        return list(pool_zh.PERSONS_SURNAMES)
    foreign = text[0] not in pool_zh.SURNAMES and all(character in pool_zh.TRANSCRIBED for character in text)
    if foreign or len(text) > 4:
        return _foreign_names().alike(text)
    if text[0] in "小老阿":
        return [text[0] + given for given in pool_zh.GIVEN_NAMES if len(given) == 1]
    given_length = max(1, len(text) - 1 - (text[:2] in pool_zh.DOUBLE_SURNAMES))
    return [name for name in _persons(given_length) if not set(name) & set(text)][:_MOST]


@cache
def _persons(given_length: int) -> tuple[str, ...]:
    given = [name for name in pool_zh.GIVEN_NAMES if len(name) == given_length]
    names = ["".join(pair) for pair in product(pool_zh.PERSONS_SURNAMES, given)]
    Random(0).shuffle(names)  # so that the first ones differ in both; in one order, as every pool
    return tuple(names)


class _Forms:
    """Some words, to be looked up by form."""

    def __init__(self, counted: dict[str, int]) -> None:
        """Words and how often each was counted."""
        self._common = {word: math.log(count) for word, count in counted.items()}
        self._ending: defaultdict[str, list[str]] = defaultdict(list)
        self._long: defaultdict[int, list[str]] = defaultdict(list)
        for word in sorted(counted, key=counted.__getitem__):
            self._ending[word[-1]].append(word)
            self._long[len(word)].append(word)

    def alike(self, text: str) -> list[str]:
        """What ends like `text` first, of that what is as long, of that what is about as common."""
        common = self._common.get(text, 0.0)

        def unlike(word: str) -> tuple[int, int, float, str]:
            return -_same_end(word, text), abs(len(word) - len(text)), abs(self._common[word] - common), word

        if len(self._common) <= _MOST:
            return sorted(self._common, key=unlike)
        as_long = self._long[min(self._long, key=lambda length: abs(length - len(text)))]
        at = bisect_left(as_long, common, key=self._common.__getitem__)
        return sorted({*self._ending.get(text[-1], ()), *as_long[max(0, at - _MOST) : at + _MOST]}, key=unlike)[:_MOST]


def _same_end(a: str, b: str) -> int:
    """How many of the last two characters are the same."""
    return 0 if a[-1] != b[-1] else 1 + (a[-2:-1] == b[-2:-1])


@cache
def english_pools() -> EnglishPools:
    """The ones of this process. Raises Unusable where vectors are missing."""
    return EnglishPools()


@cache
def chinese_pools() -> ChinesePools:
    """The ones of this process. Raises Unusable where jieba is missing."""
    return ChinesePools()


@cache
def _places() -> _Forms:
    return _Forms(dict.fromkeys(pool_zh.PLACES, 1))


@cache
def _foreign_names() -> _Forms:
    return _Forms(dict.fromkeys(pool_zh.FOREIGN_NAMES, 1))


@cache
def _organisations() -> _Forms:
    counted = {name: count for name, count in segmenter().of_class(["nt"]).items() if name.endswith(pool_zh.ORGANISATION_ENDS)}
    return _Forms({**dict.fromkeys(pool_zh.ORGANISATIONS, _COUNTED), **counted})


@cache
def _words(tag: str) -> _Forms:
    """Common ones of a class of jieba's; nouns for a class that has none."""
    counted = {word: count for word, count in segmenter().of_class([tag]).items() if count >= _COUNTED}
    return _Forms(counted) if counted else _words(_NOUN)

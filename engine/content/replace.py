"""What is put in place of a sensitive stretch of text, by one of four modes.

similar: drawn uniformly from the n most alike of its class (the source's rule); for numbers and the like another of the same
form. random: characters of equal length. mask: ***. fixed: the list's substitute, or the class in brackets.

Within a session the same is replaced by the same, and different things by different ones while there are enough. Which, depends
on a secret that is drawn anew for each session; the originals are not kept. Never put in is a listed word, or what sounds like
one; nor the original, a form of it, or what sounds like it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from random import Random

from .lexicon import Lexicon
from .match import Matcher
from .normalize import Unit, has_han, surface, words_of
from .pools import Pools, chinese_pools, english_pools
from .pronounce import in_dictionary
from .shapes import cased, of_form, of_length
from .twins import Original

MODES = ("similar", "random", "mask", "fixed")
MASK = "***"
MOST_ALIKE = 100

_OF_A_FORM = frozenset(("number", "date", "address", "email", "card", "id"))  # of the kinds; the others are words
_POOLS: dict[str, Callable[[], Pools]] = {"en": english_pools, "zh": chinese_pools}
_DRAWS = 50
_REMEMBERED = 8_192  # of candidates, whether they are listed: 1 ms each
_VOWELS = frozenset("aeiouy")
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_WORDS = re.compile(r"[\w'\u2019-]+|[^\w'\u2019-]+")


class Replacer:
    """Replaces one stretch after the other, for one session and one thread."""

    def __init__(self, mode: str, lexicon: Lexicon | None = None, n: int = 20, seed: int | None = None) -> None:
        """seed: makes it repeatable, and known to whoever knows the seed.

        ValueError for an unknown mode, or an n that is not 1 to 100.
        """
        if mode not in MODES:
            raise ValueError(f"mode {mode!r}: give one of {', '.join(MODES)}")
        if not 1 <= n <= MOST_ALIKE:
            raise ValueError(f"n {n}: give 1 to {MOST_ALIKE}")
        self._mode, self._n, self._lexicon = mode, n, lexicon
        self._matcher = Matcher(lexicon.entries) if lexicon else None
        self._listed = lru_cache(_REMEMBERED)(self._is_listed) if lexicon else lambda text: False
        self._secret = secrets.token_bytes(32) if seed is None else hashlib.sha256(str(seed).encode()).digest()
        self._given: dict[bytes, str] = {}  # by a keyed hash of the original
        self._taken: set[str] = set()

    def __repr__(self) -> str:
        return f"Replacer({self._mode!r}, {len(self._given)} given)"

    def load(self, languages: Iterable[str]) -> None:
        """What `similar` needs for "en" and "zh", now instead of at its first use. Raises Unusable where that is missing."""
        if self._mode == "similar":
            for language in languages:
                _POOLS[language]()

    def replace(self, text: str, kind: str, term: str = "") -> str:
        """What stands in place of `text`, a whole stretch without punctuation around it. term: of the entry that it is, if any.

        Raises Unusable where `similar` needs what was not loaded and is missing.
        """
        if self._mode == "mask":
            return MASK
        if self._mode == "fixed":
            entry = self._lexicon.entry(term) if self._lexicon and term else None
            return (entry and entry.substitute) or f"[{kind}]"
        if kind == "name" and not has_han(text):  # word by word: who is called by first name or surname is the same person
            return "".join(self._one(piece, kind) if piece[0].isalnum() else piece for piece in _WORDS.findall(text))
        return self._one(text, kind)

    def listed_words(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Where among `words` listed ones are, or what sounds like them: [first, last). Without a vowel none sounds."""
        if self._matcher is None:
            return []
        return [(match.first, match.last) for match in self._matcher.find(_sounding(words))]

    def _one(self, text: str, kind: str) -> str:
        possessive = _POSSESSIVE.search(text)
        ending = possessive[0] if possessive else ""
        bare = text.removesuffix(ending)
        key = self._hash(f"{kind} {' '.join(words_of(bare)) or bare}")
        if key not in self._given:
            self._given[key] = self._drawn(bare, kind, key) or MASK
            self._taken.add(self._given[key])
        return (self._given[key] if has_han(bare) else cased(self._given[key], bare)) + ending

    def _drawn(self, text: str, kind: str, key: bytes) -> str | None:
        """One that may stand for `text`, at best one that stands for nothing else yet; None if there is none."""
        if self._mode == "similar" and kind not in _OF_A_FORM:
            alike = _POOLS["zh" if has_han(text) else "en"]().alike(text, kind)
            choices = list(islice(self._allowed(alike, text), self._n))
            free = [choice for choice in choices if choice not in self._taken] or choices
            return Random(int.from_bytes(key)).choice(free) if free else None
        shape = of_form if self._mode == "similar" else of_length
        made = list(islice(self._allowed(self._made(shape, text, key), text), 1))
        return made[0] if made else None

    def _made(self, shape: Callable[[str, Random], str], text: str, key: bytes) -> Iterator[str]:
        lots = Random(int.from_bytes(key))
        drawn = (shape(text.lower(), lots) for _ in range(_DRAWS))
        return (made for made in drawn if made not in self._taken)

    def _allowed(self, candidates: Iterable[str], text: str) -> Iterator[str]:
        original = Original(text)
        return (one for one in candidates if not original.is_given_away_by(one) and not self._listed(one))

    def _is_listed(self, text: str) -> bool:
        """Whether a listed word is in it, or may sound like it: English words whose sound no dictionary tells may."""
        unknown = any(_latin(unit.text) and not in_dictionary(unit.text) for unit in _sounding([text]))
        return unknown or bool(self.listed_words([text]))

    def _hash(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode(), key=self._secret, digest_size=32).digest()


def _sounding(words: Sequence[str]) -> list[Unit]:
    return [unit for unit in surface(words) if not _latin(unit.text) or set(unit.text) & _VOWELS]


def _latin(text: str) -> bool:
    return text.isascii() and text.isalpha()

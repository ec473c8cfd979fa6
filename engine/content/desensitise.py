"""Text without what is sensitive in it: found by a word list, rules, names and, if asked for, by inference, and replaced."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .find import CATEGORIES, LANGUAGES, Finder, Found
from .infer import THRESHOLD, Inference
from .lexicon import Lexicon
from .normalize import HAN, has_han
from .replace import MASK, Replacer
from .word import Word

INFERRED = "inferred"  # among the counts: what inference alone found

_TOKEN = re.compile(rf"[{HAN}]|[^\s{HAN}]+")
_PIECE = re.compile(r".{1,4000}(?:\s|\Z)|.{1,4000}", re.DOTALL)  # what is looked at as a whole
_EDGES = re.compile(r"^[\W_]*(.*?)(?:['\u2019]s)?[\W_]*$", re.DOTALL)
_SCRIPTS = frozenset(("LATIN", "CJK"))
_SIGN = re.compile(r"[\u0370-\u03ff][A-Za-z]{0,2}")  # a Greek letter, with a unit perhaps: micrometre
_OF_LANGUAGE = {"auto": LANGUAGES} | {language: (language,) for language in LANGUAGES}


@dataclass(frozen=True, slots=True)
class Desensitised:
    """Text that may be shown, and how many stretches of each kind were replaced in it."""

    text: str = field(repr=False)
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Characters `start` up to `end` of a text."""

    start: int
    end: int
    kind: str  # of hit.KINDS, or INFERRED
    term: str  # of the word list's entry, as its salted id; "" for a class


class Desensitiser:
    """Desensitises one text after the other; within it, the same is replaced by the same. For one thread."""

    def __init__(
        self,
        mode: str = "similar",
        n: int = 20,
        t: float = THRESHOLD,
        lexicon: Lexicon | None = None,
        categories: Iterable[str] = CATEGORIES,
        language: str = "auto",
        infer: bool = False,
        seed: int | None = None,
    ) -> None:
        """
        mode: similar, random, mask or fixed (`replace.py`). n: of how many alike one is drawn, 1 to 100.
        infer: also replace English words whose cosine with their sentence is above t (`infer.py`).
        categories: of `find.CATEGORIES`, all by default. language: en, zh, or auto for both.
        seed: makes replacements repeatable, and known to whoever knows the seed.

        ValueError for what is none of these, or nothing to find; Unusable where a package is missing.
        """
        if language not in _OF_LANGUAGE:
            raise ValueError(f"language {language!r} is none that is found: give one of {', '.join(_OF_LANGUAGE)}")
        self._languages = _OF_LANGUAGE[language]
        if infer and "en" not in self._languages:
            raise ValueError("inference has no vectors of Chinese words: give en or auto as the language, or leave it out")
        self._replacer = Replacer(mode, lexicon, n, seed)
        categories = tuple(categories)
        only_inferred = infer and lexicon is None and not categories
        self._finder = None if only_inferred else Finder(lexicon, categories, self._languages)
        self._inference = Inference(t) if infer else None
        self._replacer.load(self._languages)

    def __call__(self, text: str) -> Desensitised:
        """ValueError for text in letters that none of the languages has."""
        written, done = "", 0
        counts: Counter[str] = Counter()
        for stretch in self.stretches(text):
            kind = "word" if stretch.kind == INFERRED else stretch.kind
            replacement = self._replacer.replace(text[stretch.start : stretch.end], kind, stretch.term)
            written += text[done : stretch.start] + replacement
            counts[stretch.kind] += 1
            done = stretch.end
        return Desensitised(self._checked(written + text[done:]), dict(sorted(counts.items())))

    def stretches(self, text: str) -> list[Stretch]:
        """What of `text` is replaced, in order. ValueError for text in letters that none of the languages has."""
        self._check(text)
        found: list[Stretch] = []
        for piece in _PIECE.finditer(text):
            tokens = list(_TOKEN.finditer(text, piece.start(), piece.end()))
            for one in _apart(self._find([token[0] for token in tokens])):
                start, end = _trimmed(text, tokens[one.first].start(), tokens[one.last - 1].end())
                found.append(Stretch(start, end, one.kind, one.term))
        return found

    def _find(self, texts: Sequence[str]) -> list[Found]:
        found: list[Found] = []
        if self._finder is not None:
            found += self._finder.find([Word(text, 0, 0, language="zh" if has_han(text) else "en") for text in texts])
        if self._inference is not None:
            found += [Found(n, n + 1, INFERRED) for n in self._inference.find(texts)]
        return found

    def _check(self, text: str) -> None:
        if "zh" not in self._languages and has_han(text):
            raise ValueError("the text holds Chinese, which is not looked for: give zh or auto as the language")
        for word in re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", text)):
            scripts = {unicodedata.name(letter, "UNKNOWN").split()[0] for letter in word} - _SCRIPTS
            for script in scripts if not _SIGN.fullmatch(word) else ():  # one is enough: a Cyrillic A looks like a Latin one
                raise ValueError(f"the text holds {script.capitalize()} letters: nothing sensitive is found in their languages")

    def _checked(self, text: str) -> str:
        """`text`, with whatever listed word replacements made up together with their neighbours masked."""
        while True:
            tokens = list(_TOKEN.finditer(text))
            stretches = self._replacer.listed_words([token[0] for token in tokens])
            if not stretches:
                return text
            first, last = stretches[0]
            text = text[: tokens[first].start()] + MASK + text[tokens[last - 1].end() :]


def _apart(found: Sequence[Found]) -> list[Found]:
    """Overlapping stretches joined: all of it goes, as what the first, longest, listed one is. Inference comes last."""
    joined: list[Found] = []
    for one in sorted(found, key=lambda f: (f.first, f.kind == INFERRED, -f.last, not f.term)):
        if joined and one.first < joined[-1].last:
            before = joined[-1]
            kind, term = (one.kind, one.term) if before.kind == INFERRED else (before.kind, before.term)
            joined[-1] = Found(before.first, max(before.last, one.last), kind, term)
        else:
            joined.append(one)
    return joined


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without the punctuation around it, which stays; nor a possessive's ending."""
    inner = _EDGES.match(text[start:end])
    return (start + inner.start(1), start + inner.end(1)) if inner and inner[1] else (start, end)

"""The text side of detection: which words of a hypothesis are to be hidden, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from . import rules
from .lexicon import Lexicon
from .match import Matcher
from .names import KINDS as NAMED
from .names import names
from .normalize import comparable, surface
from .word import Word

CATEGORIES = (*NAMED, *rules.RULES)
LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Found:
    """Words `first` up to `last`, half-open, are to be hidden."""

    first: int
    last: int
    kind: str  # of hit.KINDS
    term: str = ""  # the entry's salted id; "" for a category


class Finder:
    """Finds listed words, and what is of some categories, in words that a recogniser or a writer gives. For any thread."""

    def __init__(self, lexicon: Lexicon | None, categories: Iterable[str] = (), languages: Iterable[str] = ("en",)) -> None:
        """ValueError for a category or a language that nothing finds, and for a list in none of `languages`; Unusable where a
        package is missing."""
        self.lexicon = lexicon
        self.categories = _known("category", categories, CATEGORIES)
        self.languages = _known("language", languages, LANGUAGES)
        if not self.languages:
            raise ValueError(f"no language to find words in: give one of {', '.join(LANGUAGES)}")
        if lexicon is None and not self.categories:
            raise ValueError("nothing to find: give a word list, or a category")
        if lexicon is not None and "zh" not in self.languages:
            chinese = next((entry.line for entry in lexicon.entries if entry.chinese), None)
            if chinese is not None:
                raise ValueError(f"word list: line {chinese} is Chinese, which is not looked for: add zh to the languages")
        self._matcher = Matcher(lexicon.entries if lexicon else ())
        self._rules = [kind for kind in self.categories if kind in rules.RULES]
        self._named = frozenset(self.categories) & frozenset(NAMED)
        self._names = [names(language) for language in self.languages] if self._named else []

    def find(self, words: Sequence[Word]) -> list[Found]:
        """What is to be hidden of `words`, in order; stretches for different reasons may overlap."""
        texts = [word.text for word in words]
        heard = surface(texts)
        found = {Found(m.first, m.last, m.entry.kind, m.entry.term) for m in self._matcher.find(heard)}
        if self._rules:
            found |= {Found(*ruled) for ruled in rules.find(comparable(heard), texts, self._rules)}
        for finder in self._names:
            found |= {Found(named.first, named.last, named.kind) for named in finder.find(texts) if named.kind in self._named}
        return sorted(found, key=lambda one: (one.first, one.last, one.kind, one.term))

    def __repr__(self) -> str:
        return f"Finder({self.lexicon!r}, categories={self.categories}, languages={self.languages})"


def _known(what: str, given: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """`given` without repetition; ValueError for what is none of `known`."""
    asked = tuple(dict.fromkeys(given))
    for one in asked:
        if one not in known:
            raise ValueError(f"{what} {one!r} is none that is found: give one of {', '.join(known)}")
    return asked

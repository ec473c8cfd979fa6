"""Chinese text into words and their classes, by jieba's dictionary (349k words, MIT) and its rules for other words.

Its own way of loading is not used: that reads and writes `jieba.cache` in the temporary folder, where anybody may put one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from .extras import needed


class Tagged(NamedTuple):
    """A word and its class in jieba's letters: nr a person, ns a place, nt an organisation, n a noun, eng Latin letters, ..."""

    text: str
    tag: str


class Segmenter:
    """Cuts text; read-only once made, so shared by all streams. 42 MB, .9 s to load, 2 ms a sentence."""

    def __init__(self) -> None:
        """Raises Unusable where jieba is missing."""
        with warnings.catch_warnings():  # of how its own sources are written
            warnings.simplefilter("ignore")
            posseg = needed("jieba.posseg", "Chinese text")
        self._words: Any = needed("jieba", "Chinese text").Tokenizer()
        self._words.FREQ, self._words.total = self._words.gen_pfdict(self._words.get_dict_file())
        self._words.initialized = True
        self._tagger: Any = posseg.POSTokenizer(self._words)  # which reads the classes

    def words(self, text: str) -> list[str]:
        """`text` in pieces that together are `text`: words, runs of Latin letters, runs of digits, single other characters."""
        return list(self._words.cut(text))

    def tagged(self, text: str) -> list[Tagged]:
        """The same with classes; what lies between words has the class x."""
        return [Tagged(pair.word, pair.flag) for pair in self._tagger.cut(text)]

    def of_class(self, tags: Iterable[str]) -> dict[str, int]:
        """All words of the dictionary with one of these classes, and how often each was counted."""
        wanted = frozenset(tags)
        return {word: self._words.FREQ[word] for word, tag in self._tagger.word_tag_tab.items() if tag in wanted}

    def counted(self) -> dict[str, int]:
        """All words of the dictionary, and how often each was counted."""
        return {word: count for word, count in self._words.FREQ.items() if count}

    def count(self, word: str) -> int:
        """How often a word was counted; 0 for one that the dictionary lacks."""
        return int(self._words.FREQ.get(word) or 0)

    def tag(self, word: str) -> str:
        """The class of a word of the dictionary; "" for others."""
        return str(self._tagger.word_tag_tab.get(word, ""))


@cache
def segmenter() -> Segmenter:
    """The one of this process. Raises Unusable where jieba is missing."""
    return Segmenter()


def simplified(text: str) -> str:
    """`text` with traditional characters as simplified ones, as many as before. Raises Unusable where opencc is missing."""
    converted = str(_simplifier().convert(text))
    return converted if len(converted) == len(text) else "".join(str(_simplifier().convert(c))[:1] or c for c in text)


@cache
def _simplifier() -> Any:
    return needed("opencc", "Chinese text").OpenCC("t2s")

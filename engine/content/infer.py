"""Sensitive words that nobody listed, by the rule of Niu et al. (2024): a word carries what its sentence is about if the cosine
of its vector with the mean vector of the sentence is above a threshold.

Kept to content words, in the mean as well: over all words, "I" and "my" lead the ranking and the name comes last. Even so it
does not tell what is sensitive: at the source's threshold of .6 it flags .83 of the content words of sentences that hold
something sensitive and .89 of those of harmless ones (`bench/content/text.py`). So it hides far more than rules and names do,
and is off unless asked for. English only: no Chinese vectors may be shipped.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence

import numpy as np

from .extras import needed
from .names import spacy_model
from .normalize import has_han
from .vectors import unit, vectors

THRESHOLD = 0.6

_WHAT = "inferring sensitive words"
_CONTENT = frozenset(("NOUN", "PROPN", "VERB", "ADJ"))
_EDGES = re.compile(r"^\W+|(?:['\u2019]s)?\W*$")
_LAST_OF_SENTENCE = re.compile(r"[.!?\u3002\uff01\uff1f]['\")\u2019\u201d]*$")


class Inference:
    """Flags words of English sentences. For any thread. 3 ms a sentence."""

    def __init__(self, threshold: float = THRESHOLD) -> None:
        """ValueError for a threshold that is not from -1 to 1; Unusable where a package is missing."""
        if not -1 <= threshold <= 1:
            raise ValueError(f"threshold {threshold:g}: give a cosine, -1 to 1")
        self._threshold = threshold
        self._vectors = vectors()
        self._tagger = spacy_model(_WHAT, ["ner", "parser", "lemmatizer", "senter"])
        self._doc = needed("spacy.tokens", _WHAT, "pii").Doc
        self._one_at_a_time = threading.Lock()

    def find(self, words: Sequence[str]) -> list[int]:
        """Numbers of the words to hide, in order. Punctuation may be attached to words; Chinese ones are passed over."""
        found: list[int] = []
        for first, last in _sentences(words):
            content = self._content(words, first, last)
            if content:
                at = self._vectors.stack([word for _, word in content])
                cosines = at @ unit(np.mean(at, axis=0, dtype=np.float32))
                found += [n for (n, _), cosine in zip(content, cosines, strict=True) if cosine > self._threshold]
        return found

    def _content(self, words: Sequence[str], first: int, last: int) -> list[tuple[int, str]]:
        """The content words of a sentence that have a vector, and their numbers."""
        bare = [(n, _EDGES.sub("", words[n])) for n in range(first, last) if not has_han(words[n])]
        bare = [(n, word) for n, word in bare if word]
        if not bare:
            return []
        with self._one_at_a_time, self._tagger.memory_zone():  # forgets the words afterwards
            doc = self._tagger(self._doc(self._tagger.vocab, words=[word for _, word in bare]))
            wanted = [token.pos_ in _CONTENT and not token.is_stop for token in doc]
        return [
            pair for pair, is_wanted in zip(bare, wanted, strict=True) if is_wanted and self._vectors.of(pair[1]) is not None
        ]


def _sentences(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    first = 0
    for n, word in enumerate(words, 1):
        if n == len(words) or _LAST_OF_SENTENCE.search(word):
            yield first, n
            first = n

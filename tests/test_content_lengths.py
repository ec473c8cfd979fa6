"""Recall by the length of words (C14), on streams and looks made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from needs import lacking
from velavox.bench.content.lengths import HEAD, drawn, heard, line
from velavox.bench.content.material import RATE, Spoken, Stream
from velavox.bench.content.passing import Looked
from velavox.engine.content.hit import Hit
from velavox.engine.content.lexicon import Lexicon
from velavox.engine.failure import Unusable


def stream(language: str, *words: str, seconds: int = 40) -> Stream:
    """A word every two seconds, half a second long."""
    said = tuple(Spoken(word, 2 * n * RATE, 2 * n * RATE + RATE // 2) for n, word in enumerate(words))
    return Stream("s", language, np.zeros(seconds * RATE, np.float32), said)


def lexicon(*words: str) -> Lexicon:
    try:
        return Lexicon.of(words, b"test")
    except Unusable as error:
        lacking(str(error))


def looked(found: Lexicon, said: Stream, *heard: str) -> dict[str, list[Looked]]:
    """A perfect detector of these words alone."""
    terms = {entry.text: entry.term for entry in found.entries}
    hits = tuple(Hit(word.start, word.end, "word", terms[word.text], "x") for word in said.words if word.text in heard)
    return {"x": [Looked(hits, len(said.samples), 0.0, 0.1)]}


def test_each_length_has_its_own_recall() -> None:
    said = stream("en", "gnu", "yak", "walrus", "rhinoceros", "yak", "the")
    found = lexicon("gnu", "yak", "walrus", "rhinoceros")
    rows = heard([said], [looked(found, said, "yak", "rhinoceros")], 2.0, found)
    assert [(row.length, row.listed, row.words, row.recall) for row in rows] == [
        ("1 to 3 phones", 2, 3, pytest.approx(2 / 3)),
        ("6 to 7 phones", 1, 1, 0),
        ("8 or more phones", 1, 1, 1),
    ]
    assert "0.667" in line("t", rows[0])
    assert len(line("t", rows[0])) <= len(HEAD)


def test_a_false_alarm_is_counted_with_its_own_word() -> None:
    said = stream("en", "walrus", "rhinoceros")
    found = lexicon("walrus", "rhinoceros")
    alarm = Hit(20 * RATE, 21 * RATE, "word", found.entries[0].term, "x")
    rows = heard([said], [{"x": [Looked((alarm,), len(said.samples), 0.0, 0.1)]}], 2.0, found)
    assert [row.false for row in rows] == [pytest.approx(3600 / 40), 0]


def test_chinese_is_counted_in_syllables() -> None:
    said = stream("zh", "北京", "王建国", "清华大学")
    found = lexicon("北京", "王建国", "清华大学")
    rows = heard([said], [looked(found, said, "北京")], 2.5, found)
    lengths = ["1 to 2 syllables", "3 syllables", "4 or more syllables"]
    assert [(row.length, row.recall) for row in rows] == list(zip(lengths, (1, 0, 0), strict=True))


def test_words_of_every_length_are_drawn() -> None:
    lexicon("gnu")  # what sounds have to be known by
    said = stream("en", "the", "gnu", "yak", "emu", "walrus", "rhinoceros", "of")
    assert drawn([said], 9) == ["emu", "gnu", "rhinoceros", "walrus", "yak"]
    assert {"emu", "rhinoceros", "walrus"} < set(drawn([said], 1))  # alone of their lengths
    assert len(drawn([said], 1)) == 4
    assert drawn([stream("en", "the", "of")], 9) == []

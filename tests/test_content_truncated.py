"""The source's figure: utterances are cut between words, and what was not heard is not known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest
from needs import lacking
from velavox.bench.content.material import Spoken, Stream
from velavox.bench.content.truncated import SIXTHS, read, taken, utterances
from velavox.bench.speech import clips
from velavox.engine.content.whisper import RATE, Whisper
from velavox.engine.content.word import Word
from velavox.engine.failure import Unusable
from velavox.kernels.jit import F32

pytest.importorskip("whisper_normalizer", reason="needs the extra audit")

NAMES = "abigail benedict charlotte dominic eleanor ferdinand".split()
STREAM = Stream(
    "s", "en", np.zeros(6 * RATE, np.float32), tuple(Spoken(name, n * RATE, (n + 1) * RATE) for n, name in enumerate(NAMES))
)


class Perfect:
    """Hears every second's name."""

    def hear(self, samples: F32, languages: Sequence[str] = ("en",), start: int = 0) -> list[Word]:
        return [Word(name, n * RATE, (n + 1) * RATE) for n, name in enumerate(NAMES[: len(samples) // RATE])]


def test_utterances_are_whole_words_in_order() -> None:
    long = Stream(
        "s", "en", np.arange(40 * RATE, dtype=np.float32), tuple(Spoken(str(n), n * RATE, (n + 1) * RATE) for n in range(3, 35))
    )
    found = list(utterances(long))
    assert [word.text for one in found for word in one.words] == [str(n) for n in range(3, 35)]
    assert all(len(one.samples) <= 6 * RATE for one in found)
    assert [one.samples[0] for one in found[:2]] == [3 * RATE, 9 * RATE]
    assert all(one.words[0].start == 0 and one.words[-1].end == len(one.samples) for one in found)
    assert list(utterances(Stream("s", "en", long.samples, ()))) == []


def test_of_a_perfect_recogniser_recall_is_what_was_heard() -> None:
    try:
        rows = taken([STREAM], cast(Whisper, Perfect()))
    except Unusable as error:
        lacking(str(error))
    assert [row.sixths for row in rows] == list(SIXTHS)
    assert [row.recall for row in rows] == pytest.approx([n / 6 for n in SIXTHS])
    assert rows[-1].cer == 0
    assert rows[0].cer == pytest.approx(5 / 6, abs=0.05)


def test_the_streaming_recogniser_knows_more_the_more_it_hears() -> None:
    """Of one clip, words of which stand where they are said."""
    times = {"required": (0.7, 1.2), "promise": (2.0, 2.5), "assume": (3.3, 3.8), "regal": (4.0, 4.4), "title": (4.4, 4.9)}
    words = tuple(Spoken(word, round(start * RATE), round(end * RATE)) for word, (start, end) in times.items())
    try:
        rows = read([Stream("27", "en", clips()["27-123349-0009"], words)])
    except Unusable as error:
        lacking(str(error))
    assert [row.sixths for row in rows] == list(SIXTHS)
    assert [row.recall for row in rows] == sorted(row.recall for row in rows)
    assert rows[0].recall == 0 < rows[-1].recall
    assert rows[0].per > 0.7

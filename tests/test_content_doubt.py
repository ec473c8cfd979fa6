"""Strict mode: what is no silence and in no word, and words that are not sure."""

from __future__ import annotations

import numpy as np
import pytest
from velavox.engine.content.doubt import FRAME, doubtful, levels
from velavox.engine.content.word import Word
from velavox.kernels.jit import F32

RATE = 16_000


def speech(*stretches: tuple[float, float], seconds: float = 4.0) -> F32:
    """Noise at -20 dBFS in these seconds, elsewhere at -70."""
    x = np.random.default_rng(0).normal(0, 10**-3.5, round(seconds * RATE))
    for start, end in stretches:
        x[round(start * RATE) : round(end * RATE)] *= 10**2.5
    return x.astype(np.float32)


def word(start: float, end: float, probability: float = 1.0) -> Word:
    return Word("x", round(start * RATE), round(end * RATE), probability)


def found(x: F32, *words: Word, sure: float = 0.5, since: float = 0.0, until: float = 9.0) -> list[tuple[float, float]]:
    spans = doubtful(levels(x), 0, words, sure, round(since * RATE), round(until * RATE))
    return [(start / RATE, end / RATE) for start, end in spans]


def test_levels_are_true() -> None:
    level = levels(speech((1, 2)))
    assert level.shape == (4 * RATE // FRAME,)
    assert level[60:90].mean() == pytest.approx(-20, abs=1)
    assert level[:40].mean() == pytest.approx(-70, abs=1)
    assert levels(np.zeros(FRAME, np.float32)) == [-120]


def test_speech_without_words_is_doubtful_and_silence_is_not() -> None:
    assert found(speech((1, 2))) == [(1, 2)]
    assert found(speech((1, 2)), word(0.95, 2.05)) == []
    assert found(speech((1, 2)), word(1.6, 2)) == [(1, 1.5)]
    assert found(speech()) == found(np.zeros(RATE, np.float32)) == []


def test_what_is_too_short_for_a_word_is_left() -> None:
    assert found(speech((1, 1.1))) == []


def test_an_unsure_word_is_doubtful() -> None:
    x = speech((1, 2))
    assert found(x, word(1, 1.5, 0.4), word(1.5, 2, 0.6)) == [(1, 1.5)]
    assert found(x, word(1, 1, 0.1), word(1, 2)) == [(1, 1.02)]  # never nothing


def test_everything_is_judged_once() -> None:
    x, words = speech((1, 2), (3, 3.5)), (word(1, 1.4, 0.1), word(1.4, 2, 0.1))
    whole = found(x, *words)
    assert found(x, *words, until=1.6) + found(x, *words, since=1.6) == whole == [(1, 1.4), (1.4, 2), (3, 3.5)]


def test_no_samples() -> None:
    assert found(np.zeros(0, np.float32)) == []

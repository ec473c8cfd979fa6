"""Figures of a line, on streams and looks made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from velavox.bench.content.material import Spoken, Stream, in_babble
from velavox.bench.content.passing import Looked
from velavox.bench.content.scores import Result, Tally
from velavox.engine.content.hit import Hit

RATE = 16_000
HOUR = 3600


def spoken(text: str, start: float, end: float) -> Spoken:
    return Spoken(text, round(start * RATE), round(end * RATE))


def looked(known: float, start: float, end: float, kind: str = "word", cost: float = 0.1) -> Looked:
    return Looked((Hit(round(start * RATE), round(end * RATE), kind, "", "x"),), 100 * RATE, known, cost)


def result(words: list[Spoken], looks: list[Looked], strict: bool = False, seconds: float = 20.0) -> Result:
    tally = Tally(frozenset({"secret", "other"}))
    tally.add(Stream("s", "en", np.zeros(round(seconds * RATE), np.float32), tuple(words)), {"asr": looks}, 2.0, strict)
    return tally.result()


WORDS = [spoken("plain", 1, 1.5), spoken("secret", 1.5, 2), spoken("other", 8, 8.5)]
START = Looked((), 100 * RATE, 0.0, 0.0)


def test_a_word_that_is_hidden_whole() -> None:
    found = result(WORDS, [START, looked(2.5, 1.5, 2)])
    assert (found.words, found.recall, found.residual, found.ordinary) == (2, 0.5, 0, 0)
    assert found.over_p50 == pytest.approx(0.4)
    assert found.known_p50 == pytest.approx(1.0)
    assert (found.false, found.unjudged) == (0, 0)
    assert found.rtc == {"asr": pytest.approx(0.1 / 20)}


def test_what_is_left_of_it_is_audible() -> None:
    found = result(WORDS, [START, looked(2.5, 1.85, 2)])  # hidden from 1.65 on
    assert (found.recall, found.residual) == (0.5, 1)
    assert result(WORDS, [START, looked(4.0, 1.5, 2)]).recall == 0  # it has left


def test_false_stretches_are_counted_for_each_hour_and_word() -> None:
    assert result(WORDS, [START, looked(13, 12, 13)]).false == pytest.approx(1 / (20 / HOUR) / 2)
    assert result(WORDS, [START, looked(3, 2.4, 2.6)]).false == 0  # beside a listed word


def test_doubt_counts_in_strict_mode_alone() -> None:
    looks = [START, looked(2.5, 1.4, 2, "doubt")]
    assert result(WORDS, looks).recall == 0
    assert result(WORDS, looks, strict=True).recall == 0.5


def test_words_beside_are_counted_when_they_are_gone() -> None:
    assert result(WORDS, [START, looked(2.5, 1.0, 2)]).ordinary == 1


def test_what_is_never_passed_is_hidden_and_told() -> None:
    found = result(WORDS, [Looked((), 0, 1.0, 0.1)])
    assert (found.recall, found.unjudged, found.ordinary) == (1, 1, 1)


def test_nothing_is_no_number() -> None:
    found = result([], [START])
    assert np.isnan([found.recall, found.residual, found.over_p95, found.known_p50]).all()


def test_babble_is_as_soft_as_asked() -> None:
    random = np.random.default_rng(0)
    streams = [Stream(str(n), "en", random.normal(0, 0.1 * (n + 1), 1000 * (n + 1)).astype(np.float32), ()) for n in range(3)]
    for clear, mixed in zip(streams, in_babble(streams, 10), strict=True):
        noise = mixed.samples - clear.samples
        assert 20 * np.log10(np.std(clear.samples) / np.std(noise)) == pytest.approx(10, abs=0.1)

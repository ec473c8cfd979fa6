"""The recogniser as a detector: when it passes what, what it reports of a hypothesis, what it does with nonsense."""

from __future__ import annotations

import logging
import socket
from collections.abc import Sequence
from typing import Any, NoReturn, cast

import numpy as np
import pytest
from needs import lacking
from velavox.bench.speech import clips
from velavox.engine.content.asr import WhisperDetector, credible
from velavox.engine.content.find import Finder
from velavox.engine.content.lexicon import Lexicon
from velavox.engine.content.speech import speaker
from velavox.engine.content.whisper import RATE, Whisper
from velavox.engine.content.word import Word
from velavox.engine.failure import Unusable
from velavox.kernels.jit import F32

NOISE = np.random.default_rng(0).normal(0, 0.1, 7 * RATE).astype(np.float32)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AssertionError("a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


class Scripted:
    """Hears these words, whatever is said. Times in seconds of the stream."""

    def __init__(self, *said: tuple[str, float, float]) -> None:
        self.words = [Word(text, round(start * RATE), round(end * RATE), 0.9) for text, start, end in said]
        self.asked: list[tuple[int, tuple[str, ...], int]] = []

    def hear(self, samples: F32, languages: Sequence[str], start: int) -> list[Word]:
        self.asked.append((len(samples), tuple(languages), start))
        return self.words


def finder(*lines: str, languages: Sequence[str] = ("en",)) -> Finder:
    try:
        return Finder(Lexicon.of(lines), (), languages)
    except Unusable as error:
        lacking(str(error))


def detector(whisper: Scripted, *lines: str, **options: Any) -> WhisperDetector:
    return WhisperDetector(finder(*lines), whisper=cast(Whisper, whisper), **options)


def test_a_listed_word_is_a_hit_at_its_time() -> None:
    whisper = Scripted(("Ask", 0.2, 0.5), ("Caroline.", 0.5, 1.1), ("please", 1.2, 1.5))
    found = detector(whisper, "caroline")
    (hit,) = found.look(NOISE[: 2 * RATE], 0).hits
    assert (hit.start, hit.end, hit.kind, hit.detector) == (RATE // 2, 1.25 * RATE, "word", "asr")
    assert "caroline" not in repr(hit).lower() + repr(found).lower() + repr(whisper.words).lower()
    assert whisper.asked == [(2 * RATE, ("en",), 0)]


def test_each_occurrence_is_a_hit() -> None:
    """C18."""
    hits = detector(Scripted(("Caroline,", 0.2, 0.9), ("Caroline!", 0.9, 1.5)), "caroline").look(NOISE[: 2 * RATE], 0).hits
    assert [hit.start for hit in hits] == [0.2 * RATE, 0.9 * RATE]


def test_several_words_are_one_hit() -> None:
    """C04."""
    said = Scripted(("of", 0.1, 0.2), ("Saint", 0.2, 0.6), ("Vincent", 0.6, 1.1), ("Street.", 1.1, 1.6), ("yes", 1.7, 2))
    (hit,) = detector(said, "saint vincent street").look(NOISE[: 2 * RATE], 0).hits
    assert (hit.start, hit.end) == (0.2 * RATE, 1.75 * RATE)


def test_what_is_passed() -> None:
    found = detector(Scripted(), "caroline", hop=1.0, settled=0.5)
    assert (found.hop, found.window) == (RATE, 7 * RATE)
    assert found.look(NOISE[:RATE], 0).passed == RATE // 2
    assert found.look(NOISE[: RATE // 4], 0).passed == 0
    assert found.look(NOISE, RATE).passed == 8 * RATE - RATE // 2
    assert found.look(NOISE, RATE, last=True).passed == 8 * RATE


def test_the_rest_of_a_word_that_the_window_cut_is_no_word() -> None:
    said = Scripted(("Caroline", 3.0, 3.4), ("Caroline", 4.0, 4.4))
    found = detector(said, "caroline")
    assert [hit.start for hit in found.look(NOISE, 3 * RATE).hits] == [4 * RATE]
    said.words = said.words[:1]
    assert len(found.look(NOISE, 2 * RATE).hits) == 1


def test_a_word_at_the_very_start_of_the_stream_counts() -> None:
    """C22."""
    assert len(detector(Scripted(("Caroline", 0.0, 0.4)), "caroline").look(NOISE, 0).hits) == 1


def test_silence_is_passed_without_asking() -> None:
    whisper = Scripted(("Caroline", 0.2, 0.5))
    look = detector(whisper, "caroline").look(np.full(RATE, 1e-4, np.float32), 0)
    assert (look.hits, look.passed, whisper.asked) == ((), RATE // 2, [])


def test_a_word_ends_where_its_sound_does_or_the_next_word_begins() -> None:
    """C05: before a pause a word's time ends where the mark's begins, .3 s early."""
    quiet = NOISE[: 2 * RATE].copy()
    quiet[round(1.3 * RATE) :] *= 1e-3
    for sound, after, end in ((quiet, 1.9, 1.3), (NOISE[: 2 * RATE], 1.9, 1.35), (NOISE[: 2 * RATE], 1.2, 1.2)):
        found = detector(Scripted(("Caroline,", 0.5, 1.0), ("yes", after, 2.0)), "caroline")
        (hit,) = found.look(np.ascontiguousarray(sound), 0).hits
        assert hit.end == pytest.approx(end * RATE, abs=0.03 * RATE)


def test_a_word_has_a_length() -> None:
    (hit,) = detector(Scripted(("Caroline", 0.4, 0.4), ("yes", 0.6, 0.9)), "caroline").look(NOISE, 0).hits
    assert hit.end - hit.start == RATE // 4


def test_a_hit_ends_with_what_was_looked_at() -> None:
    (hit,) = detector(Scripted(("Caroline", 0.4, 0.9)), "caroline").look(NOISE[:RATE], 0).hits
    assert hit.end == RATE


def test_nan_raises_and_passes_nothing() -> None:
    broken = NOISE[:RATE].copy()
    broken[5] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        detector(Scripted(), "caroline").look(broken, 0)


def test_strict_mode_doubts_speech_without_words_once() -> None:
    found = detector(Scripted(("yes", 0.0, 0.3)), "caroline", strict=0.5)
    first = found.look(NOISE[:RATE], 0).hits
    assert [(hit.start, hit.end, hit.kind, hit.term) for hit in first] == [(0.4 * RATE, 0.8 * RATE, "doubt", "")]
    second = found.look(NOISE[: 2 * RATE], 0).hits
    assert [(hit.start, hit.end) for hit in second] == [(0.8 * RATE, 1.8 * RATE)]
    found.reset()
    assert found.look(NOISE[:RATE], 0).hits == first


def test_without_strict_mode_nothing_is_doubted() -> None:
    assert detector(Scripted(), "caroline").look(NOISE, 0).hits == ()


def said(*texts: str) -> list[Word]:
    return [Word(text, n * RATE, n * RATE + 1) for n, text in enumerate(texts)]


def test_a_loop_is_believed_once() -> None:
    """C10."""
    loop = said("I", "am", *["going", "to", "say"] * 20)
    assert len(credible(loop)) == 5
    honest = said(*"knit two together knit one make one knit two together knit one".split())
    assert credible(honest) is honest
    assert credible([]) == []


def test_less_speech_in_a_look() -> None:
    found = detector(Scripted(), "caroline", hop=0.5, seconds=4.0)
    assert (found.hop, found.window) == (RATE // 2, 4 * RATE)


def test_options_out_of_range() -> None:
    for options in ({"seconds": 0.5}, {"seconds": 8.0}, {"seconds": 1.0, "hop": 0.6}):
        with pytest.raises(ValueError, match="give"):
            detector(Scripted(), "caroline", **options)
    for options in ({"hop": 0.0}, {"hop": 9.0}, {"settled": -1.0}, {"strict": 2.0}, {"strict": np.nan}, {"settled": np.nan}):
        with pytest.raises(ValueError, match="give"):
            detector(Scripted(), "caroline", **options)


def test_the_real_one_finds_the_first_and_the_last_word(no_network: None, caplog: pytest.LogCaptureFixture) -> None:
    """C11, C22: "ALL THAT WAS REQUIRED ... NOT ASSUME THE REGAL TITLE". C15: not a word of it is logged."""
    caplog.set_level(logging.DEBUG)
    try:
        found = WhisperDetector(finder("required", "title"))
    except Unusable as error:
        lacking(str(error))
    clip = clips()["27-123349-0009"][: 7 * RATE]
    look = found.look(clip, 0, last=True)
    assert look.passed == len(clip)
    assert len(look.hits) == 2
    first, last = sorted(hit.start for hit in look.hits)
    assert 0.3 * RATE < first < 1.2 * RATE
    assert len(clip) - 1.2 * RATE < last < len(clip) - 0.2 * RATE
    whispered = found.look(np.asarray(clip * 0.01, np.float32), 0, last=True)
    assert len(whispered.hits) == 2
    assert not {"required", "title"} & set(caplog.text.lower().split())


def test_an_english_name_in_mandarin() -> None:
    """C17."""
    try:
        spoken = speaker("kokoro").speak("你好,我是Alice,很高兴认识你.")
        found = WhisperDetector(finder("alice", languages=("zh", "en")))
    except Unusable as error:
        lacking(str(error))
    (hit,) = found.look(spoken, 0, last=True).hits
    assert 1.0 * RATE < hit.start < hit.end < 2.3 * RATE

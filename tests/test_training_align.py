"""Forced alignment of a recording whose words are known, and of synthetic speech whose letters' durations are."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from signals import F32, RATE, noise
from trainingdata import recorded, utterance
from velavox.engine.content.phones import SILENCE
from velavox.models_onnx.training import smoke
from velavox.models_onnx.training.align import (
    Aligner,
    AlignmentError,
    Segment,
    align_all,
    dictionary_words,
    in_thirds,
    read_labels,
    words_of,
)
from velavox.models_onnx.training.corpora import Utterance
from velavox.models_onnx.training.durations import label_all, segments_of
from velavox.models_onnx.training.journal import Journal

# "Make one, knit one, knit two together", as CMUdict has it
PHONES = "M EY K W AH N N IH T W AH N N IH T T UW T AH G EH DH ER".split()
LETTER = 400  # samples at 16 kHz of a frame of the synthesizer
LEAD = 832  # by which a phone begins before its letter does


@cache
def aligner() -> Aligner:
    return Aligner()


def clip() -> Utterance:
    return next(u for u in smoke.clips() if u.transcript.startswith("Make one"))


def whole_numbers(samples: F32) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    return np.asarray(np.rint(samples * 32767), np.int16)


@cache
def segments() -> tuple[Segment, ...]:
    return tuple(aligner().align(whole_numbers(clip().audio()), clip().transcript))


def test_the_phones_of_the_words_are_found_in_order() -> None:
    assert [phone for phone, *_ in segments() if phone != SILENCE] == PHONES


def test_segments_lie_inside_and_end_where_the_next_begins() -> None:
    for phone, *bounds in segments():
        assert sorted(bounds) == bounds, phone
        assert bounds[-1] - bounds[0] >= 0.03 * RATE or phone == SILENCE  # three states of a frame each
    for (*_, end), (_, start, *_) in pairwise(segments()):
        assert start == end
    assert 0 <= segments()[0][1] < 0.1 * RATE
    assert 0 <= len(clip().audio()) - segments()[-1][-1] < 0.1 * RATE


def test_where_it_is_silent_little_is_heard() -> None:
    x = clip().audio().astype(np.float64)
    heard = {
        silent: np.concatenate([x[start:end] for phone, start, *_, end in segments() if (phone == SILENCE) == silent])
        for silent in (True, False)
    }
    assert np.mean(heard[True] ** 2) < 0.1 * np.mean(heard[False] ** 2)


def test_the_first_phone_begins_with_the_sound() -> None:
    """Within 60 ms of the first 5 ms above -45 dB, in each clip."""
    for u in smoke.clips():
        x = u.audio()
        loud = np.mean(x[: len(x) // 80 * 80].reshape(-1, 80) ** 2, axis=1) > 10**-4.5
        first = next(start for phone, start, *_ in aligner().align(whole_numbers(x), u.transcript) if phone != SILENCE)
        assert abs(first - 80 * int(loud.argmax())) < 960


def test_speech_that_comes_later_is_found_later() -> None:
    """By 0.5 s, within two frames."""
    x = np.concatenate([noise(RATE // 2, 1e-4), clip().audio()])
    later = aligner().align(whole_numbers(x), clip().transcript)
    first, moved = ([s for s in found if s[0] != SILENCE] for found in (segments(), later))
    assert [s[0] for s in moved] == PHONES
    shifts = [b[1] - a[1] - RATE // 2 for a, b in zip(first, moved, strict=True)]
    assert np.median(np.abs(shifts)) <= 320


def test_an_utterance_is_aligned_as_if_there_had_been_no_other() -> None:
    other = smoke.clips()[0]
    aligner().align(whole_numbers(other.audio()), other.transcript)
    assert tuple(aligner().align(whole_numbers(clip().audio()), clip().transcript)) == segments()


def test_a_word_that_the_dictionary_lacks_is_spelled_out() -> None:
    text = clip().transcript.replace("together", "tuhgethur")
    found = aligner().align(whole_numbers(clip().audio()), text)
    spoken = [phone for phone, *_ in found if phone != SILENCE]
    assert spoken[:17] == PHONES[:17]
    assert spoken[17] == "T"


@pytest.mark.parametrize(
    ("samples", "text", "why"),
    [
        (noise(RATE), "", "no words"),
        (np.zeros(800, np.float32), "many words that cannot be said in fifty milliseconds", "its words are not found in it"),
        (np.zeros(0, np.float32), "a word", "no sound"),
    ],
)
def test_what_cannot_be_aligned_says_why(samples: np.ndarray, text: str, why: str) -> None:
    with pytest.raises(AlignmentError, match=why):
        aligner().align(whole_numbers(samples), text)


def test_thirds_are_equal_and_fill_the_segment() -> None:
    for start, end in [(0, 300), (100, 101), (7, 18), (5, 5)]:
        phone, *bounds = in_thirds("AA", start, end)
        assert (phone, bounds[0], bounds[-1]) == ("AA", start, end)
        assert np.abs(np.diff(bounds) - (end - start) / 3).max() <= 1


def test_what_is_aligned_is_kept_and_what_a_kill_has_cut_off_is_done_again(tmp_path: Path) -> None:
    path, journal = tmp_path / "labels" / "index.jsonl", Journal(tmp_path)
    hopeless = utterance("hopeless", recorded(tmp_path / "hopeless.wav", noise(800)), transcript="these words are not in it")
    silent = utterance("silent", recorded(tmp_path / "silent.wav", noise(800)))
    align_all([clip(), hopeless, silent], path, journal)
    labels = read_labels(path)
    assert [name for name, _ in labels] == [clip().utterance, "hopeless"]
    assert [phone for phone, *_ in labels[0][1] if phone != SILENCE] == PHONES
    assert labels[1][1] == []

    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    assert read_labels(path) == labels[:1]
    align_all([clip(), hopeless, silent], path, journal)
    assert path.read_bytes() == whole
    first, _, rest = whole.decode().partition("\n")
    path.write_text(first.replace('"M"', '"F"') + "\n" + rest)
    align_all([clip(), hopeless, silent], path, journal)
    assert read_labels(path)[0][1][1][0] in ("F", SILENCE)


def synthetic(frames: list[int], quiet: list[int]) -> F32:
    """Sound for all of `frames`, but where the letters numbered in `quiet` are."""
    x = noise(sum(frames) * LETTER, 0.05)
    ends = np.cumsum(frames) * LETTER
    for number in quiet:
        x[ends[number] - frames[number] * LETTER : ends[number]] = 0
    return x


PIECES: list[tuple[str, str | None]] = [
    ("n", "N"),
    ("i↓", "IY"),
    (",", None),
    (" ", None),
    ("x", "HH"),
    ("au", "AW"),
    (".", None),
]
FRAMES = [20, 6, 4, 8, 10, 2, 5, 6, 6, 8, 20]  # before, n, i, its tone, comma, space, x, a, u, full stop, after


def test_letters_last_as_long_as_the_synthesizer_says() -> None:
    found = segments_of(PIECES, FRAMES, synthetic(FRAMES, []))
    assert [phone for phone, *_ in found] == [SILENCE, "N", "IY", SILENCE, "HH", "AW", SILENCE]
    ends = np.cumsum(FRAMES) * LETTER - LEAD
    off = np.array([end for *_, end in found][:-1]) - ends[[0, 1, 3, 4, 6, 8]]
    assert np.abs(off).max() < 160  # beside a pause by whole hops
    assert off[1] == off[4] == 0  # between two phones
    assert found[-1][-1] == sum(FRAMES) * LETTER


def test_a_phone_beside_a_pause_ends_with_the_sound() -> None:
    """The synthesizer counts 0.1 s of a pause to the tone's letter, and the space to the next phone."""
    x = synthetic(FRAMES, [0, 4, 5, 9, 10])
    x[: FRAMES[0] * LETTER + 800] = 0
    found = {phone: (start, end) for phone, start, *_, end in segments_of(PIECES, FRAMES, x)}
    begins, pauses = FRAMES[0] * LETTER + 800, sum(FRAMES[:4]) * LETTER
    assert found["N"][0] == begins // 160 * 160
    assert found["IY"][1] <= pauses
    assert abs(found["HH"][0] - sum(FRAMES[:6]) * LETTER) <= 160


def test_segments_of_synthetic_speech_follow_each_other_without_a_gap() -> None:
    for quiet in ([], [0, 4, 5, 9, 10], list(range(11))):
        found = segments_of(PIECES, FRAMES, synthetic(FRAMES, quiet))
        assert found[0][1] == 0
        for (*_, end), (_, start, *_) in pairwise(found):
            assert start == end


def test_a_start_without_a_pause_is_not_before_the_sound() -> None:
    frames = [1, *FRAMES[1:]]
    found = segments_of(PIECES, frames, synthetic(frames, []))
    assert min(start for _, start, *_ in found) == 0


def test_labels_of_synthetic_speech_come_from_beside_its_audio(tmp_path: Path) -> None:
    spoken = utterance("synth", recorded(tmp_path / "0.wav", synthetic(FRAMES, [])))
    (tmp_path / "0.json").write_text(json.dumps({"pieces": PIECES, "frames": FRAMES}))
    path = tmp_path / "labels" / "synth.jsonl"
    for _ in range(2):
        label_all([spoken], path, Journal(tmp_path))
        assert read_labels(path) == [("synth", segments_of(PIECES, FRAMES, spoken.audio()))]


def test_words_of_a_transcript() -> None:
    assert words_of("Don’t stop, 'twas John's 3rd cat—and 2 dogs'.") == (
        "don't stop twas john's third cat and two dogs".split()
    )
    assert words_of("MAKE ONE, KNIT ONE") == ["make", "one", "knit", "one"]


@pytest.mark.parametrize("empty", ["", " - ", "' ''", "…", "你好"])
def test_no_words_are_no_words(empty: str) -> None:
    assert words_of(empty) == []


def test_words_of_the_dictionary_are_words() -> None:
    found = dictionary_words()
    assert len(found) > 100_000
    assert found == sorted(set(found))
    assert all(words_of(word) == [word] for word in found[::97] if word == word.strip("'"))
    assert not {word for word in found if "(" in word}

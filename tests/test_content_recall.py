"""The bench of recall: words and their times of real speech, and one row of its table."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from needs import lacking
from velavox.bench.content.material import RATE, TUNED, Spoken, Stream, english, listed, sounding
from velavox.bench.content.recall import HEAD, ROWS, Bench, Row, line, silenced
from velavox.bench.content.scores import Tally
from velavox.bench.speech import clips
from velavox.engine.content.whisper import Whisper
from velavox.engine.failure import Unusable

SAID = "ALL THAT WAS REQUIRED OF HIM WAS TO PROMISE THAT HE WOULD NOT ASSUME THE REGAL TITLE"


@pytest.fixture(scope="module")
def stream() -> Stream:
    pytest.importorskip("pocketsphinx", reason="needs the extra train")
    pytest.importorskip("hama", reason="needs the extra train")
    from velavox.models_onnx.training.align import Aligner

    samples = clips()["27-123349-0009"]
    aligned = Aligner().words(np.asarray(np.rint(samples * 32767), np.int16), SAID)
    return Stream("27", "en", samples, tuple(Spoken(*word) for word in aligned))


def test_every_word_has_a_place_of_its_own(stream: Stream) -> None:
    assert [word.text for word in stream.words] == SAID.lower().split()
    assert all(a.end <= b.start for a, b in pairwise(stream.words))
    assert all(0.04 * RATE < word.end - word.start < RATE for word in stream.words)
    assert stream.words[-1].end <= len(stream.samples)


def test_a_spoken_word_ends_with_its_sound() -> None:
    """C05: the pause after it is no rest of it that could be heard."""
    random = np.random.default_rng(0)
    word = random.normal(0, 0.1, RATE).astype(np.float32)
    word[RATE // 2 :] *= 1e-3
    assert sounding(word) == pytest.approx(RATE // 2, abs=0.02 * RATE)
    assert sounding(word[: RATE // 2]) == RATE // 2
    assert sounding(word[:10]) == 10


def test_words_that_are_listed_are_long_and_rare(stream: Stream) -> None:
    assert listed([stream], 20) == ["regal"]
    assert listed([stream], 0) == []
    chinese = Stream("z", "zh", stream.samples, (Spoken("王建国", 0, 1), Spoken("北京", 1, 2)))
    assert listed([stream, chinese], 20) == ["regal", "北京", "王建国"]


def test_a_row(stream: Stream) -> None:
    try:
        bench = Bench([stream], Whisper())
        row = Row("phones", ("phones",), 2.0)
        found, again = bench.run(row)
    except Unusable as error:
        lacking(str(error))
    assert (found.words, found.recall, again, found.unjudged) == (1, 1, 0, 0)
    assert 0 < found.rtc["phones"] < 2
    told = line("English", row, found, again)
    assert told.startswith("English, phones")
    assert f"{found.recall:.3f}" in told
    assert len(HEAD.splitlines()) == 2


def test_nothing_of_a_hidden_word_is_heard_and_little_beside_it(stream: Stream) -> None:
    """C05, C02: no word leaves 50 ms, and of what is hidden less than .9 s is beside a word."""
    try:
        bench = Bench([stream], Whisper(), ["required", "promise", "regal", "title"])
        found, again = bench.run(ROWS[0])
    except Unusable as error:
        lacking(str(error))
    assert (found.words, found.recall, found.residual, again) == (4, 1, 0, 0)
    assert 0.2 < found.over_p95 <= 0.9


def test_the_words_beside_a_hidden_one_are_recognised_still(stream: Stream) -> None:
    """C02. Within the pads stand "was to" and "that he"."""
    try:
        whisper = Whisper()
        bench = Bench([stream], whisper, ["promise"])
        looks = bench.looks(ROWS[0])
    except Unusable as error:
        lacking(str(error))
    mask = Tally(frozenset(["promise"])).add(stream, looks[0], ROWS[0].delay, strict=False)
    read = whisper.text(silenced(stream.samples, mask)).lower()
    assert "promise" not in read
    before, after = SAID.lower().split(" was to promise that he ")
    assert before in read
    assert after in read.rstrip(".")


def test_what_is_hidden_is_silent(stream: Stream) -> None:
    mask = np.zeros(-(-len(stream.samples) // 160), bool)
    mask[100:200] = True
    found = silenced(stream.samples, mask)
    assert not found[16_000:32_000].any()
    np.testing.assert_array_equal(found[32_000:], stream.samples[32_000:])


def test_speakers_that_were_tuned_on_are_not_measured(shared: Path) -> None:
    pytest.importorskip("pocketsphinx", reason="needs the extra train")
    pytest.importorskip("hama", reason="needs the extra train")
    found = english(shared / "speech" / "manifest.csv", 3.0)
    assert len(found) >= 4
    assert not {stream.name for stream in found} & set(TUNED)
    assert [s.name for s in english(shared / "speech" / "manifest.csv", 3.0, ["26"])] == ["26"]
    with pytest.raises(FileNotFoundError):
        english(shared / "speech" / "manifest.csv", 3.0, ["nobody"])

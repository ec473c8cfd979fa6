"""The detector of phones: what it listens for, where it finds it, and what it does with nonsense."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from needs import lacking
from velavox.bench.speech import clips
from velavox.engine.content import ctc, spotting
from velavox.engine.content.ctc import CLASSES, FRAME, NUMBER
from velavox.engine.content.find import Finder
from velavox.engine.content.lexicon import Lexicon
from velavox.engine.content.rows import any_audible, audible
from velavox.engine.content.spotting import PhoneDetector
from velavox.engine.failure import Unusable
from velavox.kernels.jit import F32

RATE = 16_000
NOISE = np.random.default_rng(0).normal(0, 0.1, 2 * RATE).astype(np.float32)


class Planted:
    """Hears these phones at these frames, and is as sure as `sure`."""

    heard: Sequence[tuple[int, str]] = ()
    sure = 1.0

    def likelihoods(self, samples: F32) -> F32:
        found = np.full((len(samples) // FRAME + 1, len(CLASSES)), (1 - self.sure) / len(CLASSES), np.float32)
        classes = np.zeros(len(found), int)
        for frame, phone in self.heard:
            classes[frame] = NUMBER[phone]
        found[np.arange(len(found)), classes] = self.sure
        return found


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> type[Planted]:
    monkeypatch.setattr(spotting, "Ctc", Planted)
    monkeypatch.setattr(Planted, "heard", ())
    monkeypatch.setattr(Planted, "sure", 1.0)
    return Planted


def lexicon(*lines: str) -> Lexicon:
    try:
        return Lexicon.of(lines)
    except Unusable as error:
        lacking(str(error))


def finder(*lines: str) -> Finder:
    return Finder(lexicon(*lines), (), ("en", "zh"))


def spelled(text: str, start: int, step: int = 4) -> list[tuple[int, str]]:
    return [(start + step * n, phone) for n, phone in enumerate(text.split())]


BOSTON = "B AA S T AH N"


def test_a_word_is_found_where_its_phones_are(planted: type[Planted]) -> None:
    planted.heard = spelled(BOSTON, 20)
    (hit,) = PhoneDetector(finder("boston")).look(NOISE, 10 * RATE).hits
    assert (hit.kind, hit.detector) == ("word", "phones")
    assert hit.start == 10 * RATE + 20 * FRAME - RATE // 10
    assert hit.end == 10 * RATE + 41 * FRAME + round(0.08 * RATE)


def test_each_occurrence_is_found_and_no_part_of_one(planted: type[Planted]) -> None:
    """C18."""
    planted.heard = spelled(BOSTON, 20) + spelled(BOSTON, 60)
    hits = PhoneDetector(finder("boston")).look(NOISE, 0).hits
    assert sorted((hit.start + RATE // 10) // FRAME for hit in hits) == [20, 60]


def test_a_phone_that_is_not_heard_is_forgiven_in_a_long_word_only(planted: type[Planted]) -> None:
    planted.heard = spelled("K AE L AH F AO R N Y AH", 10)[:-1]
    assert len(PhoneDetector(finder("california")).look(NOISE, 0).hits) == 1
    planted.heard = spelled(BOSTON, 20)[:-1]
    assert not PhoneDetector(finder("boston")).look(NOISE, 0).hits


def test_short_words_are_held_to_more(planted: type[Planted]) -> None:
    """C14."""
    planted.heard, planted.sure = spelled("AE N", 20) + spelled(BOSTON, 50), 0.75  # .72 a phone of the one, 1.0 of the other
    listed = finder("ann | match=phonetic", "boston")
    assert listed.lexicon is not None
    terms = [hit.term for hit in PhoneDetector(listed).look(NOISE, 0).hits]
    assert terms == [listed.lexicon.entries[1].term]


def test_what_is_passed_and_seen(planted: type[Planted]) -> None:
    """What is passed lies before the next window, so that no later look can say anything about it."""
    found = PhoneDetector(finder("boston"), hop=0.5)
    assert (found.hop, found.window) == (RATE // 2, 3 * RATE // 2)
    assert found.look(NOISE, 0).passed == RATE
    assert found.look(NOISE, 0, last=True).passed == 2 * RATE
    assert found.look(NOISE[: RATE // 2], 0).passed == 0
    assert found.look(np.zeros(RATE, np.float32), RATE).passed == RATE
    assert PhoneDetector(finder("university of california in berkeley")).window > found.window


def test_only_what_sounds_english_and_is_not_exact_is_listened_for() -> None:
    entries = lexicon("boston", "王建国", "smith | match=exact").entries
    assert [bool(audible(entry, NUMBER)) for entry in entries] == [True, False, False]
    assert any_audible(finder("boston", "王建国"), NUMBER)
    assert not any_audible(finder("王建国"), NUMBER)
    assert not any_audible(Finder(None, ("number",)), NUMBER)
    with pytest.raises(ValueError, match="leave this detector out"):
        PhoneDetector(finder("王建国"))


@pytest.mark.parametrize("bad", [NOISE * np.nan, np.where(np.arange(RATE) == 9, np.inf, 0)])
def test_nan_raises_and_passes_nothing(planted: type[Planted], bad: F32) -> None:
    with pytest.raises(ValueError, match="not finite"):
        PhoneDetector(finder("boston")).look(np.asarray(bad, np.float32), 0)


def test_a_network_that_says_nan_raises(planted: type[Planted]) -> None:
    planted.sure = np.nan
    with pytest.raises(ValueError, match="not finite"):
        PhoneDetector(finder("boston")).look(NOISE, 0)


def test_options_out_of_range(planted: type[Planted]) -> None:
    for options in ({"hop": 0.0}, {"hop": np.nan}, {"settled": -1.0}, {"least": 0.0}, {"least": np.nan}):
        with pytest.raises(ValueError, match="give"):
            PhoneDetector(finder("boston"), **options)


def test_the_real_one_hears_a_word_of_a_clip_and_not_another() -> None:
    """ "... HE WOULD NOT ASSUME THE REGAL TITLE"."""
    try:
        listed = finder("assume", "california")
        found = PhoneDetector(listed)
    except Unusable as error:
        lacking(str(error))
    clip = clips()["27-123349-0009"]
    hits = [
        hit
        for end in range(found.hop, len(clip), found.hop)
        for hit in found.look(clip[max(0, end - found.window) : end], max(0, end - found.window)).hits
    ]
    assert listed.lexicon is not None
    assert {hit.term for hit in hits} == {listed.lexicon.entries[0].term}
    assert all(3.2 * RATE < hit.start < hit.end < 4.3 * RATE for hit in hits)


def test_classes_take_in_every_token_once() -> None:
    try:
        network = ctc.Ctc()
    except Unusable as error:
        lacking(str(error))
    found = network.likelihoods(NOISE)
    assert found.shape == (len(NOISE) // FRAME + 1, len(CLASSES))
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-4)

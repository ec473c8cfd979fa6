"""The detector of the streaming recogniser: what it listens for, where it finds it, and what it knows from look to look."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from needs import lacking
from velavox.bench.speech import clips
from velavox.engine.content import streaming
from velavox.engine.content.detector import Look
from velavox.engine.content.find import Finder
from velavox.engine.content.lexicon import Lexicon
from velavox.engine.content.phones import NUMBER
from velavox.engine.content.recogniser import FIRST, ROW, SAID, UNITS
from velavox.engine.content.rows import any_audible, audible
from velavox.engine.content.streaming import StreamDetector
from velavox.engine.failure import Unusable
from velavox.kernels.jit import F32

RATE = 16_000
NOISE = np.random.default_rng(0).normal(0, 0.1, 4 * RATE).astype(np.float32)
BOSTON = "B AA S T AH N"


class Planted:
    """Hears these phones at these rows of the stream, and is as sure as `sure`."""

    heard: Sequence[tuple[int, str]] = ()
    sure = 1.0
    resets = 0

    def __init__(self) -> None:
        self._samples = self._rows = 0

    def reset(self) -> None:
        self._samples = self._rows = 0
        Planted.resets += 1

    def push(self, samples: F32) -> F32:
        self._samples += len(samples)
        rows = range(self._rows, max(self._rows, (self._samples - FIRST) // ROW + 1))
        self._rows = rows.stop
        found = np.full((len(rows), UNITS), (1 - self.sure) / UNITS + 1e-9)
        for n, row in enumerate(rows):
            found[n, NUMBER[dict(self.heard).get(row, "SIL")]] = self.sure
        return np.asarray(np.log(found), np.float32)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> type[Planted]:
    monkeypatch.setattr(streaming, "Recogniser", Planted)
    for name, value in (("heard", ()), ("sure", 1.0), ("resets", 0)):
        monkeypatch.setattr(Planted, name, value)
    return Planted


def finder(*lines: str) -> Finder:
    try:
        return Finder(Lexicon.of(lines), (), ("en", "zh"))
    except Unusable as error:
        lacking(str(error))


def spelled(text: str, start: int, step: int = 2) -> list[tuple[int, str]]:
    return [(start + step * n, phone) for n, phone in enumerate(text.split())]


def looks(found: StreamDetector, samples: F32, first: int = 0) -> list[Look]:
    """All looks at a stream, as a line has them."""
    ends = [*range(found.hop, len(samples), found.hop), len(samples)]
    starts = [max(0, end - found.window) for end in ends]
    return [found.look(samples[start:end], first + start, end == len(samples)) for start, end in zip(starts, ends, strict=True)]


def test_a_word_is_found_where_its_phones_were_said(planted: type[Planted]) -> None:
    planted.heard = spelled(BOSTON, 40)
    hits = {hit for look in looks(StreamDetector(finder("boston")), NOISE) for hit in look.hits}
    first, last = 40 * ROW + FIRST, 50 * ROW + FIRST
    whole = max(hits, key=lambda hit: hit.end - hit.start)
    assert (whole.kind, whole.detector) == ("word", "stream")
    assert (whole.start, whole.end) == (first - round(0.18 * RATE), last + round(0.06 * RATE))
    assert all(first - round(0.18 * RATE) <= hit.start < hit.end <= whole.end for hit in hits)


def test_each_occurrence_is_found(planted: type[Planted]) -> None:
    """C18."""
    planted.heard = spelled(BOSTON, 12) + spelled(BOSTON, 26)
    found = StreamDetector(finder("boston"), hop=2.0)
    assert len(found.look(NOISE[: 2 * RATE], 0).hits) == 2


def test_mandarin_is_listened_for_by_its_pinyin(planted: type[Planted]) -> None:
    listed = finder("北京")
    assert listed.lexicon is not None
    (phones, *_) = listed.lexicon.entries[0].phones
    planted.heard = spelled(" ".join(phones), 20)
    (hit,) = StreamDetector(listed, hop=2.0).look(NOISE[: 2 * RATE], 0).hits
    assert hit.term == listed.lexicon.entries[0].term


def test_each_second_is_heard_once(planted: type[Planted]) -> None:
    """Looks overlap; the recogniser gets what is new in them."""
    found = StreamDetector(finder("boston"))
    heard: list[int] = []
    push = found._recogniser.push

    def counted(samples: F32) -> F32:
        heard.append(len(samples))
        return push(samples)

    found._recogniser.push = counted  # type: ignore[method-assign]
    looks(found, NOISE)
    assert sum(heard) == len(NOISE) + SAID, "and a little silence after the end"
    assert found.window > 2 * found.hop


def test_after_a_gap_it_begins_anew_and_knows_when_it_is(planted: type[Planted]) -> None:
    found = StreamDetector(finder("boston"))
    looks(found, NOISE[:RATE])
    before, planted.heard = planted.resets, spelled(BOSTON, 10)
    (hit,) = found.look(NOISE[:RATE], 10 * RATE).hits
    assert planted.resets == before + 1
    assert hit.start == 10 * RATE + 10 * ROW + FIRST - round(0.18 * RATE)


def test_what_is_passed(planted: type[Planted]) -> None:
    found = StreamDetector(finder("boston"), settled=0.5)
    assert found.look(NOISE[:RATE], 0).passed == RATE // 2
    assert found.look(NOISE[: RATE + 100], 0, last=True).passed == RATE + 100
    found.reset()
    assert found.look(NOISE[:1000], 0).passed == 0


def test_short_words_are_held_to_more(planted: type[Planted]) -> None:
    """C14."""
    planted.heard, planted.sure = spelled("AE N", 6, 4) + spelled(BOSTON, 20), 0.75  # .72 a phone of the one, .53 of the other
    listed = finder("ann | match=phonetic", "boston")
    assert listed.lexicon is not None
    hits = StreamDetector(listed, hop=2.0).look(NOISE[: 2 * RATE], 0).hits
    assert {hit.term for hit in hits} == {listed.lexicon.entries[1].term}


def test_what_is_not_exact_is_listened_for_in_either_language() -> None:
    listed = finder("boston", "王建国", "smith | match=exact")
    assert listed.lexicon is not None
    assert [bool(audible(entry, NUMBER)) for entry in listed.lexicon.entries] == [True, True, False]
    assert not any_audible(finder("smith | match=exact"), NUMBER)
    with pytest.raises(ValueError, match="leave this detector out"):
        StreamDetector(finder("smith | match=exact"))


def test_nan_raises_passes_nothing_and_is_forgotten(planted: type[Planted]) -> None:
    found = StreamDetector(finder("boston"), hop=2.0)
    planted.heard = spelled(BOSTON, 10)
    bad = NOISE[: 2 * RATE].copy()
    bad[9] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        found.look(bad, 0)
    assert len(found.look(NOISE[: 2 * RATE], 0).hits) == 1


def test_what_the_recogniser_cannot_take_is_heard_again_from_a_fresh_start(
    planted: type[Planted], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sound so loud that features overflow stays in its means."""
    found = StreamDetector(finder("boston"), hop=2.0)
    planted.heard = spelled(BOSTON, 10)

    def overflows(recogniser: Planted, samples: F32) -> F32:
        recogniser._samples, recogniser._rows = len(samples), len(samples) // ROW  # it has taken them
        raise ValueError("the likelihoods of phones are not finite")

    with monkeypatch.context() as patch:
        patch.setattr(Planted, "push", overflows)
        with pytest.raises(ValueError, match="likelihoods"):
            found.look(NOISE[: 2 * RATE], 0)
    assert [hit.start for hit in found.look(NOISE[: 2 * RATE], 0).hits] == [10 * ROW + FIRST - round(0.18 * RATE)]


def test_options_out_of_range() -> None:
    for options in ({"hop": 0.0}, {"hop": np.nan}, {"settled": -1.0}, {"least": 0.0}, {"least": np.nan}):
        with pytest.raises(ValueError, match="give"):
            StreamDetector(finder("boston"), **options)


def test_the_real_one_hears_words_of_a_clip_and_not_others() -> None:
    """ "... HE WOULD NOT ASSUME THE REGAL TITLE"."""
    listed = finder("assume", "california", "regal title", "university")
    found = StreamDetector(listed)
    clip = clips()["27-123349-0009"]
    hits = [hit for look in looks(found, clip) for hit in look.hits]
    assert listed.lexicon is not None
    terms = [entry.term for entry in listed.lexicon.entries]
    assert {hit.term for hit in hits} == {terms[0], terms[2]}
    assert all(3.1 * RATE < hit.start < hit.end < 4.3 * RATE for hit in hits if hit.term == terms[0])
    found.reset()
    assert [hit for look in looks(found, clip) for hit in look.hits] == hits

import numpy as np
import pytest
from signals import F32
from velavox.engine.content.spans import GAP, KEEP, PAD, Spans
from velavox.kernels.redact import FADE

RATE = 1000
P, G = round(PAD * RATE), round(GAP * RATE)


def rows(spans: Spans) -> list[tuple[int, int]]:
    return [(int(row["start"]), int(row["end"])) for row in spans.shown.spans]


def test_pads_and_times_rounded_outwards() -> None:
    spans = Spans(48_000)
    assert spans.frames(5, 7) == (15, 21)
    assert Spans(11_025).frames(1, 2) == (0, 2)
    spans = Spans(RATE)
    assert spans.hide(1000, 1200, 0) == (1000 - P, 1200 + P)
    assert rows(spans) == [(1000 - P, 1200 + P)]


@pytest.mark.parametrize(("gap", "joined"), [(-900, True), (-1, True), (0, True), (G - 1, True), (G, False), (3 * G, False)])
@pytest.mark.parametrize("turned", [False, True])
def test_short_gaps_are_closed(gap: int, joined: bool, turned: bool) -> None:
    first, second = (1000, 1500), (1500 + 2 * P + gap, 2600 + gap)
    spans = Spans(RATE)
    for pair in (second, first) if turned else (first, second):
        spans.hide(*pair, 0)
    assert len(rows(spans)) == (1 if joined else 2)
    assert rows(spans)[0][0] == min(first[0], second[0]) - P
    assert rows(spans)[-1][1] == max(first[1], second[1]) + P


def test_any_order_gives_the_same() -> None:
    random = np.random.default_rng(0)
    pairs = [(int(s), int(s + n)) for s, n in zip(random.integers(0, 20_000, 40), random.integers(1, 800, 40), strict=True)]
    found = []
    for _ in range(5):
        spans = Spans(RATE)
        for pair in random.permutation(pairs):
            spans.hide(int(pair[0]), int(pair[1]), 0)
        found.append(rows(spans))
    assert all(other == found[0] for other in found)
    assert all(later - end >= G for (_, end), (later, _) in zip(found[0], found[0][1:], strict=False))


def test_a_gap_in_which_the_voice_is_coming_back_stays_open() -> None:
    spans = Spans(RATE)
    spans.hide(1000, 1200, 0)
    left = 1200 + P - round(FADE * RATE)
    spans.hide(1200 + 2 * P + 10, 2000, left)
    assert len(rows(spans)) == 2
    spans.hide(1200 + P, 1300, left)  # what lies in the stretch itself is hidden whatever leaves
    assert rows(spans)[0][1] >= 1300 + P


def test_what_has_long_left_is_forgotten() -> None:
    spans = Spans(RATE)
    for k in range(500):
        spans.hide(2000 * k, 2000 * k + 10, 2000 * k)
    assert len(rows(spans)) <= KEEP * RATE / 2000 + 2


def test_heard_is_what_left_neither_hidden_nor_dark() -> None:
    spans = Spans(RATE)
    spans.hide(1000, 1100, 0)  # 800 .. 1300
    spans.dim(1500, 1600)
    spans.dim(1600, 1700)
    assert spans.heard(700, 2000, 500) == 0
    assert spans.heard(700, 900, 10_000) == 100
    assert spans.heard(700, 2000, 1550) == 100 + 200
    assert spans.heard(700, 2000, 10_000) == 100 + 200 + 300
    assert spans.dark == ((1500, 1700),)
    spans.restart()
    assert spans.heard(700, 900, 10_000) == 200


def test_shown_is_replaced_and_never_changed() -> None:
    """Whoever reads it without a lock sees it whole."""
    spans = Spans(RATE)
    spans.hide(1000, 1100, 0)
    shown = spans.shown
    before = shown.spans.copy()
    spans.hide(1100, 5000, 0)
    np.testing.assert_array_equal(shown.spans, before)


def clips(spans: Spans) -> list[tuple[int, ...]]:
    return [tuple(int(value) for value in row) for row in spans.shown.clips]


def of(length: int) -> F32:
    return np.full(length, length / 1000, np.float32)


def test_a_clip_is_in_the_middle_of_its_hole() -> None:
    spans = Spans(RATE)
    spans.hide(1000, 1500, 0)
    spans.play(800, 1700, "a", lambda frames: of(frames // 3), 0)
    assert clips(spans) == [(800, 1700, 1100, 0, 300)]
    spans.hide(5000, 5500, 0)
    spans.play(4800, 5700, "b", lambda frames: of(100), 0)
    assert clips(spans)[1] == (4800, 5700, 5200, 300, 100)
    np.testing.assert_array_equal(spans.shown.pool, [*of(300), *of(100)])


def test_more_of_the_same_word_moves_its_clip_until_it_begins() -> None:
    spans, asked = Spans(RATE), list[int]()

    def sound(frames: int) -> F32:
        asked.append(frames)
        return of(100)

    spans.play(800, 1200, "a", sound, 0)
    spans.play(900, 1200, "a", sound, 0)  # nothing new
    spans.play(850, 1600, "a", sound, 0)
    assert asked == [400, 800]
    assert clips(spans) == [(800, 1600, 1150, 0, 100)]
    assert spans.played == 1
    spans.play(800, 2000, "a", sound, 800)  # it has begun
    spans.play(700, 1000, "b", sound, 0)  # another one is there
    spans.play(3000, 3400, "c", sound, 3001)  # too late
    assert asked == [400, 800]


@pytest.mark.parametrize("sound", [None, of(401)])
def test_without_a_sound_that_fits_there_is_no_clip(sound: F32 | None) -> None:
    spans = Spans(RATE)
    spans.play(800, 1200, "a", lambda frames: sound, 0)
    assert (clips(spans), spans.played) == ([], 0)

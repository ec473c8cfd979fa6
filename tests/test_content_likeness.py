"""How alike pronunciations are: the laws of a distance, and an index that finds what comparing all finds."""

from __future__ import annotations

import random

import pytest
from velavox.engine.content.likeness import Nearest, distance, skeleton, swap
from velavox.engine.content.phones import ENGLISH, MANDARIN

pytestmark = pytest.mark.nojit
PHONES = (*ENGLISH, *MANDARIN)


def drawn(draw: random.Random, least: int = 1, most: int = 9) -> tuple[str, ...]:
    return tuple(draw.choices(PHONES, k=draw.randint(least, most)))


def test_swaps_are_symmetric_and_cost_no_more_than_leaving_both_out() -> None:
    for a in PHONES:
        assert swap(a, a) == 0
        assert all(0 < swap(a, b) == swap(b, a) <= distance((a,), (), 9) + distance((), (b,), 9) for b in PHONES if b != a)


def test_sounds_of_one_kind_are_nearer() -> None:
    assert swap("B", "P") < swap("B", "K")
    assert swap("IY", "IH") < swap("IY", "AA") < swap("IY", "K")
    assert swap("SX", "S") < swap("SX", "K")  # across languages


def test_it_is_symmetric_zero_for_the_same_alone_and_obeys_the_triangle() -> None:
    draw = random.Random(5)
    for _ in range(200):
        a, b, c = drawn(draw), drawn(draw), drawn(draw)
        assert distance(a, b, 99) == pytest.approx(distance(b, a, 99))
        assert (distance(a, b, 99) == 0) == (a == b)
        assert distance(a, a, 0) == 0
        assert distance(a + c, b + c, 99) <= distance(a, b, 99) + 1e-9


def test_a_limit_changes_no_distance_below_it() -> None:
    draw = random.Random(6)
    for _ in range(200):
        a, b = drawn(draw), drawn(draw)
        full, limit = distance(a, b, 99), draw.uniform(0, 6)
        limited = distance(a, b, limit)
        assert limited == full if full <= limit else limited > limit


def test_the_index_finds_what_is_near_and_has_the_consonants_but_for_one() -> None:
    draw = random.Random(7)
    known = [drawn(draw, 5, 8) for _ in range(200)]
    index = Nearest((phones, phones) for phones in known)
    near = 0
    for phones in known:
        heard = list(phones)
        heard[draw.randrange(len(heard))] = draw.choice(PHONES)
        found = dict(index.find(tuple(heard), 0.26))
        for other, cost in found.items():
            assert cost == distance(other, tuple(heard), 99) <= 0.26 * len(other) + 1e-9
        near += phones in found
    assert near == len(known)  # one phone of five is less than 0.26 of them
    assert list(index.find(("HH", "AA"), 0.0)) == []


def test_a_skeleton_has_no_vowels() -> None:
    assert skeleton(("B", "AA", "S", "T", "AH", "N")) == skeleton(("P", "OW", "SR", "D", "UW", "NG")) == "pstn"

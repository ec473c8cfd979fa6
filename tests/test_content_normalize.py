"""Comparable words: one number, one name, one address is the same however it is written (C06, C07, C09)."""

from __future__ import annotations

import pytest
from heard import need_text
from velavox.engine.content.normalize import comparable, surface, words_of

pytestmark = pytest.mark.nojit


@pytest.fixture(autouse=True, scope="module")
def parts() -> None:
    need_text()


SAME = [
    ["four one five", "4 1 5", "415", "Four, one; FIVE", "four hundred and fifteen", "４１５", "٤١٥", "四一五", "四百一十五"],
    ["007", "double o seven", "zero zero seven", "oh oh seven", "零零七", "〇〇七"],
    [
        "13800138000",
        "一三八零零一三八零零零",
        "138-0013-8000",
        "幺三八零零幺三八零零零",
        "one three eight double o one three eight triple o",
    ],
    ["1984", "nineteen eighty-four", "nineteen eighty four", "一九八四"],
    ["2004", "two thousand and four", "2,004", "两千零四", "二千零四"],
    ["12000", "twelve thousand", "12 thousand", "一万二千", "一萬兩千"],
    ["2000000", "2 million", "two million", "二百万"],
    ["route 66", "ROUTE sixty-six", "Route sixty six"],
    ["march 3", "March 3rd", "march third"],
    ["Alice", "alice", "ALICE", "Alice's", "alice\u2019s", "ALICE,", "«Alice»", "A. L. I. C. E.", "Ａｌｉｃｅ", "Ali\u200bce"],
    ["James", "James'", "james's"],
    ["Jose", "José", "Jose\u0301", "JOSÉ's"],
    ["alice.carter@example.com", "alice dot carter at example dot com", "ALICE.CARTER @ EXAMPLE.COM"],
    ["小明", "小 明", "小明，", "\u5c0f\u660e"],
    ["协和医院", "協和醫院"],
]


@pytest.mark.parametrize("ways", SAME, ids=[ways[0] for ways in SAME])
def test_one_thing_is_the_same_however_it_is_written(ways: list[str]) -> None:
    assert len({words_of(way) for way in ways}) == 1, [words_of(way) for way in ways]
    assert words_of(ways[0])


def test_different_things_stay_different() -> None:
    different = ["ann", "annual", "an", "415", "451", "4150", "小明", "小名", "oh my", "0 my", "千万", "十", "dont", "do not"]
    assert len({words_of(text) for text in different}) == len(different)


@pytest.mark.parametrize("text", ["", " ", "...", "—?!", "\u200b", "\U0001f600", "_", "'", "-"])
def test_what_says_nothing_is_nothing(text: str) -> None:
    assert words_of(text) == ()


def test_a_unit_knows_the_words_that_it_is_from() -> None:
    units = comparable(surface(["call", "four", "hundred", "and", "fifteen", "Alice's,", "我是", "3rd"]))
    spans = [(unit.text, unit.first, unit.last) for unit in units]
    assert spans == [
        ("call", 0, 1), ("4", 1, 5), ("1", 1, 5), ("5", 1, 5), ("alice", 5, 6), ("我", 6, 7), ("是", 6, 7), ("3", 7, 8),
    ]  # fmt: skip


def test_no_word_is_printed() -> None:
    assert "alice" not in repr(surface(["Alice"]))


def test_words_for_numbers_say_every_number(rng_numbers: list[int]) -> None:
    from velavox.engine.content.numerals import spelled

    for number in rng_numbers:
        assert "".join(words_of(spelled(str(number)))) == str(number)


@pytest.fixture
def rng_numbers() -> list[int]:
    """Numbers of up to six digits, all sizes as likely; beyond that they are read digit by digit."""
    import random

    draw = random.Random(7)
    return [*range(1, 100), *(draw.randrange(10**size, 10 ** (size + 1)) for size in range(2, 6) for _ in range(100))]

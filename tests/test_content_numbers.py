"""Words for numbers: every way to say one has its digits."""

from __future__ import annotations

import random

import pytest
from velavox.engine.content.numbers import chinese_digits, english_digits, is_chinese_numeral

pytestmark = pytest.mark.nojit
HAN = "零一二三四五六七八九"


@pytest.mark.parametrize(
    ("said", "digits", "taken"),
    [
        ("four hundred and fifteen people", "415", 4),
        ("four one five", "4", 1),
        ("twenty one", "21", 2),
        ("twenty twenty one", "20", 1),
        ("nineteen eighty four", "19", 1),
        ("two thousand and four", "2004", 4),
        ("two thousand nineteen", "2019", 3),
        ("eighteen hundred", "1800", 2),
        ("three million two hundred thousand and one", "3200001", 7),
        ("a hundred of them", "100", 2),
        ("2 million", "2000000", 2),
        ("0415 hundred", "0415", 1),
        ("double o seven", "00", 2),
        ("triple nine", "999", 2),
        ("oh four", "0", 1),
        ("twenty third", "23", 2),
        ("zero zero", "0", 1),
    ],
)
def test_english_numbers(said: str, digits: str, taken: int) -> None:
    assert english_digits(said.split()) == (digits, taken)


@pytest.mark.parametrize("said", ["", "oh my", "a cat", "hundred", "double trouble", "and one", "double", "o", "million"])
def test_what_is_no_english_number(said: str) -> None:
    assert english_digits(said.split()) is None


def test_oh_is_a_digit_after_one() -> None:
    assert english_digits(["oh", "my"], after_digit=True) == ("0", 1)


@pytest.mark.parametrize(
    ("said", "digits"),
    [
        ("一三八零零", "13800"), ("幺〇两", "102"), ("十", "10"), ("十五", "15"), ("二十", "20"), ("二十三", "23"),
        ("一百零五", "105"),
        ("三千二百", "3200"), ("一万二千", "12000"), ("两千零四", "2004"), ("一亿", "100000000"), ("十万", "100000"),
        ("千万", ""), ("百", ""),
        ("二百五十万零三", "2500003"),
    ],
)  # fmt: skip
def test_chinese_numbers(said: str, digits: str) -> None:
    assert all(map(is_chinese_numeral, said))
    assert chinese_digits(said) == digits


def test_any_chinese_number_below_a_hundred_million() -> None:
    def spoken(number: int) -> str:
        if number >= 10_000:
            return (
                spoken(number // 10_000)
                + "万"
                + (("零" if number % 10_000 < 1_000 else "") + spoken(number % 10_000)) * (number % 10_000 > 0)
            )
        for size, name in ((1_000, "千"), (100, "百"), (10, "十")):
            if number >= size:
                rest = number % size
                return HAN[number // size] + name + (("零" if rest < size // 10 else "") + spoken(rest)) * (rest > 0)
        return HAN[number]

    draw = random.Random(1)
    for size in range(1, 9):
        for _ in range(50):
            number = draw.randrange(10 ** (size - 1), 10**size)
            assert chinese_digits(spoken(number)) == str(number), spoken(number)

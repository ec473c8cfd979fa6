"""Numbers as words."""

from __future__ import annotations

import pytest
from velavox.engine.content.numerals import spelled


@pytest.mark.parametrize(
    ("digits", "words"),
    [
        ("0", "zero"),
        ("7", "seven"),
        ("13", "thirteen"),
        ("40", "forty"),
        ("99", "ninety nine"),
        ("100", "one hundred"),
        ("115", "one hundred fifteen"),
        ("1000", "one thousand"),
        ("2,000", "two thousand"),
        ("2024", "two thousand twenty four"),
        ("10,019", "ten thousand nineteen"),
        ("999,999", "nine hundred ninety nine thousand nine hundred ninety nine"),
        ("1848", "eighteen forty eight"),
        ("1800", "eighteen hundred"),
        ("1905", "nineteen oh five"),
        ("1,848", "one thousand eight hundred forty eight"),
        ("1st", "first"),
        ("2nd", "second"),
        ("5th", "fifth"),
        ("7th", "seventh"),
        ("8th", "eighth"),
        ("9th", "ninth"),
        ("12th", "twelfth"),
        ("20th", "twentieth"),
        ("23rd", "twenty third"),
        ("115th", "one hundred fifteenth"),
        ("007", "zero zero seven"),
        ("5551234", "five five five one two three four"),
    ],
)
def test_digits_are_read_as_a_reader_says_them(digits: str, words: str) -> None:
    assert spelled(digits).split() == words.split()


def test_every_cardinal_below_ten_thousand_is_read_back() -> None:
    """By a grammar of its own: values of words, added up and multiplied."""
    values = {word: n for n, word in enumerate("zero one two three four five six seven eight nine".split())}
    values |= {word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
    teens = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
    values |= {word: n for n, word in enumerate(teens, 10)}
    for number in range(10_000):
        total = part = 0
        for word in spelled(f"{number:,}").split():
            if word == "thousand":
                total, part = 1000 * part, 0
            else:
                part = 100 * part if word == "hundred" else part + values[word]
        assert total + part == number

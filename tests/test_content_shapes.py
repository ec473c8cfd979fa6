"""Other characters, the same shape."""

from __future__ import annotations

from random import Random

import pytest
from velavox.engine.content.normalize import has_han
from velavox.engine.content.shapes import CONSONANTS, cased, of_form, of_length

pytestmark = pytest.mark.nojit
TEXTS = (
    "Alice Carter",
    "415-555-0132",
    "alice.carter@Example.com",
    "王建国 2024年3月5号",
    "March 3rd, 2024",
    "four one five",
    "é ß",
    "",
)


def shape(character: str) -> str:
    if has_han(character):
        return "han"
    if character.isdigit():
        return "digit"
    return ("upper" if character.isupper() else "lower") if character.isalpha() else character


def test_no_vowel_is_drawn() -> None:
    assert not set(CONSONANTS) & set("aeiouy")


@pytest.mark.parametrize("text", TEXTS)
def test_equal_length_keeps_the_shape_and_no_vowel_comes_in(text: str) -> None:
    for seed in range(30):
        made = of_length(text, Random(seed))
        assert [shape(c) for c in made] == [shape(c) for c in text]
        assert {c.lower() for c in made if c.isalpha() and c.isascii()} <= set(CONSONANTS)


@pytest.mark.parametrize("text", ["415-555-0132", "王建国", "Alice"])
def test_every_character_of_a_kind_may_come(text: str) -> None:
    made = {of_length(text, Random(seed))[0] for seed in range(400)}
    assert len(made) >= (10 if text[0].isdigit() else 19)


def test_a_form_stays_a_form() -> None:
    for seed in range(20):
        date = of_form("March 3rd, 2024", Random(seed)).replace(",", "").split()
        assert (
            date[0].lower() in "january february march april may june july august september october november december".split()
        )
        assert date[1][-2:] == "rd"
        assert len(date[2]) == 4
        number = of_form("four ONE Five oh", Random(seed)).split()
        assert {word.lower() for word in number} <= set("zero one two three four five six seven eight nine".split())
        assert (number[1].isupper(), number[2].istitle()) == (True, True)
        chinese = of_form("二零二四年三月", Random(seed))
        assert (chinese[4], chinese[6]) == ("年", "月")
        assert set(chinese) - {"年", "月"} <= set("零一二三四五六七八九")


def test_what_is_no_part_of_a_form_goes() -> None:
    assert all("alice" not in of_form("alice at example dot com", Random(seed)) for seed in range(20))
    assert of_form("alice at example dot com", Random(1)).split()[1::2] == ["at", "dot"]


def test_the_same_lots_give_the_same() -> None:
    assert [of_form(text, Random(5)) for text in TEXTS] == [of_form(text, Random(5)) for text in TEXTS]
    assert of_form("415-555-0132", Random(5)) != of_form("415-555-0132", Random(6))


@pytest.mark.parametrize(
    ("text", "like", "expected"),
    [
        ("Lucy", "alice", "lucy"),
        ("Lucy", "ALICE", "LUCY"),
        ("lucy", "Alice", "Lucy"),
        ("new york", "Boston", "New york"),
        ("x", "7", "X"),
    ],
)
def test_case_follows(text: str, like: str, expected: str) -> None:
    assert cased(text, like) == expected

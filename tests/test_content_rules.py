"""Numbers, cards, ids, addresses and dates, spoken or written (C06, C07)."""

from __future__ import annotations

import random

import pytest
from heard import need_text
from velavox.engine.content.normalize import comparable, surface
from velavox.engine.content.rules import RULES, find, luhn, resident_id

pytestmark = pytest.mark.nojit


@pytest.fixture(autouse=True, scope="module")
def parts() -> None:
    need_text()


def found(text: str, *kinds: str) -> list[tuple[str, str]]:
    """Kinds, and the words that are of them."""
    pieces = text.split()
    ruled = find(comparable(surface(pieces)), pieces, kinds or tuple(RULES))
    return [(one.kind, " ".join(pieces[one.first : one.last])) for one in ruled]


NUMBERS = [
    ("call", "four one five five five five zero one two three", "now"),
    ("call", "four one five, five five five, oh one two three", "now"),
    ("call", "(415) 555-0123", "now"),
    ("call", "415 dash 555 dash 0123", "now"),
    ("call", "four one uh five", "now"),
    ("agent", "double o seven", "here"),
    ("电话", "一三八零零 一三八 零零零", "谢谢"),
    ("电话", "一 三 八", "谢谢"),
    ("room", "three hundred and five", "upstairs"),
    ("in", "nineteen eighty four", "we"),
]


@pytest.mark.parametrize(("before", "number", "after"), NUMBERS)
def test_three_digits_and_more_are_a_number_however_they_are_said(before: str, number: str, after: str) -> None:
    assert found(f"{before} {number} {after}", "number") == [("number", number)]


def test_a_number_with_digits_lost_or_repeated_is_a_number_still() -> None:  # C07
    draw = random.Random(3)
    for _ in range(50):
        digits = "".join(draw.choices("0123456789", k=draw.randrange(4, 12)))
        at = draw.randrange(len(digits))
        for heard in (digits[:at] + digits[at + 1 :], digits[:at] + digits[at] + digits[at:]):
            assert found(f"say {' '.join(heard)} please", "number") == [("number", " ".join(heard))]


@pytest.mark.parametrize(
    "text", ["two or three dollars", "1 2", "oh my", "one two", "第二", "千万别说", "twenty one", "", "十二"]
)
def test_fewer_digits_are_no_number(text: str) -> None:
    assert found(text, "number") == []


def test_cards_have_the_right_check_digit() -> None:
    assert luhn("4111111111111111")
    assert luhn("79927398713")
    assert not any(luhn(f"7992739871{last}") for last in "012456789")
    assert found("my card 4111 1111 1111 1111 ok", "card") == [("card", "4111 1111 1111 1111")]
    assert found("my card 4111 1111 1111 1112 ok", "card") == []
    spoken = "four one one one " + "one " * 11 + "one"
    assert found(f"it is {spoken} yes", "card") == [("card", spoken)]


def test_residents_ids_have_the_right_check_digit() -> None:
    assert resident_id("11010519491231002x")
    assert not resident_id("110105194912310021")
    assert found("id 11010519491231002X bye", "id") == [("id", "11010519491231002X")]
    assert found("号码 一一零一零五一九四九一二三一零零二 X 谢谢", "id") == [("id", "一一零一零五一九四九一二三一零零二 X")]


@pytest.mark.parametrize("one", ["123-45-6789", "AB 123456", "X 1234567", "one two three four five six seven eight nine"])
def test_ids_of_other_forms(one: str) -> None:
    assert found(f"passport {one} please", "id") == [("id", one)]
    assert found("give me 123456 of it", "id") == []


EMAILS = [
    "alice.carter@example.com", "alice dot carter at example dot com", "Alice Dot Carter At Example Dot Com",
    "alice 1 2 at example dot co dot uk",
    "alice at my company dot org", "alice 艾特 example 点 com",
]  # fmt: skip


@pytest.mark.parametrize("address", EMAILS)
def test_e_mail_addresses_spoken_and_written(address: str) -> None:  # with one word before: names are cut in two
    assert found(f"please write to {address} and wait", "email") == [("email", f"to {address}")]
    assert found(address, "email") == [("email", address)]


@pytest.mark.parametrize("text", ["we met at noon", "at example", "look at the dot", "dot com at"])
def test_what_is_no_e_mail_address(text: str) -> None:
    assert found(text, "email") == []


DATES = [
    "March 3rd, 2024", "march third", "the third of march", "5 of May", "3 May 2021", "31 may", "the 12th May",
    "twelve march nineteen ninety", "April 5", "12 june 1999", "2024-03-05", "3/5/24",
    "5.3.2024", "二零二四年三月十五日", "三月 十五号", "2024年3月", "1984年",
]  # fmt: skip


@pytest.mark.parametrize("date", DATES)
def test_dates_spoken_and_written(date: str) -> None:
    assert found(f"on {date} we", "date") == [("date", date)]


@pytest.mark.parametrize(
    "text",
    [
        "no one may enter",
        "they march on",
        "5 may enter",
        "the 5 march to town",
        "三年",
        "june",
        "五月",
        "3/5",
        "1.2.3.4.5.6",
        "10/2000/1",
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert found(text, "date") == []


@pytest.mark.parametrize(
    "address", ["forty-two baker street", "1600 Pennsylvania Avenue", "10 downing st", "中关村大街 二十七号"]
)
def test_street_addresses(address: str) -> None:
    assert found(f"in {address} they", "address") == [("address", address)]


@pytest.mark.parametrize("text", ["one of the court", "two people on the road", "down the street", "路上"])
def test_what_is_no_street_address(text: str) -> None:
    assert found(text, "address") == []


@pytest.mark.parametrize("text", [pieces for _, number, _ in NUMBERS for pieces in (number,)] + EMAILS + DATES[:7])
def test_case_makes_no_difference(text: str) -> None:  # C09
    ways = {
        str([(kind, words.lower()) for kind, words in found(way)]) for way in (text, text.lower(), text.upper(), text.title())
    }
    assert len(ways) == 1

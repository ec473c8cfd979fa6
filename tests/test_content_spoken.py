"""What may be spoken: no listed word, as it is written or as it sounds, and whatever else."""

from __future__ import annotations

import pytest
from needs import lacking
from signals import F32
from velavox.engine.content.lexicon import Lexicon
from velavox.engine.content.normalize import surface
from velavox.engine.content.pronounce import Phones, sounds
from velavox.engine.content.speech import speaker
from velavox.engine.content.spoken import Listed
from velavox.engine.failure import Unusable


class Reader:
    """A speaker that says words as a dictionary does, but for those that it is told to read in another way."""

    name = "reader"
    languages = ("en", "zh")

    def __init__(self, **said: str) -> None:
        self._said = {word: tuple(phones.split()) for word, phones in said.items()}

    def speak(self, text: str) -> F32:
        raise AssertionError("what may be said is asked, nothing is spoken")

    def sounds(self, text: str) -> list[Phones]:
        units = surface([text])
        return [self._said.get(unit.text) or (ways[0] if ways else ()) for unit, ways in zip(units, sounds(units), strict=True)]


def listed(*lines: str, **said: str) -> Listed:
    try:
        return Listed(Lexicon.of(lines), Reader(**said))
    except Unusable as missing:
        lacking(str(missing))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Carter", "i met carter today"),
        ("Carter", "carter's house"),
        ("Reed Smith", "i read, reed smith"),
        ("Steele", "do not steal"),
        ("Steele | match=exact", "do not steal"),  # written otherwise, and heard the same
        ("knight | match=phonetic", "a night"),
        ("my secret", "this is my, secret"),
        ("415", "four hundred fifteen"),
        ("王建国", "我是王建国"),
        ("王建国", "我是往间果"),
        ("Alice", "我是 alice"),
    ],
)
def test_what_is_heard_as_listed_is_held(line: str, text: str) -> None:
    assert listed(line).holds(text)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Carter", "a car, a garden"),
        ("knight", "a night"),  # short, and an ordinary word
        ("my secret", "my house, a secret"),
        ("Ann", "an annual meeting"),
        ("Ann | match=exact", "an annual meeting"),
        ("王建国", "我是李建"),
        ("Carter", ""),
    ],
)
def test_what_is_not_listed_is_not(line: str, text: str) -> None:
    assert not listed(line).holds(text)


@pytest.mark.parametrize("phones", ["K AA R T ER", "K AO R T ER R"])
def test_what_the_speaker_makes_of_other_letters_counts(phones: str) -> None:
    """As "Dr" is read as doctor: the text does not show it."""
    assert not listed("Carter").holds("see ctr today")
    assert listed("Carter", ctr=phones).holds("see ctr today")
    assert listed("Carter", c="K AA R", t="T ER").holds("see c t today")  # over two words, in whole


def test_parts_of_words_do_not_count_by_their_sound() -> None:
    assert not listed("Carter", cartering="K AA R T ER IH NG").holds("he was cartering")


def test_a_real_speaker_reads_an_abbreviation() -> None:
    try:
        who = speaker("hibari")
        doctor = Listed(Lexicon.of(["doctor"]), who)
    except Unusable as missing:
        lacking(str(missing))
    assert doctor.holds("ask dr smith")
    assert not doctor.holds("ask professor smith")

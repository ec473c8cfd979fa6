"""Forms of English words, spelled and spoken."""

from __future__ import annotations

import pytest
from heard import need_text
from velavox.engine.content.entry import entry_of
from velavox.engine.content.inflect import forms

pytestmark = pytest.mark.nojit


@pytest.fixture(autouse=True, scope="module")
def parts() -> None:
    need_text()


def of(text: str) -> dict[str, set[str]]:
    """Forms, and how they sound."""
    return {" ".join(words): {" ".join(p) for p in ways} for words, ways in forms(entry_of(text, match="inflect", salt=b""))}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("bike", "bikes biked biking"),
        ("carry", "carries carried carrying"),
        ("play", "plays played playing"),
        ("watch", "watches watched watching"),
        ("stop", "stops stopped stopping"),
        ("threaten", "threatens threatened threatening"),
    ],
)
def test_the_forms_are_spelled(word: str, expected: str) -> None:
    assert set(expected.split()) <= of(word).keys()


def test_forms_that_a_dictionary_has_are_spoken_as_it_says() -> None:
    assert of("mouth")["mouths"] == {"M AW DH Z"}  # by rule: M AW TH S


def test_forms_that_no_dictionary_has_are_spoken_by_rule() -> None:
    sounds = of("blorvick")
    assert {way.split()[-1] for way in sounds["blorvicks"]} == {"S"}
    assert {way.split()[-1] for way in sounds["blorvicked"]} == {"T"}
    assert {way.split()[-2:][0] for way in of("blorvid")["blorvided"]} == {"AH"}


def test_letters_are_doubled_after_one_vowel_alone() -> None:
    assert "stopped" in of("stop")
    assert "lookked" not in of("look")


def test_only_the_last_word_changes() -> None:
    assert set(of("hot potato")) >= {"hot potatos"}
    assert all(words.startswith("hot ") for words in of("hot potato"))


@pytest.mark.parametrize("text", ["小明", "route 66", "Alice小明"])
def test_what_is_not_english_has_no_forms(text: str) -> None:
    assert of(text) == {}

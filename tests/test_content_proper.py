"""Names among words in small letters: those that no list has, and few others."""

from __future__ import annotations

import pytest
from texts import loaded
from velavox.engine.content import pool_en
from velavox.engine.content.proper import ProperNouns, proper_nouns

UNLISTED = (
    "brooke desmond leopold quentin kirsten lorenzo blackwell goldstein montague nakamura thornton whitaker fresno dortmund"
    " eindhoven gothenburg jacksonville knoxville ljubljana norwich savannah utrecht kellogg bridgestone monsanto unicredit"
).split()
ORDINARY = (
    "the doctor contract meeting tyrant valet housekeeper courtyard peregrination falconry insulin gallows visitor weather"
    " children playing nicely garden kitchen bicycle yesterday quietly appointment"
).split()


@pytest.fixture(scope="module")
def is_name() -> ProperNouns:
    return loaded(proper_nouns)


def test_the_words_of_this_test_are_in_no_list() -> None:
    listed = {entry.lower() for entries in (pool_en.FIRST_NAMES, pool_en.SURNAMES, pool_en.PLACES) for entry in entries}
    assert not listed & {*UNLISTED, *ORDINARY}


def test_names_that_no_list_has(is_name: ProperNouns) -> None:
    assert [word for word in UNLISTED if not is_name(word)] == []


def test_ordinary_and_unknown_words_are_none(is_name: ProperNouns) -> None:
    assert [word for word in (*ORDINARY, "xqzzyx", "", "…") if is_name(word)] == []


def test_listed_names_are_names(is_name: ProperNouns) -> None:
    assert all(is_name(entry.lower()) for entry in (*pool_en.FIRST_NAMES, *pool_en.SURNAMES))

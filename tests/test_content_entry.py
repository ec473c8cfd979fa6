"""Entries: their sounds in either language, their length, their ids."""

from __future__ import annotations

import pytest
from heard import need_text
from velavox.engine.content.entry import RefusedError, entry_of

pytestmark = pytest.mark.nojit


@pytest.fixture(autouse=True, scope="module")
def parts() -> None:
    need_text()


def test_sounds_of_either_language_and_of_both() -> None:
    alice, ming, both = (entry_of(text, salt=b"") for text in ("Alice", "小明", "Alice小明"))
    assert alice.phones[0] == ("AE", "L", "AH", "S")
    assert ming.phones == (("SX", "Y", "AW", "M", "IY", "NG"),)
    assert both.phones[0] == alice.phones[0] + ming.phones[0]
    assert (alice.syllables, ming.syllables, both.syllables) == ((), ("xiao", "ming"), ())
    assert [entry.chinese for entry in (alice, ming, both)] == [False, True, True]


def test_pinyin_sounds_as_chinese_first_unless_it_is_an_english_word() -> None:
    assert entry_of("Xiaoming", salt=b"").phones[0] == entry_of("小明", salt=b"").phones[0]
    assert entry_of("Xiaoming", salt=b"").syllables == ("xiao", "ming")
    assert entry_of("banger", salt=b"").syllables == ()
    assert entry_of("men", salt=b"").syllables == ()


@pytest.mark.parametrize(
    ("text", "short"), [("lee", True), ("john", True), ("emily", False), ("王", True), ("小明", False), ("小", True)]
)
def test_short_is_what_has_three_sounds_or_one_character(text: str, short: bool) -> None:  # C14
    assert entry_of(text, salt=b"").short is short
    assert entry_of(text, salt=b"").careful is short
    assert entry_of(text, match="phonetic", salt=b"").careful is False


def test_the_same_word_has_one_id_a_salt() -> None:
    one, other, salted = (
        entry_of(*given[:1], salt=given[1]) for given in (("Alice's", b"a"), ("ALICE", b"a"), ("alice", b"b"))
    )
    assert one.term == other.term != salted.term
    assert len(one.term) == 12
    assert "alice" not in repr(one).lower()


@pytest.mark.parametrize(
    "text", ["", "...", "привет", "one two three four five six seven eight nine ten eleven twelve thirteen"]
)
def test_what_cannot_be_used_is_refused_without_its_text(text: str) -> None:
    with pytest.raises(RefusedError) as refused:
        entry_of(text, salt=b"")
    assert not text.strip(".") or text not in str(refused.value)
    assert entry_of("привет", match="exact", salt=b"").phones == ()

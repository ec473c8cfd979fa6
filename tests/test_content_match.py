"""Listed words in what a recogniser wrote: whole words, twins, what sounds nearly the same, across languages."""

from __future__ import annotations

import pytest
from heard import need_text
from velavox.engine.content.lexicon import Lexicon
from velavox.engine.content.match import Matcher
from velavox.engine.content.normalize import surface

pytestmark = pytest.mark.nojit


@pytest.fixture(autouse=True, scope="module")
def parts() -> None:
    need_text()


def found(lines: str | list[str], text: str | list[str]) -> list[tuple[int, int, str]]:
    """Where entries are in the words of `text`."""
    lexicon = Lexicon.of([lines] if isinstance(lines, str) else lines)
    pieces = text.split() if isinstance(text, str) else text
    return [(match.first, match.last, match.entry.text) for match in Matcher(lexicon.entries).find(surface(pieces))]


def is_found(lines: str, text: str) -> bool:
    return bool(found(lines, text))


@pytest.mark.parametrize("word", ["Alice", "alice,", "ALICE'S", "Alice\u2019s?", "«alice»", "al ice", "A. L. I. C. E."])
def test_a_word_is_found_however_it_is_written(word: str) -> None:  # C09
    pieces = ["I", "met", *word.split(), "today"]
    assert found("Alice", pieces) == [(2, len(pieces) - 1, "Alice")]


@pytest.mark.parametrize("text", ["annual report", "a nun", "granny", "banner", "mannequin", "the Annex"])
def test_a_part_of_a_word_is_not_the_word(text: str) -> None:  # C12
    assert found("ann", text) == []
    assert found("ann", f"ann {text}") == [(0, 1, "ann")]


def test_a_phrase_is_found_at_every_place_and_across_every_border() -> None:  # C04
    before = "well well well".split()
    for n in range(len(before) + 1):
        pieces = [*before[:n], "oh,", "My", "God!", *before[n:]]
        assert found("my god", pieces) == [(n + 1, n + 3, "my god")]
    for cut in ("my | god", "mygod", "m y god", "my g od"):  # how a border of chunks may cut it
        pieces = cut.replace("|", " ").split()
        assert found("my god", ["oh", *pieces]) == [(1, 1 + len(pieces), "my god")]
    assert found("my god", "my dear god") == found("my god", "god my") == []


def test_each_occurrence_is_found() -> None:  # C18, the text's side of it
    assert [one[:2] for one in found("boston", "boston and Boston to boston boston")] == [(0, 1), (2, 3), (4, 5), (5, 6)]


def test_twins_are_found_unless_the_entry_is_exact() -> None:
    assert is_found("whirled", "the world")
    assert is_found("kathryn", "catherine")
    assert not is_found("whirled | match=exact", "the world")
    assert is_found("whirled | match=exact", "the whirled")


def test_what_sounds_nearly_the_same_is_found() -> None:
    for entry, written in (
        ("boston", "bosten"),
        ("stanford", "stamford"),
        ("gathercole", "gather coal"),
        ("meredith", "merideth"),
    ):
        assert is_found(entry, written), (entry, written)
    for entry, written in (("boston", "lesson"), ("stanford", "standard"), ("carter", "water"), ("emily", "family")):
        assert not is_found(entry, written), (entry, written)


def test_ordinary_words_have_to_sound_nearer() -> None:
    assert not is_found("palace", "place")
    assert not is_found("vexed", "next")
    assert is_found("bosston", "boston")


def test_short_words_leave_ordinary_ones_alone_unless_told_otherwise() -> None:  # C14
    assert not is_found("ann", "an apple")
    assert is_found("ann | match=phonetic", "an apple")
    assert is_found("lee", "the lea")  # not an ordinary word
    assert not is_found("王", "忘了")
    assert is_found("王", "王")
    assert is_found("王 | match=phonetic", "忘了")


@pytest.mark.parametrize(
    ("form", "at"), [("bike's", "exact"), ("bikes", "phonetic"), ("biked", "inflect"), ("biking", "inflect")]
)
def test_inflections_can_be_asked_for(form: str, at: str) -> None:  # C13
    levels = ["exact", "phonetic", "inflect"]
    for level in levels:
        assert is_found(f"bike | match={level}", f"a {form}") == (levels.index(level) >= levels.index(at)), level


def test_only_the_last_word_of_a_phrase_is_inflected() -> None:
    assert is_found("hot potato | match=inflect", "two hot potatoes")
    assert is_found("carry | match=inflect", "he carried and carries")
    assert is_found("stop | match=inflect", "he stopped")


def test_homophones_are_found_in_chinese() -> None:
    assert found("小明", ["我", "叫", "小", "名"]) == [(2, 4, "小明")]
    assert found("协和医院", ["去", "邪合意院", "看病"]) == [(1, 2, "协和医院")]
    assert found("小明", "我叫小明") == [(0, 1, "小明")]
    assert found("小明 | match=exact", "小 名") == []
    assert found("小明 | match=exact", "小 明") == [(0, 2, "小明")]
    assert found("协和医院", "協 和 醫 院") == [(0, 4, "协和医院")]


def test_syllables_are_borders_in_chinese() -> None:  # C12
    assert not is_found("西安 | match=phonetic", "先")  # xi an, xian
    assert not is_found("小明", "小 麦")
    assert is_found("小明", "大 小 明 天")  # a border of words is not looked for


def test_pinyin_is_found() -> None:
    assert found("小明", "met Xiao Ming today") == [(1, 3, "小明")]
    assert found("小明", "met Xiaoming today") == [(1, 2, "小明")]
    assert found("Xiaoming Wang", ["王", "小明", "和", "小", "明", "王"]) == [(3, 6, "Xiaoming Wang")]


def test_english_names_are_found_in_chinese_speech() -> None:  # C17
    assert found("Alice | name", ["我是Alice", "。"]) == [(0, 1, "Alice")]
    for characters in ("爱丽丝", "艾莉丝", "愛麗絲", "艾丽斯"):
        assert found("Alice | name", ["我", "是", *characters, "吗"]) == [(2, 5, "Alice")]
    assert found("Stanford University", ["斯坦福", "大学"]) == []  # the second word is translated, not transcribed
    assert found("Stanford", ["斯坦福", "大学"]) == [(0, 1, "Stanford")]


def test_of_overlapping_places_of_one_entry_the_best_is_told() -> None:
    assert found("Stanford University", "at Stanford University of") == [(1, 3, "Stanford University")]


def test_numbers_are_matched_as_they_are_said() -> None:
    for said in ("66", "sixty six", "six six"):
        assert found("route 66", f"on route {said} now")[0][:2] == (1, 2 + len(said.split()))


def test_an_empty_hypothesis_holds_nothing() -> None:
    assert found("alice", []) == found("alice", ["", "...", "\u200b"]) == []

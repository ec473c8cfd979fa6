"""Persons' names in Chinese that no class tells: found by what names are made of, and not in ordinary words."""

from __future__ import annotations

import pytest
from needs import lacking
from velavox.engine.content.persons import Persons, glued, is_person, persons
from velavox.engine.content.segment import Tagged, segmenter
from velavox.engine.failure import Unusable


@pytest.fixture(scope="module")
def found() -> Persons:
    try:
        return persons()
    except Unusable as error:
        lacking(str(error))


def names(found: Persons, sentence: str, *known: tuple[int, int]) -> list[str]:
    return [sentence[start:end] for start, end in found.find(segmenter().tagged(sentence), known)]


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("记者高锦平报道", "高锦平"),
        ("请找陶铁斧同志", "陶铁斧"),
        ("这是邱文豹、我的同事", "邱文豹"),
        ("我叫萧春华，住在这里", "萧春华"),
    ],
)
def test_a_name_that_is_cut_in_two(found: Persons, sentence: str, name: str) -> None:
    assert names(found, sentence) == [name]


@pytest.mark.parametrize(
    "sentence",
    [
        "今天天气很好，于是他们高兴地去公园散步",
        "这张脸我在贺信中见过，范围大得很",
        "和智慧一样重要，连老师也这样说",
        "请把门关上，白色的包子在桌子上",
        "他们方便的时候来，时间已经不早了",
    ],
)
def test_ordinary_words_are_no_names(found: Persons, sentence: str) -> None:
    assert names(found, sentence) == []


def test_a_part_of_a_name_that_is_known_becomes_the_whole(found: Persons) -> None:
    tokens = [Tagged("韩", "nr"), Tagged("芝萍", "nr"), Tagged("说", "v")]
    assert list(found.find(tokens, [(1, 3)])) == [(0, 3)]
    assert list(found.find(tokens, [(0, 3)])) == []  # nothing new
    assert list(found.find(tokens, [(2, 4)])) == []  # would cut what is found


def test_what_stands_beside_counts(found: Persons) -> None:
    assert found.likely("陶铁斧", "记者", "说") > found.likely("陶铁斧", "很", "说") > found.likely("陶铁斧", "很", "很")


def test_a_surname_with_a_title_is_no_longer_name(found: Persons) -> None:
    assert names(found, "王医生说", (0, 1)) == []


def test_classes_of_the_dictionary_are_checked() -> None:
    assert glued("和小红") == 1
    assert glued("小红") == glued("何小红") == 0
    assert is_person("李雷", "")
    assert is_person("王", "医生")
    assert not is_person("王", "很")
    assert not any(is_person(word, "") for word in ("党风廉政", "严格执行", "祝贺", "安全措施"))

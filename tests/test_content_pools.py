"""Pools: of the same class, the most alike first."""

from __future__ import annotations

import pytest
from texts import loaded
from velavox.engine.content import pool_en, pool_zh
from velavox.engine.content.names import listed
from velavox.engine.content.pools import chinese_pools, english_pools

pytestmark = pytest.mark.nojit


@pytest.mark.parametrize(
    ("text", "kind", "pool", "near"),
    [
        ("Alice", "name", pool_en.FIRST_NAMES, "Lucy"),
        ("carter", "name", pool_en.SURNAMES, "Richardson"),
        ("Boston", "place", pool_en.PLACES, "Chicago"),
        ("New York", "place", pool_en.PLACES, "Los Angeles"),
        ("Stanford University", "organisation", pool_en.ORGANISATIONS, "Yale University"),
        ("Zbigniewska", "name", (*pool_en.FIRST_NAMES, *pool_en.SURNAMES), "Smith"),  # without a vector: the typical ones
    ],
)
def test_english_names_are_of_their_class(text: str, kind: str, pool: tuple[str, ...], near: str) -> None:
    alike = loaded(english_pools).alike(text, kind)
    assert set(alike) <= set(pool)
    assert near in alike[:30]
    assert len(set(alike)) == len(alike) > 50


def test_english_words_stand_for_words_and_are_no_function_words() -> None:
    alike = loaded(english_pools).alike("doctor", "word")
    assert {"nurse", "physician"} <= set(alike[:10])
    assert not {"the", "of", "and", "that"} & set(loaded(english_pools).alike("xqzzyx", "word"))


@pytest.mark.parametrize("text", ["王建国", "张伟", "欧阳娜娜"])
def test_chinese_names_share_no_character(text: str) -> None:
    alike = loaded(chinese_pools).alike(text, "name")
    assert len(set(alike)) == len(alike) > 100
    assert all(not set(name) & set(text) and name[0] in pool_zh.SURNAMES for name in alike)
    assert all(len(name) == min(3, len(text)) for name in alike)


def test_chinese_titles_stay_and_foreign_names_stay_foreign() -> None:
    pools = loaded(chinese_pools)
    assert all(name.endswith("经理") and len(name) == 3 for name in pools.alike("李经理", "name"))
    assert set(pools.alike("爱丽丝", "name")) <= set(pool_zh.FOREIGN_NAMES)
    assert all(name[0] == "小" for name in pools.alike("小明", "name"))


@pytest.mark.parametrize(
    ("text", "kind", "ending"),
    [("海淀区", "place", "区"), ("西安电子科技大学", "organisation", "大学"), ("协和医院", "organisation", "医院")],
)
def test_chinese_places_and_organisations_end_alike(text: str, kind: str, ending: str) -> None:
    assert all(name.endswith(ending) for name in loaded(chinese_pools).alike(text, kind)[:20])


def test_chinese_words_are_of_the_same_class_and_length() -> None:
    from velavox.engine.content.segment import segmenter

    alike = loaded(chinese_pools).alike("医生", "word")[:20]
    assert {segmenter().tag(word) for word in alike} == {segmenter().tag("医生")}
    assert {len(word) for word in alike} == {2}
    assert loaded(chinese_pools).alike("龘龘龘龘龘龘龘", "word")  # unknown, and longer than any


def test_english_names_in_the_lists_are_found_by_them() -> None:
    for kind, entries in (("name", (*pool_en.FIRST_NAMES, *pool_en.SURNAMES)), ("organisation", pool_en.ORGANISATIONS)):
        missed = [entry for entry in entries if [n.kind for n in listed(entry.split())] != [kind]]
        assert set(missed) <= {"Charlotte", "Florence"}, kind  # which are places too

"""Replacing: uniform, consistent within a session and secret; never what is listed, nor what gives the original away."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from texts import loaded, word_list
from velavox.engine.content.find import Finder
from velavox.engine.content.normalize import has_han
from velavox.engine.content.pools import english_pools
from velavox.engine.content.replace import MASK, MODES, MOST_ALIKE, Replacer
from velavox.engine.content.twins import Original
from velavox.engine.content.word import Word

STRETCHES = (
    ("Alice", "name"),
    ("Alice Carter", "name"),
    ("Boston", "place"),
    ("New York", "place"),
    ("Yale University", "organisation"),
    ("doctor", "word"),
    ("eagle", "word"),
    ("415-555-0132", "number"),
    ("four one five", "number"),
    ("March 3rd, 2024", "date"),
    ("alice at example dot com", "email"),
    ("12 Baker Street", "address"),
    ("王建国", "name"),
    ("海淀区", "place"),
    ("小明", "name"),
    ("西安电子科技大学", "organisation"),
    ("医生", "word"),
    ("一三八零零", "number"),
    ("王", "name"),
)


@pytest.fixture(scope="module", autouse=True)
def parts() -> None:
    loaded(Replacer("similar", word_list()).load, ("en", "zh"))


def heard(text: str) -> list[Word]:
    return [Word(word, 0, 0) for word in (text if has_han(text) else text.split())]


@pytest.mark.parametrize("mode", MODES)
def test_nothing_listed_comes_in(mode: str) -> None:
    """Neighbours of listed words are asked for, so that many of the likeliest answers are listed or sound like that."""
    lexicon = word_list()
    finder = Finder(lexicon, languages=("en", "zh"))
    for seed in range(2 if mode == "random" else 8):  # what has no vowels takes long to sound
        replacer = Replacer(mode, lexicon, n=5, seed=seed)
        for text, kind in (
            *STRETCHES,
            ("Emma", "name"),
            ("Emile", "name"),
            ("Detroit", "place"),
            ("hawk", "word"),
            ("李敏", "name"),
        ):
            assert finder.find(heard(replacer.replace(text, kind))) == []


@pytest.mark.parametrize("mode", ["similar", "random"])
@pytest.mark.parametrize(("text", "kind"), STRETCHES)
def test_the_original_is_not_given_away(mode: str, text: str, kind: str) -> None:
    for seed in range(10):
        drawn = Replacer(mode, seed=seed).replace(text, kind)
        assert not Original(text).is_given_away_by(drawn)
        assert MASK not in drawn


@pytest.mark.parametrize("n", [1, 5, 20])
def test_similar_is_uniform_over_the_n_most_alike(n: int) -> None:
    draws = 60 * n
    counts = Counter(Replacer("similar", n=n, seed=seed).replace("Boston", "place") for seed in range(draws))
    allowed = (place for place in english_pools().alike("Boston", "place") if place != "Boston")
    assert set(counts) == set(islice(allowed, n))
    chi_square = sum((count - draws / n) ** 2 / (draws / n) for count in counts.values())
    assert chi_square < n - 1 + 4 * (2 * n) ** 0.5  # four deviations


@pytest.mark.parametrize("mode", ["similar", "random"])
def test_the_same_is_replaced_by_the_same(mode: str) -> None:
    replacer = Replacer(mode)
    alice, carter = replacer.replace("Alice", "name"), replacer.replace("CARTER", "name")
    assert replacer.replace("Alice Carter", "name").lower() == f"{alice} {carter}".lower()
    assert replacer.replace("alice's", "name") == f"{alice.lower()}'s"
    assert replacer.replace("ALICE", "name") == alice.upper()
    assert replacer.replace("小明", "name") == replacer.replace("小明", "name")


@pytest.mark.parametrize("mode", ["similar", "random"])
def test_different_ones_differ_and_sessions_differ(mode: str) -> None:
    names = "Alice Lucy Jane Helen Emma Hannah Sarah Dorothy Mary Kate Susan Carol Ann Laura Diana Julia".split()
    replacer = Replacer(mode)
    assert len({replacer.replace(name, "name") for name in names}) == len(names)
    assert len({Replacer(mode).replace("Alice", "name") for _ in range(20)}) > 5
    assert len({Replacer(mode, seed=4).replace("Alice", "name") for _ in range(5)}) == 1


def test_more_than_the_pool_holds_is_still_replaced() -> None:
    replacer = Replacer("similar", n=1)
    assert {replacer.replace(text, "name") for text in ("Alice", "Alice B", "alice c")} >= {"Lucy"}
    assert all(replacer.replace(f"Alice{letter}", "name").isalpha() for letter in "bcdfg")


@pytest.mark.parametrize(("text", "kind"), STRETCHES)
def test_random_is_as_long(text: str, kind: str) -> None:
    drawn = Replacer("random", word_list()).replace(text, kind)
    assert [c.isalnum() for c in drawn] == [c.isalnum() for c in text]
    assert [has_han(c) for c in drawn] == [has_han(c) for c in text]


def test_mask_and_fixed() -> None:
    lexicon = word_list()
    emily, falcon, plan = (entry.term for entry in lexicon.entries if entry.line in (1, 3, 4))
    fixed = Replacer("fixed", lexicon)
    assert [fixed.replace("x", "name", term) for term in (emily, falcon, plan, "")] == ["Jane", "eagle", "[name]", "[name]"]
    assert Replacer("fixed").replace("x", "place") == "[place]"
    assert {Replacer("mask").replace(text, kind) for text, kind in STRETCHES} == {MASK}


def test_the_words_are_not_kept() -> None:
    """Neither in what it prints nor in what it holds; of the list it holds what the list does."""
    replacer = Replacer("similar", seed=1)
    for text, kind in STRETCHES:
        replacer.replace(text, kind)
    held = repr(vars(replacer)).casefold()
    assert not [text for text, _ in STRETCHES if len(text) > 1 and text.casefold() in held]
    assert repr(replacer) == f"Replacer('similar', {len(STRETCHES)} given)"


def test_wrong_use_is_refused() -> None:
    with pytest.raises(ValueError, match="mode 'silly': give one of similar, random, mask, fixed"):
        Replacer("silly")
    for n in (0, MOST_ALIKE + 1):
        with pytest.raises(ValueError, match=f"n {n}: give 1 to 100"):
            Replacer("similar", n=n)

"""The finder: listed words and categories together, wrong use told, nothing printed."""

from __future__ import annotations

import logging
import socket

import pytest
from heard import need_text, words
from velavox.engine.content import find as find_module
from velavox.engine.content.find import CATEGORIES, Finder, Found
from velavox.engine.content.hit import KINDS
from velavox.engine.content.lexicon import Lexicon
from velavox.engine.content.names import Named
from velavox.engine.content.pronounce import of_word

pytestmark = pytest.mark.nojit
LINES = ["Alice | name", "my god", "小明 | name", "zanzibarov | organisation"]


@pytest.fixture(autouse=True, scope="module")
def parts() -> None:
    need_text()


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon.of(LINES)


def test_listed_words_are_told_by_their_ids(lexicon: Lexicon) -> None:
    finder = Finder(lexicon, languages=("en", "zh"))
    terms = [entry.term for entry in lexicon.entries]
    assert finder.find(words("Oh my God , Alice's friend 小名 left")) == [
        Found(1, 3, "word", terms[1]),
        Found(4, 5, "name", terms[0]),
        Found(6, 7, "name", terms[2]),
    ]
    assert finder.find([]) == finder.find(words("nothing of it")) == []


def test_categories_are_told_without_ids(lexicon: Lexicon) -> None:
    finder = Finder(lexicon, ["number", "email"], ("en", "zh"))
    assert finder.find(words("call Alice at four one five")) == [
        Found(1, 2, "name", lexicon.entries[0].term),
        Found(3, 6, "number"),
    ]
    assert [one.kind for one in Finder(None, ["number"]).find(words("Alice at 415"))] == ["number"]
    assert Finder(None, ["date"]).find(words("say 415 415")) == []


def test_names_are_taken_of_the_kinds_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Names:
        def find(self, texts: list[str]) -> list[Named]:
            return [Named(0, 1, "name"), Named(1, 2, "place")]

    monkeypatch.setattr(find_module, "names", lambda language: Names())
    assert Finder(None, ["place"]).find(words("Emily Boston")) == [Found(1, 2, "place")]
    assert [one.kind for one in Finder(None, ["name", "place"]).find(words("Emily Boston"))] == ["name", "place"]


def test_every_category_is_a_kind() -> None:
    assert set(CATEGORIES) == set(KINDS) - {"word", "doubt"}


def test_what_nothing_finds_is_refused(lexicon: Lexicon) -> None:  # C16
    with pytest.raises(ValueError, match="category 'phone' is none that is found: give one of name, place, "):
        Finder(lexicon, ["number", "phone"])
    with pytest.raises(ValueError, match="language 'de' is none that is found: give one of en, zh"):
        Finder(lexicon, languages=["en", "de"])
    with pytest.raises(ValueError, match="no language"):
        Finder(lexicon, languages=[])
    with pytest.raises(ValueError, match="nothing to find"):
        Finder(None)
    with pytest.raises(ValueError, match="line 3 is Chinese"):
        Finder(lexicon)


@pytest.mark.parametrize("text", ["ALICE said four one five", "Alice said Four One Five.", "alice said 415"])
def test_case_and_points_make_no_difference(lexicon: Lexicon, text: str) -> None:  # C09
    assert [one.kind for one in Finder(lexicon, ["number"], ("en", "zh")).find(words(text))] == ["name", "number"]


def test_nothing_is_printed_and_no_socket_opened(
    lexicon: Lexicon, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:  # C15
    asked: list[object] = []
    for name in ("socket", "getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, lambda *given, **more: asked.append(given))
    caplog.set_level(logging.DEBUG)
    finder = Finder(Lexicon.of(LINES), ["number", "card", "id", "email", "date", "address"], ("en", "zh"))
    found = finder.find(words("zanzibarov wrote to alice.carter@example.com on march 3rd 小明"))
    assert len(found) >= 4
    told = repr(finder) + repr(found) + repr(finder.__dict__) + caplog.text
    assert not any(word in told.lower() for word in ("alice", "zanzibarov", "my god", "小明"))
    assert asked == []


def test_a_finder_serves_many_threads(lexicon: Lexicon) -> None:
    from concurrent.futures import ThreadPoolExecutor

    finder = Finder(lexicon, ["number"], ("en", "zh"))
    texts = [words(f"Alice has {n} {n} {n} and 爱丽丝 小 明 of kromb{'abcdefghijklmnopqrst'[n]}ank") for n in range(20)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(finder.find, texts))  # words that are spelled out, all new
    sounds = [of_word(text[-1].text) for text in texts]
    of_word.cache_clear()
    assert sounds == [of_word(text[-1].text) for text in texts]
    assert found == [finder.find(text) for text in texts]
    assert all(len(one) == 4 for one in found)

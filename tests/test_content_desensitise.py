"""Text desensitised: nothing that was to go is left, nothing else is touched, nothing is told."""

from __future__ import annotations

import io
import logging
import socket
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from texts import loaded, word_list
from velavox.engine.content.desensitise import Desensitised, Desensitiser
from velavox.engine.content.find import Finder
from velavox.engine.content.lexicon import Lexicon
from velavox.engine.content.replace import MASK, MODES
from velavox.engine.content.word import Word

ENGLISH = (
    "Hi, I'm Alice Carter (mail me: alice@example.com). Emily's falcons saw Boston,\n  then Chicago!\t"
    "The budget plan is with Stanford University; call 415-555-0132 on March 3rd, 2024."
)
CHINESE = "我叫王建国，在西安电子科技大学学习。李明说：电话一三八零零一三八零零零；Emily 也住在海淀区。"
GONE = (
    *("Alice Carter alice example Emily falcon Boston Chicago budget Stanford 415 0132 2024".split()),
    *("王建国 西安电子科技大学 李明 一三八 海淀区".split()),
)


@pytest.fixture(scope="module", params=MODES)
def desensitiser(request: pytest.FixtureRequest) -> Desensitiser:
    return loaded(lambda: Desensitiser(request.param, lexicon=word_list(), seed=1))  # not by chance the same digits


@pytest.fixture(scope="module")
def masking() -> Desensitiser:
    return loaded(Desensitiser, "mask", 20, 0.6, word_list())


def test_all_of_it_goes_and_is_counted(desensitiser: Desensitiser) -> None:  # C08
    english, chinese = desensitiser(ENGLISH), desensitiser(CHINESE)
    assert not [word for word in GONE if word.casefold() in (english.text + chinese.text).casefold()]
    assert english.counts == {"date": 1, "email": 1, "name": 2, "number": 1, "organisation": 1, "place": 2, "word": 2}
    assert chinese.counts == {"name": 3, "number": 1, "organisation": 1, "place": 1}


def test_the_rest_stays_to_the_letter(masking: Desensitiser) -> None:
    for text, word in ((ENGLISH, "is with"), (CHINESE, "学习。")):
        kept = masking(text).text.split(MASK)
        at = 0
        for part in kept:
            at = text.index(part, at) + len(part)
        assert word in "".join(kept)
    assert masking("Emily's (falcons) — “Chicago”?\r\n\n").text == f"{MASK}'s ({MASK}) — “{MASK}”?\r\n\n"
    for text in ("", " \n", "The weather  is nice, \tisn't it?\n", "今天天气很好。", "3 + 4", "—…!"):
        assert masking(text) == Desensitised(text, {})


def test_no_listed_word_comes_out(desensitiser: Desensitiser) -> None:
    finder = Finder(word_list(), languages=("en", "zh"))
    for text in (ENGLISH, CHINESE):
        out = desensitiser(text).text
        spoken = [word for word in out.split() if set(word.casefold()) & set("aeiouy")]
        assert finder.find([Word(word, 0, 0) for word in spoken]) == []


def test_what_a_replacement_makes_of_its_neighbours_is_masked() -> None:
    """The place becomes "plan", which alone is harmless and after "budget" is listed."""
    lexicon = loaded(Lexicon.of, ["budget plan", "Chicago | place | plan"])
    out = loaded(Desensitiser, "fixed", 20, 0.6, lexicon, ())("The budget Chicago is in Chicago")
    assert out.text == f"The {MASK} is in plan"


@pytest.mark.parametrize("digits", ["four one five", "4 1 5 5", "double o seven one", "一三八零零", "2024 17", "nine one one"])
def test_digits_in_words_go_as_digits_do(masking: Desensitiser, digits: str) -> None:  # C06, C07
    assert masking(f"the code is {digits} okay").text == f"the code is {MASK} okay"


def test_case_and_punctuation_do_not_matter(masking: Desensitiser) -> None:  # C09
    text = "I met Emily and Alice Carter in Boston, near Stanford University."
    counts = [
        masking(form).counts for form in (text, text.lower(), text.upper(), text.title(), text.replace(",", "").rstrip("."))
    ]
    assert counts == [{"name": 2, "organisation": 1, "place": 1}] * 5


def test_parts_of_words_are_no_words() -> None:  # C12
    masking = loaded(Desensitiser, "mask", 20, 0.6, loaded(Lexicon.of, ["Ann | name", "安"]))
    assert masking("The annual planning of annexes.").counts == {}
    assert masking("Ann is annual.").text == f"{MASK} is annual."


def test_names_in_the_other_language(masking: Desensitiser) -> None:  # C17
    assert masking("我是Emily，他是Alice。").text == f"我是{MASK}，他是{MASK}。"


def test_every_occurrence_goes_and_is_the_same_person() -> None:  # C18
    out = loaded(Desensitiser, "similar", 20, 0.6, None, ("name",))("Alice saw Alice Carter. ALICE's here; Carter is not.")
    first, surname = out.text.split()[0], out.text.split()[3].rstrip(".")
    assert out.text == f"{first} saw {first} {surname}. {first.upper()}'s here; {surname} is not."


def test_long_texts_are_done_in_pieces_and_listed_words_across_them_go_too(masking: Desensitiser) -> None:
    filler = "so it was said, and " * 199  # 3,980 characters
    text = filler + "there is the budget plan of Emily " + filler
    assert len(filler) + len("there is the budget ") == 4_000
    assert masking(text).text == filler + f"there is the {MASK} of {MASK} " + filler


def test_inference_is_asked_for_and_counted_apart() -> None:
    text = "My doctor is in the hospital with Alice."
    plain = loaded(Desensitiser, "mask", 20, 0.6, None, ("name",))(text)
    inferring = loaded(Desensitiser, "mask", 20, 0.6, None, ("name",), "en", True)(text)
    assert plain.text == f"My doctor is in the hospital with {MASK}."
    assert inferring == Desensitised(f"My {MASK} is in the {MASK} with {MASK}.", {"inferred": 2, "name": 1})
    alone = loaded(Desensitiser, "mask", 20, 0.6, None, (), "en", True)(text)
    assert alone.counts == {"inferred": 3}


def test_with_a_seed_a_text_is_done_the_same_way_again() -> None:
    arguments = (
        "similar",
        20,
        0.6,
        loaded(Lexicon.of, ["Chicago | place", "falcon | word | match=exact"]),
        ("name", "number"),
        "en",
        False,
        7,
    )
    out = loaded(Desensitiser, *arguments)(ENGLISH)
    assert out.counts == {"name": 2, "number": 2, "place": 1}  # the list's classes need no category; a year is a number
    assert "falcons" in out.text
    assert out == Desensitiser(*arguments)(ENGLISH)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"mode": "silly"}, "mode 'silly'"),
        ({"categories": ("names",)}, "'names'"),
        ({"language": "fr"}, "language 'fr'"),
        ({"n": 0}, "n 0"),
        ({"infer": True, "t": 2.0}, "threshold 2"),
        ({"infer": True, "language": "zh"}, "no vectors of Chinese"),
        ({"categories": ()}, "nothing to find"),
    ],
)
def test_what_nothing_does_is_refused(arguments: dict[str, object], told: str) -> None:  # C16
    with pytest.raises(ValueError, match=told):
        loaded(lambda: Desensitiser(**arguments))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "script"),
    [("Ирина in Boston", "Cyrillic"), ("안녕 Boston", "Hangul"), ("これは本", "Hiragana"), ("\u0410lice", "Cyrillic")],
)
def test_letters_of_languages_without_a_detector_are_refused(masking: Desensitiser, text: str, script: str) -> None:  # C16
    with pytest.raises(ValueError, match=f"holds {script} letters") as error:
        masking(text)
    assert text not in str(error.value)
    assert masking("a shift of 3 μm by Ω").counts == {}  # a letter alone is a sign


def test_chinese_is_refused_where_english_alone_is_looked_for() -> None:
    english = loaded(Desensitiser, "mask", 20, 0.6, None, ("name",), "en")
    with pytest.raises(ValueError, match="holds Chinese, which is not looked for: give zh or auto"):
        english("Alice 和王建国")


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """All that is logged; sockets are refused, temporary files go to an empty folder."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a socket")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    logged = io.StringIO()
    handler = logging.StreamHandler(logged)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield logged
    root.removeHandler(handler)
    root.setLevel(level)
    assert not list(tmp_path.iterdir())


def test_words_are_neither_logged_nor_kept_in_files_nor_printed(
    watched: io.StringIO, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:  # C15
    desensitiser = loaded(lambda: Desensitiser("similar", lexicon=word_list(), seed=1))
    out = [desensitiser(text) for text in (ENGLISH, CHINESE)]
    told = watched.getvalue() + repr(out) + repr(desensitiser) + "".join(capfd.readouterr())

    def fail(*_: object) -> NoReturn:
        raise RuntimeError("broken")

    monkeypatch.setattr("velavox.engine.content.replace.Replacer._one", fail)
    with pytest.raises(RuntimeError) as error:
        desensitiser(ENGLISH)
    told += "".join(traceback.format_exception(error.value))
    assert not [word for word in GONE if word in told]

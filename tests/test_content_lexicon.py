"""Word lists: read, refused with every line and reason, noted, and never printed."""

from __future__ import annotations

import logging
import pickle
import traceback
from pathlib import Path

import pytest
from heard import need_text
from velavox.engine.content import lexicon
from velavox.engine.content.lexicon import Lexicon, LexiconError

pytestmark = pytest.mark.nojit
SECRET = "zanzibarov"


@pytest.fixture(autouse=True, scope="module")
def parts() -> None:
    need_text()


def test_a_list_is_read_with_its_fields(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    lines = ["# names", "", "Alice | name", "  Stanford University|organisation|a university", "小明|name||match=exact"]
    path.write_bytes("\ufeff{}\r\n".format("\r\n".join([*lines, "bike | match=inflect"])).encode())
    listed = Lexicon.read(path)
    read = [(e.line, e.text, e.kind, e.substitute, e.match) for e in listed.entries]
    assert read == [
        (3, "Alice", "name", "", "phonetic"),
        (4, "Stanford University", "organisation", "a university", "phonetic"),
        (5, "小明", "name", "", "exact"),
        (6, "bike", "word", "", "inflect"),
    ]
    assert listed.entries[0].words == ("alice",)
    assert listed.entries[2].syllables == ("xiao", "ming")
    assert len(listed) == 4


BAD = [
    ("", "is empty"),
    ("# only a comment\n\n", "is empty"),
    (f"{SECRET}\x07", "line 1 holds a control or invisible character"),
    (f"boston\n{SECRET}\u200b", "line 2 holds a control or invisible character"),
    (f"{SECRET}\n\n{SECRET.upper()}'s", "line 3 is the same as line 1"),
    ("一三八\n138", "line 2 is the same as line 1"),
    (f"{SECRET}\u2028boston", "line 1 holds a control or invisible character"),
    (f"{SECRET} | nmae", "line 1 is of no known class"),
    (f"{SECRET} | name | x | y", "line 1 has too many fields"),
    (f"{SECRET} | match=fuzzy", "line 1 is to match in no known way"),
    ("... | name", "line 1 holds no word"),
    (" | name", "line 1 holds no word"),
    ("привет", "line 1 has no pronunciation"),
    (" ".join([SECRET] * 13), "line 1 is of 13 words"),
    (f"{SECRET} | name | boston\nboston | place", "line 1 has a substitute that is listed itself, or sounds like it"),
    ("whirled\nboston | place | world", "line 2 has a substitute that is listed itself, or sounds like it"),
    ("协和医院 | organisation | 邪合意院", "line 1 has a substitute that is listed itself, or sounds like it"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_a_bad_list_is_refused_with_line_and_reason_but_without_the_word(text: str, reason: str) -> None:
    with pytest.raises(LexiconError) as refused:
        Lexicon.of(text.split("\n"))
    assert reason in str(refused.value)
    told = "".join(traceback.format_exception(refused.value)) + repr(refused.value.problems)
    assert SECRET not in told.lower()


def test_every_bad_line_is_told() -> None:
    with pytest.raises(LexiconError) as refused:
        Lexicon.of(["alice | x", "boston", "...", "boston"])
    assert [problem.line for problem in refused.value.problems] == [1, 3, 4]


def test_what_is_no_text_is_refused_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(b"alice\nboston\n\xff\xfe\n")
    with pytest.raises(LexiconError, match="line 3 is not UTF-8"):
        Lexicon.read(path)


def test_a_list_may_be_long_but_not_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lexicon.MOST == 10_000
    monkeypatch.setattr(lexicon, "MOST", 20)
    lines = [f"{n} | match=exact" for n in range(21)]
    assert len(Lexicon.of(lines[:-1])) == 20
    with pytest.raises(LexiconError, match="line 21 is one more than"):
        Lexicon.of(lines)


def notes(line: str) -> str:
    return "; ".join(map(str, Lexicon.of([line]).notes))


def test_what_is_short_is_noted() -> None:  # C14
    assert "line 1 is short" in notes("lee | name")
    assert "is short" in notes("王 | name")
    assert "is short" not in notes("emily | name") + notes("小明 | name")


def test_short_words_are_handled_with_care_unless_told_otherwise() -> None:
    assert [Lexicon.of([line]).entries[0].careful for line in ("lee", "lee | match=phonetic", "emily")] == [True, False, False]


def test_what_sounds_like_what_everybody_says_is_noted() -> None:
    assert "commonest" in notes("write | name")
    assert "commonest" in notes("whirled")  # world
    assert "commonest" in notes("世界")
    assert "commonest" not in notes("Boston") + notes("john | name | | match=exact")  # what they hide is what was listed
    assert not notes("stanford university | organisation") + notes("西安电子科技大学 | organisation")


def test_a_guessed_sound_is_noted() -> None:
    assert "guessed" in notes(SECRET)
    assert "guessed" not in notes("emily") + notes("Xiaoming") + notes(f"{SECRET} | match=exact")


def test_ids_are_salted() -> None:
    once, again = Lexicon.of(["emily", "boston"]), Lexicon.of(["emily", "boston"])
    assert once.entries[0].term != again.entries[0].term != once.entries[1].term
    same = [Lexicon.of(["emily"], salt=b"given").entries[0].term for _ in range(2)]
    assert same[0] == same[1]
    assert once.entry(once.entries[1].term) is once.entries[1]
    assert once.entry("none") is None


def test_nothing_that_is_printed_holds_a_word(caplog: pytest.LogCaptureFixture) -> None:  # C15
    caplog.set_level(logging.DEBUG)
    listed = Lexicon.of([f"{SECRET} | name | quuxville"])
    told = repr(listed) + repr(listed.entries) + repr(listed.notes) + caplog.text
    assert "Lexicon(1 entries)" in told
    assert SECRET not in told
    assert "quuxville" not in told


def test_a_list_can_go_to_another_process() -> None:
    listed = Lexicon.of(["emily | name"])
    assert pickle.loads(pickle.dumps(listed)).entries == listed.entries

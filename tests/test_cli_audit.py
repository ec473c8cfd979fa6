"""velavox audit scores: figures as text and JSON, the attacker beside them, and every trouble in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result
from velavox.bench.audit.scorefile import read
from velavox.bench.audit.summary import summarise
from velavox.engine.cli import app

pytestmark = pytest.mark.nojit


def scores(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["audit", "scores", *(str(a) for a in arguments)])


def _written(path: Path, apart: float, names: bool = True, sign: int = 1) -> Path:
    """Tests of 12 speakers, each against every speaker."""
    random, rows = np.random.default_rng(0), ["score,label,speaker,claimed,test" if names else "score,label"]
    for test in range(48):
        for claimed in range(12):
            same = test // 4 == claimed
            score = sign * (random.normal() + apart * same)
            rows.append(f"{score:.6f},{same:d}" + (f",s{test // 4},s{claimed},t{test}" if names else ""))
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return _written(tmp_path / "scores.csv", 1.5)


def test_text_has_every_figure(table: Path, tmp_path: Path) -> None:
    result = scores(table, "--original", _written(tmp_path / "original.csv", 3), "--attacker", "lazy-informed, ge2e")
    assert (result.exit_code, result.stderr) == (0, "")
    text = result.stdout
    assert f"{table}: 576 trials, 48 of the same speaker, 12 speakers" in text
    assert "attacker: lazy-informed, ge2e" in text
    found = summarise(read(table))
    assert f"{100 * found.eer.value:.1f} % [{100 * found.eer.low:.1f}, {100 * found.eer.high:.1f}]" in text
    for name in ("EER", "AUC", "FPR", "epsilon", "mu", "D_sys", "Cllr", "ZEBRA", "linked", "singled out", "MMR", "WMR"):
        assert name in text
    for point in found.points:
        assert point.note in text
    assert "nan" not in text
    assert "inf" not in text.replace("informed", "")


def test_attacker_unknown_is_said(table: Path) -> None:
    assert "attacker: unknown. No figure means anything without its attacker" in scores(table).stdout


def test_json_is_the_summary(table: Path, tmp_path: Path) -> None:
    result = scores(table, "--json", "--seed", "3", "--attacker", "ignorant")
    found: dict[str, Any] = json.loads(result.stdout)
    expected = summarise(read(table), 3)
    assert (found["scores"], found["attacker"], found["seed"], found["original"]) == (str(table), "ignorant", 3, None)
    assert found["eer"] == {"value": expected.eer.value, "low": expected.eer.low, "high": expected.eer.high}
    assert found["points"][2]["resolved"] is False
    assert [len(found["roc"]), found["matching"]] == [len(expected.roc), None]
    assert scores(table, "--json", tmp_path / "a.json").stdout.startswith(str(table))
    assert json.loads((tmp_path / "a.json").read_text())["attacker"] is None
    assert json.loads(scores(table, "--json").stdout)["attacker"] is None


def test_two_columns_will_do(tmp_path: Path) -> None:
    text = scores(_written(tmp_path / "two.csv", 1.5, names=False)).stdout
    assert "95 % interval of trials" in text
    assert "linked" not in text


def test_scores_upside_down_are_warned_of(tmp_path: Path) -> None:
    text = scores(_written(tmp_path / "down.csv", 1.5, sign=-1)).stdout
    assert "warning: true claims score lower than false ones" in text


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("score,label\n0.5,1\n0.4,1\n", "one kind only"),
        ("score,label\n0.5,1\nnan,0\n", "line 3: score nan cannot be ranked"),
        ("speaker\nann\n", "no column score and none label"),
    ],
)
def test_trouble_is_one_line(tmp_path: Path, rows: str, told: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(rows)
    result = scores(path, "--json", tmp_path / "out.json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert told in result.stderr
    assert str(path) in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out.json").exists()


def test_the_very_scores_of_originals_are_refused(table: Path, tmp_path: Path) -> None:
    lines = table.read_text().splitlines()
    same = tmp_path / "same.csv"
    same.write_text("\n".join([lines[0], *reversed(lines[1:])]))
    result = scores(same, "--original", table)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "of originals against originals" in result.stderr


def test_wrong_use(table: Path, tmp_path: Path) -> None:
    assert scores(tmp_path / "none.csv").exit_code == 1
    assert "No such file" in scores(tmp_path / "none.csv").stderr
    assert scores(table, "--json", table).exit_code == 2  # would replace it
    assert scores(table, "--original", tmp_path / "none.csv").exit_code == 1
    help_ = CliRunner().invoke(app, ["audit", "--help"])
    assert help_.exit_code == 0
    assert "scores" in help_.stdout

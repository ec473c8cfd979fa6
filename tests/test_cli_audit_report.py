"""velavox audit report: from results to a folder, and wrong use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from audits import audits
from test_audit_report import mechanism
from typer.testing import CliRunner, Result
from velavox.bench.audit import page
from velavox.bench.audit.result import write
from velavox.engine import cli_audit_report
from velavox.engine.cli import app


def report(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["audit", "report", *(str(a) for a in arguments)])


@pytest.fixture
def result(tmp_path: Path) -> Path:
    write(tmp_path / "result.json", audits()[:1])
    return tmp_path / "result.json"


@pytest.fixture(autouse=True)
def without_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """For speed: they have their own tests."""
    for module in (page, cli_audit_report):
        monkeypatch.setattr(module, "find_spec", lambda name: None)


def test_several_results_become_three_files(result: Path, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(mechanism().as_json()))
    write(tmp_path / "more.json", audits()[1:2])
    made = report(result, tmp_path / "more.json", tmp_path / "m.json", "--out", tmp_path / "new" / "report")
    assert made.exit_code == 0, made.output
    folder = tmp_path / "new" / "report"
    assert made.stdout.splitlines() == [str(folder / f"report.{ending}") for ending in ("json", "md", "html")]
    text = (folder / "report.md").read_text()
    for title in ("## original", "## mcadams", "## Speaker mechanism: mu 1"):
        assert title in text
    assert made.stderr.startswith("warning: no plots: they need matplotlib")


def test_originals_audited_with_every_method_stand_there_once(result: Path, tmp_path: Path) -> None:
    write(result, audits()[:2])
    again = json.loads(result.read_text())
    for audit in again["audits"]:
        audit["made"] = {"at": "another time"}
    again["audits"][1]["condition"] = "vtln"
    other = tmp_path / "other.json"
    other.write_text(json.dumps(again))
    made = report(result, other, "--out", tmp_path / "report")
    assert made.exit_code == 0
    told = json.loads((tmp_path / "report" / "report.json").read_text())
    assert [audit["condition"] for audit in told["audits"]] == ["original", "mcadams", "vtln"]


def test_failures_are_a_line(result: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    for text, status, message in (
        (None, 1, f"failed: {other}: No such file or directory; give a result of an audit"),
        ("{", 1, f"failed: {other}: Expecting property name"),
        ('{"format": "x"}', 1, f"failed: {other}: is no result of an audit"),
        ('{"format": "velavox audit 1", "audits": []}', 1, f"failed: {other}: no audit is in it; audit something first"),
    ):
        if text is not None:
            other.write_text(text)
        made = report(other, "--out", tmp_path / "report")
        assert (made.exit_code, made.stdout) == (status, "")
        assert made.stderr.startswith(message)
        assert made.stderr.count("\n") == 1
        assert not (tmp_path / "report").exists()
    changed = json.loads(result.read_text())
    changed["audits"][0]["delay_ms"] = 17.0
    other.write_text(json.dumps(changed))
    twice = report(result, other, "--out", tmp_path / "report")
    assert (twice.exit_code, twice.stdout) == (2, "")
    assert "original is in these results twice, with other figures" in twice.stderr
    blocked = report(result, "--out", result)
    assert blocked.exit_code == 2
    assert "cannot be written" in blocked.stderr

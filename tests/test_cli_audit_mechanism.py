"""velavox audit mechanism: what it prints, its exit status, and wrong use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result
from velavox.bench.audit.mechanism import from_json
from velavox.engine.cli import app

DRAWS = ("--draws", "2000")


def mechanism(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["audit", "mechanism", *(str(a) for a in arguments)])


def test_the_sound_one_stands_and_the_papers_falls(tmp_path: Path) -> None:
    """By chance the first fails once in 1,000 runs."""
    result = mechanism("--mu", "1", *DRAWS, "--json", tmp_path / "m.json", "--plot", tmp_path / "m.png")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "nothing speaks against mu 1: the real mu is 0." in result.stdout
    assert all(len(line) <= 120 for line in result.stdout.splitlines())
    found = from_json(json.loads((tmp_path / "m.json").read_text()))
    assert (found.mu, found.claim, found.draws, found.holds) == (1, 1, 2000, True)
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
    result = mechanism("--mu", "1", "--calibration", "paper", "--claim", "1", *DRAWS, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["lower"] > 1.3
    assert "Traceback" not in result.output


def test_the_papers_stands_as_what_velavox_says_that_it_is() -> None:
    result = mechanism("--mu", "0.5", "--calibration", "paper", *DRAWS)
    assert result.exit_code == 0
    assert "claimed: mu 1" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--mu", "0"), "--mu 0: give 0.01 to 100"),
        (("--mu", "nan"), "--mu nan: give 0.01 to 100"),
        (("--mu", "1", "--draws", "10"), "--draws 10: give 1000 to 10000000"),
        (("--mu", "1", "--claim", "-1"), "--claim -1: give 0.01 to 200"),
        (("--mu", "1", "--plot", "x.txt"), "--plot x.txt: give a name that ends in .png, .svg, .pdf"),
        (
            ("--mu", "1", "--plot", "nowhere/x.png"),
            "--plot nowhere/x.png: there is no folder nowhere; make it, or give another",
        ),
        (
            ("--mu", "1", "--json", "x.svg", "--plot", "x.svg"),
            "--plot x.svg: is the file x.svg, which it would replace; give another",
        ),
        (("--mu", "1", "--calibration", "loud"), "--calibration loud: give one of 'sound', 'paper'"),
        (("--draws", "2000"), "Missing option '--mu'; see `"),
    ],
)
def test_wrong_use_is_a_line(arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = mechanism(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"velavox: {message}")
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []

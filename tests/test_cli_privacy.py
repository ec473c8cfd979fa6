"""velavox privacy: exact figures as text and JSON, its scope, and wrong use."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result
from velavox.engine.accountant import delta_at, eer_floor, largest_tpr
from velavox.engine.cli import app

pytestmark = pytest.mark.nojit


def privacy(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["privacy", *(str(a) for a in arguments)])


def stated(*arguments: str) -> dict[str, Any]:
    result = privacy(*arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_json_has_the_exact_figures() -> None:
    found = stated("--mu", "1", "--sessions", "10")
    assert (found["mu"], found["calibration"]) == (1, "sound")
    assert (found["sensitivity_radii"], found["sigma_radii"]) == (2, 2)
    assert [after["sessions"] for after in found["after"]] == [1, 10]
    for after, mu in zip(found["after"], (1, math.sqrt(10)), strict=True):
        assert after["mu"] == pytest.approx(mu)
        assert after["eer_floor"] == pytest.approx(eer_floor(mu))
        assert {p["fpr"]: p["tpr"] for p in after["largest_tpr"]} == {
            fpr: pytest.approx(largest_tpr(fpr, mu)) for fpr in (1e-2, 1e-3, 1e-4)
        }
        assert all(delta_at(p["eps"], mu) == pytest.approx(p["delta"], rel=1e-9) for p in after["eps_delta"])
        assert {1e-5, 1e-6} <= {p["delta"] for p in after["eps_delta"]}
        assert [round(p["eps_hat"], 2) for p in after["eps_hat"]] == ([2.22, 2.91, 3.49] if mu == 1 else [4.38, 6.27, 7.97])


def test_the_papers_calibration_is_reported_with_twice_the_mu() -> None:
    found = stated("--mu", "1", "--calibration", "paper")
    assert (found["mu"], found["sigma_radii"], found["after"][0]["mu"]) == (1, 1, 2)
    assert found["after"][0]["eer_floor"] == pytest.approx(0.1587, abs=5e-5)
    assert "twice what was asked for" in privacy("--mu", "1", "--calibration", "paper").stdout
    assert "twice what was asked for" not in privacy("--mu", "1").stdout


def test_text_has_the_same_figures_and_the_scope() -> None:
    text = privacy("--mu", "1", "--sessions", "10").stdout
    for row, figures in (
        ("after sessions", "1 10"),
        ("mu", "1 3.162"),
        ("EER, at least", "0.3085 0.05692"),
        ("TPR at FPR 0.001, at most", "0.0183 0.5287"),
        ("eps at delta 1e-05", "4.377 17.86"),
        ("eps-hat at FPR 0.0001, at most", "3.489 7.969"),
    ):
        assert re.search(rf"^ +{row} +{figures.replace(' ', ' +')}$", text, re.MULTILINE), row
    assert re.search(r"sensitivity +2 U", text)
    assert re.search(r"sigma +2 U", text)
    assert max(map(len, text.splitlines())) <= 120


def test_the_scope_names_what_the_bound_does_not_speak_of() -> None:
    for words in (" ".join(stated("--mu", "1")["scope"]), " ".join(privacy("--mu", "1").stdout.split())):
        for said in (
            "the speaker embedding alone",
            "Timing, pitch, accent and words",
            "A seed voids the bound",
            "Without enrolment a constant takes the embedding's place",
            "A new voice of the same speaker is another one",
        ):
            assert said in words


def test_what_content_leaks_is_beside_the_bound() -> None:
    leak = stated("--mu", "1")["content_leak"]
    assert set(leak) == {"balanced", "low"}
    words = " ".join(privacy("--mu", "1").stdout.split())
    for mode, found in leak.items():
        assert 0 < found["low"] <= found["eer"] <= found["high"] < 0.5
        assert f"{found['eer']:.1%} ({found['low']:.1%} to {found['high']:.1%}) in mode {mode}" in words


@pytest.mark.parametrize("mu", ["0.01", "0.3", "5", "100"])
def test_no_figure_is_infinite_or_nan(mu: str) -> None:
    for sessions in ("1", "1000000"):
        result = privacy("--mu", mu, "--sessions", sessions, "--json")
        json.loads(result.stdout, parse_constant=lambda name: pytest.fail(name))
        assert not re.search(r"\b(nan|inf)\b", privacy("--mu", mu, "--sessions", sessions).stdout)


def test_a_file_and_then_text_on_stdout(tmp_path: Path) -> None:
    target = tmp_path / "statement.json"
    result = privacy("--mu", "2", "--json", target)
    assert result.exit_code == 0
    assert result.stdout.startswith("mu 2, calibration sound")
    assert json.loads(target.read_text()) == stated("--mu", "2")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--mu", "0"),
        ("--mu", "-1"),
        ("--mu", "nan"),
        ("--mu", "inf"),
        ("--mu", "1", "--sessions", "0"),
        ("--mu", "1", "--json", "."),
        ("--mu", "1", "--json", "nowhere/statement.json"),
    ],
    ids=" ".join,
)
def test_wrong_use_is_one_line(arguments: tuple[str, ...]) -> None:
    result = privacy(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.fullmatch(r"velavox: \S[^\n]+\n", result.stderr)


def test_typers_own_refusals_have_the_same_status() -> None:
    for arguments in ((), ("--mu", "1", "--calibration", "loud"), ("--mu", "much")):
        assert privacy(*arguments).exit_code == 2


def test_it_needs_no_kernels() -> None:
    code = """
import sys
from velavox.engine.cli import app
app(["privacy", "--mu", "1"], standalone_mode=False)
sys.exit("numba" in sys.modules or "opendp" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0

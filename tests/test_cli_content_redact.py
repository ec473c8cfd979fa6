"""The commands content redact and scan, with detectors of known behaviour; and once with real ones."""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from eavesdrop import NONSENSE, RATE, Ear, Failing, got_out, speech
from needs import lacking
from signals import F32, noise
from typer.testing import CliRunner, Result
from velavox.engine import cli_content_options, cli_content_redact
from velavox.engine.cli import app
from velavox.engine.content.detector import Look
from velavox.engine.content.hit import Hit

pytestmark = pytest.mark.usefixtures("compiled")

CLIPS = Path(__file__).parents[1] / "bench" / "clips"


@pytest.fixture(autouse=True)
def _ears(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, lambda names: [Ear()])


def use(monkeypatch: pytest.MonkeyPatch, make: Callable[[Any], list[Any]]) -> None:
    """Detectors and finder are doubles: no model is loaded."""

    class Found:
        lexicon, categories = None, ()

    def finder_of(words: Path | None, pii: bool, categories: Any, language: str) -> Any:
        return Found()

    for name, double in (("finder_of", finder_of), ("detectors_of", lambda finder, names, delay, strict: make(names))):
        monkeypatch.setattr(cli_content_redact, name, double)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    soundfile.write(tmp_path / "said.wav", speech(4.0, (1.5, 2.0)), RATE, subtype="FLOAT")
    return tmp_path / "said.wav"


def run(command: str, *arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["content", command, *(str(a) for a in arguments)])


def test_a_word_is_hidden_and_the_report_tells_when(recording: Path, tmp_path: Path) -> None:
    out, report = tmp_path / "out.wav", tmp_path / "report.json"
    result = run("redact", recording, "--out", out, "--pii", "--action", "silence", "--report", report)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == ["1 found (word 1), 0.9 s of 4.0 s hidden"]
    y = soundfile.read(out)[0]
    assert len(y) == 4 * RATE
    assert (y[round(1.35 * RATE) : round(2.15 * RATE)] == 0).all()
    assert np.abs(y[: round(1.2 * RATE)]).max() > 0.005
    told = json.loads(report.read_text())
    assert told["events"][0]["at"] == 1.5
    assert told["asked"] == {"action": "silence", "strict": 0.0, "language": "en", "categories": []}
    assert told["file"]["frames"] == 4 * RATE


def test_the_same_each_time(recording: Path, tmp_path: Path) -> None:
    for name in ("a.wav", "b.wav"):
        assert run("redact", recording, "--out", tmp_path / name, "--pii", "--seed", "3", "--action", "babble").exit_code == 0
    assert (tmp_path / "a.wav").read_bytes() == (tmp_path / "b.wav").read_bytes()


def test_scan_tells_times_and_kinds_and_writes_nothing(recording: Path, tmp_path: Path) -> None:
    result = run("scan", recording, "--pii")
    assert result.exit_code == 0
    assert result.stdout.split() == ["1.50", "s", "0.50", "s", "word"]
    assert result.stderr == "1 found (word 1) in 4.0 s\n"
    assert os.listdir(tmp_path) == ["said.wav"]
    assert json.loads(run("scan", recording, "--pii", "--json").stdout)["found"] == 1


def test_verify_fails_for_what_can_still_be_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The detectors miss it; the recogniser hears it in the output."""

    class Deaf(Ear):
        def look(self, samples: F32, start: int, last: bool = False) -> Look:
            return Look((), start + len(samples))

    class Loud(Ear):
        def look(self, samples: F32, start: int, last: bool = False) -> Look:
            power = np.square(samples[: len(samples) // 1600 * 1600].reshape(-1, 1600)).mean(axis=1)
            hits = [
                Hit(start + 1600 * int(k), start + 1600 * int(k) + 1600, "word", "", "loud")
                for k in np.flatnonzero(power > 0.01)
            ]
            return Look(tuple(hits), start + len(samples))

    x = speech(4.0)
    x[24_000:32_000] = noise(8000, 0.25)
    soundfile.write(tmp_path / "said.wav", x, RATE, subtype="FLOAT")
    options: list[str | Path] = [
        tmp_path / "said.wav",
        "--out",
        tmp_path / "out.wav",
        "--pii",
        "--verify",
        "--report",
        tmp_path / "report.json",
    ]
    use(monkeypatch, lambda names: [Loud()] if names == ["asr"] else [Deaf()])
    result = run("redact", *options)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("failed: --verify: 1 found in the output, first at 1.")
    assert json.loads((tmp_path / "report.json").read_text())["verify"]["found"] == 1
    use(monkeypatch, lambda names: [Loud()])
    result = run("redact", *options)
    assert result.exit_code == 0
    assert json.loads((tmp_path / "report.json").read_text())["verify"]["found"] == 0
    assert result.stderr.splitlines()[-1] == "verified: nothing is found in the output"


@pytest.mark.parametrize("fault", ["raises", "unknown kind"])
def test_a_detector_that_fails_is_told_its_rest_is_silent_and_the_status_is_1(
    fault: str, recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, lambda names: [Failing(NONSENSE[fault], after=3)])
    result = run("redact", recording, "--out", tmp_path / "out.wav", "--pii")
    assert result.exit_code == 1
    assert "warning: detector ear failed" in result.stderr
    assert "Alice" not in result.stderr
    y = soundfile.read(tmp_path / "out.wav")[0]
    assert (y[round(0.75 * RATE) :] == 0).all()
    assert got_out(y) == 0


def test_what_cannot_be_read_leaves_no_output(tmp_path: Path) -> None:
    (tmp_path / "said.wav").write_bytes(b"hello")
    result = run("redact", tmp_path / "said.wav", "--out", tmp_path / "out.wav", "--pii")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"failed: {tmp_path / 'said.wav'}: ")
    assert os.listdir(tmp_path) == ["said.wav"]
    for path in (tmp_path / "missing.wav", tmp_path):
        for missing in (run("scan", path, "--pii"), run("redact", path, "--out", tmp_path / "out.wav", "--pii")):
            assert missing.exit_code == 1
            assert missing.stderr.startswith(f"failed: {path}: ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing to find: give --words LIST, --pii or --category NAME"),
        (["--pii", "--category", "name"], "leave one out"),
        (["--category", "nmae"], "give one of name"),
        (["--pii", "--language", "fr"], "give one of en, zh, auto"),
        (["--category", "number", "--detector", "ears"], "give one of asr, phones"),
        (["--pii", "--detector", "phones"], "phones: hears listed words alone"),
        (["--pii", "--strict", "2"], "--strict"),
        (["--category", "number", "--action", "substitute"], "give --words LIST"),
        (["--category", "number", "--delay", "0.2"], "give 1.5 s or more"),
        (["--pii", "--out", "said.wav"], "is the file said.wav, which it would replace"),
        (["--pii", "--report", "said.txt"], ".json"),
    ],
)
def test_wrong_use_is_one_line_and_reads_nothing(
    arguments: list[str], words: str, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(recording.parent)
    out = [] if "--out" in arguments else ["--out", "out.wav"]
    result = run("redact", "said.wav", *out, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert os.listdir(recording.parent) == ["said.wav"]


def test_a_list_that_is_refused_is_told_by_line_and_not_by_word(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    (tmp_path / "list.txt").write_text("Zanzibar\nZanzibar\n")
    result = run("redact", recording, "--out", tmp_path / "out.wav", "--words", tmp_path / "list.txt")
    assert result.exit_code == 2
    assert "line 2" in result.stderr
    assert "anzibar" not in result.stderr
    assert run("redact", recording, "--out", tmp_path / "out.wav", "--words", tmp_path / "none.txt").exit_code == 2


def test_with_real_detectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A bundled clip: the word is found, and no recogniser finds it in the output. Only the list's file holds it (C15)."""
    monkeypatch.undo()
    if find_spec("ctranslate2") is None or find_spec("hama") is None:
        lacking("pip install 'velavox[content,content-models]'")

    def refuse(*given: Any, **named: Any) -> None:
        raise AssertionError("a socket")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    caplog.set_level(logging.DEBUG)
    clip, word = CLIPS / "27-123349-0009.flac", "promise"
    (tmp_path / "list.txt").write_text(f"{word}\n")
    report = tmp_path / "report.json"
    result = run(
        "redact", clip, "--out", tmp_path / "out.wav", "--words", tmp_path / "list.txt", "--report", report, "--verify"
    )
    assert result.exit_code == 0, result.stderr
    told = json.loads(report.read_text())
    assert told["found"] >= 1
    assert told["verify"]["found"] == 0
    assert word not in (report.read_text() + result.stderr + result.stdout + caplog.text).lower()
    assert sorted(os.listdir(tmp_path)) == ["list.txt", "out.wav", "report.json"]


def test_substitutes_are_of_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli_content_options.clips_of(None, cli_content_options.ActionName.bleep, None) is None  # type: ignore[arg-type]

"""velavox audit speech: wrong use in a line, an audit from folders to the report, and what cannot be audited."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from signals import RATE, voice
from typer.testing import CliRunner, Result
from velavox.bench import encoders
from velavox.bench.audit import resampling, speech
from velavox.bench.audit.result import read
from velavox.engine.cli import app
from velavox.kernels.jit import F32


def _run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["audit", "speech", *(str(a) for a in arguments)])


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Six speakers, each of one pitch and filter, and of four recordings."""
    for speaker in range(6):
        taps = np.random.default_rng(speaker).normal(size=12)
        for n in range(4):
            y = np.convolve(voice(2.2, 100 + 15 * speaker, 10 * speaker + n), taps, "same")
            path = tmp_path / f"people/s{speaker}/{n}.wav"
            path.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(path, 0.3 * y / np.abs(y).max(), RATE)
    return tmp_path / "people"


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    def bands(samples: F32) -> F32:
        power = np.abs(np.fft.rfft(samples.astype(np.float64))) ** 2
        logs = np.log([part.mean() + 1e-12 for part in np.array_split(power, 24)])
        return np.asarray(logs - logs.mean(), np.float32)

    monkeypatch.setattr(speech, "encoders", lambda: ("ge2e",))
    monkeypatch.setattr(resampling, "REPETITIONS", 50)
    monkeypatch.setitem(encoders.ENCODERS, "ge2e", bands)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--original", ".", "--method", "mcadams", "--manifest", "m.csv", "--kaldi", "k"), "give one of them"),
        (("--method", "mcadams"), "--original DIR is needed"),
        (("--original", "."), "nothing to audit"),
        (("--original", "nonesuch", "--method", "mcadams"), "--original nonesuch: there is no such folder"),
        (("--original", ".", "--anonymized", "nonesuch"), "--anonymized nonesuch: there is no such folder"),
        (("--original", ".", "--method", "nonesuch"), "--method nonesuch"),
        (("--original", ".", "--method", "mcadams:alpha=9"), "alpha"),
        (("--original", ".", "--method", "original"), "audited anyway"),
        (("--original", ".", "--method", "vtln", "--undo", "nonesuch"), "--undo nonesuch"),
        (("--original", ".", "--method", "vtln", "--method", "vtln"), "audited twice"),
        (("--original", ".", "--method", "vtln", "--manifest", "none.csv"), "none.csv: no such file"),
        (("--original", ".", "--method", "vtln", "--level", "file"), "give one of"),
        (("--original", ".", "--method", "vtln", "--jobs", "0"), "give 1 or more"),
        (("--kaldi", ".", "--method", "vtln"), "wav.scp"),
    ],
)
def test_wrong_use_is_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    result = _run(*arguments, "--out", "../out")
    assert result.exit_code == 2
    assert words in result.stderr
    assert len([line for line in result.stderr.splitlines() if "compiling" not in line]) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("_quick")
def test_from_folders_to_the_report(people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["velavox", "audit", f"--out={tmp_path}/audit", str(people), "../speech", "--seed=3"])
    made = tmp_path / "made"
    for path in people.rglob("*.wav"):
        target = made / path.relative_to(people)
        target.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(target, -soundfile.read(path)[0][::-1], RATE)
    (made / "s0/0.wav").unlink()
    out = tmp_path / "out"
    common = "--original", people, "--out", out, "--jobs", "1", "--utility", "0"
    result = _run(*common, "--anonymized", made, "--level", "speaker", "--seed", "3")
    assert result.exit_code == 0, result.stderr
    assert "found: no anonymized counterpart: 1: s0/0" in result.stderr
    assert "original against original speech: EER" in result.stderr
    assert [line.split()[0] for line in result.stdout.splitlines()][:2] == ["original:", "ignorant"]
    original, found = read(out / "result.json")
    assert (original.condition, found.condition) == ("original", "made")
    assert found.made["seed"] == 3
    assert found.made["level"] == "speaker"
    assert {"velavox", "numpy"} <= set(found.made["versions"])
    assert found.made["command"] == ["velavox", "audit", "--out=audit", "people", "../speech", "--seed=3"]
    assert any("given what an attacker cannot make" in note for note in found.notes)
    assert json.loads((out / "findings.json").read_text())["made"]["no anonymized counterpart"] == ["s0/0"]
    for name in ("report.json", "report.md", "report.html"):
        assert (out / name).stat().st_size > 1000


def test_no_folder_among_the_recordings(tmp_path: Path) -> None:
    for name in ("o/made", "m"):
        (tmp_path / name).mkdir(parents=True)
    o, m = tmp_path / "o", tmp_path / "m"
    for arguments, words in (
        (("--original", o, "--method", "vtln", "--out", o / "out"), f"--out {o / 'out'}: lies among"),
        (("--original", o, "--anonymized", o / "made", "--out", tmp_path / "out"), f"--anonymized {o / 'made'}: lies among"),
        (("--original", o, "--anonymized", m, "--out", m / "out"), f"--anonymized {m}; give another"),
    ):
        result = _run(*arguments)
        assert result.exit_code == 2
        assert words in result.stderr


@pytest.mark.usefixtures("_quick")
def test_what_cannot_be_audited_is_a_line(people: Path, tmp_path: Path) -> None:
    common = "--original", people, "--out", tmp_path / "out", "--jobs", "1", "--utility", "0"
    for given, words in (
        (("--anonymized", people), "is the original, to the sample"),
        (("--method", "vtln", "--split", "dev"), "--split dev: nobody is of it"),
    ):
        result = _run(*common, *given)
        assert result.exit_code == 2
        assert words in result.stderr.splitlines()[-1]
        assert not (tmp_path / "out/result.json").exists()  # before any work

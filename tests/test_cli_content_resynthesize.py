"""The command, as it is called: what it writes and says, and what it refuses in a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import soundfile
from needs import lacking
from typer.testing import CliRunner, Result
from velavox.engine.cli import app
from velavox.engine.content.speech import RATE, speaker
from velavox.engine.failure import Unusable

WORD = "umbrella"


def ran(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["content", "resynthesize", *map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording, a list with a word of it, a list that is none."""
    made = tmp_path_factory.mktemp("resynthesize")
    try:
        spoken = speaker("hibari").speak(f"my sister bought a yellow {WORD}")
    except Unusable as missing:
        lacking(str(missing))
    soundfile.write(made / "in.wav", spoken, RATE)
    (made / "list.txt").write_text(f"{WORD} | word | jacket\n", encoding="utf-8")
    (made / "bad.txt").write_text(f"{WORD} | nothing\n", encoding="utf-8")
    return made


def test_a_recording_is_spoken_without_the_word_and_the_report_has_none(folder: Path, tmp_path: Path) -> None:
    out, report = tmp_path / "out.flac", tmp_path / "report.json"
    done = ran(folder / "in.wav", "--out", out, "--words", folder / "list.txt", "--mode", "fixed", "--tts", "fast", "--verify",
               "--report", report)  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert soundfile.info(out).samplerate == RATE
    told = json.loads(report.read_text(encoding="utf-8"))
    assert told["replaced"] == {"word": 1}
    assert (told["withheld"], told["found_again"], told["phrases"]) == (0, 0, 1)
    assert told["seconds"]["out"] == pytest.approx(soundfile.info(out).duration, abs=1e-3)
    for text in (done.stdout, done.stderr, report.read_text(encoding="utf-8")):
        assert WORD not in text.lower()
        assert "jacket" not in text.lower()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.flac", "report.json"]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--words", "{}/list.txt", "--out", "{out}/o.mp3"], 2, "ends in .wav or .flac"),
        (["--words", "{}/list.txt", "--out", "{}/in.wav"], 2, "which it would replace"),
        (["--words", "{}/bad.txt", "--out", "{out}/o.wav"], 2, "line 1 is of no known class"),
        (["--words", "{}/none.txt", "--out", "{out}/o.wav"], 2, "no such file"),
        (["--out", "{out}/o.wav"], 2, "nothing to find"),
        (["--category", "number", "--verify", "--out", "{out}/o.wav"], 2, "--words LIST"),
        (["--words", "{}/list.txt", "--lang", "zh", "--tts", "fast", "--out", "{out}/o.wav"], 2, "does not speak zh"),
        (["--words", "{}/list.txt", "--lang", "fr", "--out", "{out}/o.wav"], 2, "--language fr"),
        (["--words", "{}/list.txt", "--tts", "fast", "--voice", "af_heart", "--out", "{out}/o.wav"], 2, "hibari has one voice"),
    ],
)
def test_what_is_wrong_is_a_line(folder: Path, tmp_path: Path, arguments: list[str], status: int, said: str) -> None:
    filled = [argument.replace("{}", str(folder)).replace("{out}", str(tmp_path)) for argument in arguments]
    done = ran(folder / "in.wav", *filled)
    assert done.exit_code == status
    line = done.stderr.strip().lower().splitlines()[-1]
    assert said.lower() in line
    assert isinstance(done.exception, SystemExit)
    assert WORD not in line
    assert not list(tmp_path.iterdir())


def test_a_recording_that_is_none(folder: Path, tmp_path: Path) -> None:
    done = ran(folder / "list.txt", "--words", folder / "list.txt", "--tts", "fast", "--out", tmp_path / "o.wav")
    assert done.exit_code == 1
    assert done.stderr.strip().splitlines()[-1].startswith("failed: ")
    assert not list(tmp_path.iterdir())

"""The table of speakers: paths in any spelling, and errors that say what to mend."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest
from velavox.engine.plan import Job, PlanError, plan
from velavox.engine.speakers import assign

pytestmark = pytest.mark.nojit


@pytest.fixture
def jobs(tmp_path: Path) -> list[Job]:
    for name in ("a.wav", "day 1/b.wav", "day 2/ü.wav"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"RIFF0000WAVE")
    return list(plan([tmp_path / "in"], tmp_path / "out").jobs)


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "speakers.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_paths_below_the_input_or_as_seen_from_here(tmp_path: Path, jobs: list[Job], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    decomposed = unicodedata.normalize("NFD", "day 2/ü.wav")
    text = f'\ufeffnote,speaker,path\n,Ann,./a.wav\n"x, y",Ben,in/day 1/b.wav\n,Ann,{decomposed}\n,Eve,elsewhere.wav\n'
    assert [job.speaker for job in assign(jobs, table(tmp_path, text))] == ["Ann", "Ben", "Ann"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("path,speaker\na.wav,Ann\n", r"no row for day 1/b\.wav and 1 more"),
        ("file,speaker\na.wav,Ann\n", "columns path,speaker"),
        ("", "columns path,speaker"),
        ("path,speaker\na.wav,\n", "line 2: give both"),
        ("path,speaker\na.wav\n", "line 2: give both"),
        ("path,speaker\na.wav,Ann\n./a.wav,Ben\n", "line 3: a.wav has another speaker"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, jobs: list[Job], text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        assign(jobs, table(tmp_path, text))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_may_never_open_or_never_end_is_refused(tmp_path: Path, jobs: list[Job]) -> None:
    os.mkfifo(tmp_path / "pipe")
    for endless in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(PlanError, match="not a regular file"):
            assign(jobs, endless)


def test_no_table_is_said(tmp_path: Path, jobs: list[Job]) -> None:
    with pytest.raises(PlanError, match="No such file"):
        assign(jobs, tmp_path / "missing.csv")

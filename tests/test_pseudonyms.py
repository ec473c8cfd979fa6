"""Renaming: the name is nowhere, the order tells nothing, and the mapping is neither lost nor published."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from velavox.engine.plan import Job, PlanError, plan
from velavox.engine.pseudonyms import rename

pytestmark = pytest.mark.nojit


def jobs(tmp_path: Path, *names: str) -> list[Job]:
    for name in names:
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"RIFF0000WAVE")
    return list(plan([tmp_path / "in"], tmp_path / "out").jobs)


def read(mapping: Path) -> dict[str, str]:
    with mapping.open(encoding="utf-8", newline="") as file:
        return {row["path"]: row["pseudonym"] for row in csv.DictReader(file)}


def test_names_are_gone_and_endings_kept(tmp_path: Path) -> None:
    made = jobs(tmp_path, "Jane_Example/1980-01-01.WAV", "b/Jane.m4a", "c.flac", "Jane.Example")
    renamed = rename(made, tmp_path / "out", None, resume=False)
    assert sorted(p.stem for p in (job.target for job in renamed)) == [f"recording-000{n}" for n in (1, 2, 3, 4)]
    assert sorted(job.target.suffix for job in renamed) == ["", ".flac", ".wav", ".wav"]
    assert all(job.target == tmp_path / "out" / job.label for job in renamed)
    assert [job.label for job in renamed] == sorted(job.label for job in renamed), "they are done in this order"
    assert {job.name for job in renamed} == {job.name for job in made}


def test_numbers_are_drawn_by_lot(tmp_path: Path) -> None:
    made = jobs(tmp_path, *(f"{n:03}.wav" for n in range(100)))
    first, second = ([job.name for job in rename(made, tmp_path / "out", None, resume=False)] for _ in range(2))
    assert len({tuple(first), tuple(second), tuple(job.name for job in made)}) == 3


def test_the_mapping_is_private_whole_and_before_any_output(tmp_path: Path) -> None:
    made = jobs(tmp_path, "a.wav", 'b"c, d.wav', "ü/e.wav")
    renamed = rename(made, tmp_path / "out", tmp_path / "keys/map.csv", resume=False)
    assert read(tmp_path / "keys/map.csv") == {job.name: job.label for job in renamed}
    assert (tmp_path / "keys/map.csv").stat().st_mode & 0o077 == 0
    assert [p.name for p in (tmp_path / "keys").iterdir()] == ["map.csv"]
    assert not (tmp_path / "out").exists()


def test_resume_keeps_names_and_adds_new_ones(tmp_path: Path) -> None:
    mapping = tmp_path / "map.csv"
    before = {job.name: job.label for job in rename(jobs(tmp_path, "b.wav", "c.wav"), tmp_path / "out", mapping, False)}
    after = {job.name: job.label for job in rename(jobs(tmp_path, "a.wav", "d.flac"), tmp_path / "out", mapping, True)}
    assert before.items() < after.items()
    assert sorted(after.values())[2:] in (
        ["recording-0003.wav", "recording-0004.flac"],
        ["recording-0003.flac", "recording-0004.wav"],
    )
    assert read(mapping) == after


def test_a_mapping_that_went_through_excel_is_known(tmp_path: Path) -> None:
    mapping = tmp_path / "map.csv"
    mapping.write_text("path,pseudonym\r\na.wav,recording-0007.wav\r\n", encoding="utf-8-sig")
    assert [job.label for job in rename(jobs(tmp_path, "a.wav"), tmp_path / "out", mapping, True)] == ["recording-0007.wav"]


def test_what_another_run_has_made_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for name in ("recording-0002.flac", "recording-x.wav", "notes.txt"):
        (tmp_path / "out" / name).touch()
    assert [job.label for job in rename(jobs(tmp_path, "a.wav"), tmp_path / "out", None, False)] == ["recording-0003.wav"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "path\na.wav\n",
        "path,pseudonym\na.wav,../a.wav\n",
        "path,pseudonym\na.wav\n",
        "x\0y",
        "path,pseudonym\na.wav,recording-0001.wav\nb.wav,recording-0001.flac\n",  # one would replace the other
        "path,pseudonym\na.wav,recording-0001.wav\na.wav,recording-0002.wav\n",
        f"path,pseudonym\na.wav,recording-{'1' * 5000}.wav\n",
    ],
)
def test_a_foreign_mapping_is_refused(tmp_path: Path, content: str) -> None:
    mapping = tmp_path / "map.csv"
    mapping.write_text(content)
    if content:
        with pytest.raises(PlanError, match="is not a mapping"):
            rename(jobs(tmp_path, "a.wav"), tmp_path / "out", mapping, resume=True)
    else:
        rename(jobs(tmp_path, "a.wav"), tmp_path / "out", mapping, resume=True)


def test_wrong_use_is_refused(tmp_path: Path) -> None:
    made = jobs(tmp_path, "a.wav")
    with pytest.raises(PlanError, match="needs the --mapping"):
        rename(made, tmp_path / "out", None, resume=True)
    with pytest.raises(PlanError, match="among the outputs"):
        rename(made, tmp_path / "out", tmp_path / "out/x/../map.csv", resume=False)
    rename(made, tmp_path / "out", tmp_path / "map.csv", resume=False)
    known = read(tmp_path / "map.csv")
    with pytest.raises(PlanError, match="earlier run"):
        rename(made, tmp_path / "out", tmp_path / "map.csv", resume=False)
    assert read(tmp_path / "map.csv") == known
    (tmp_path / "file").touch()
    with pytest.raises(PlanError, match="can be written"):
        rename(made, tmp_path / "out", tmp_path / "file/map.csv", resume=False)

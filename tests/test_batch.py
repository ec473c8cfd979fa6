"""Batches on small recordings: nothing stops the rest, voices are whose they should be, and no name gets out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from signals import voice
from velavox.engine import batch
from velavox.engine.batch import anonymize_folder
from velavox.engine.plan import PlanError
from velavox.engine.report import Outcome, Result
from velavox.engine.workers import Died


@pytest.fixture(autouse=True)
def _own_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "x.wav"
    soundfile.write(path, voice(0.5), 16_000)
    return path


@pytest.fixture
def folder(tmp_path: Path, recording: Path) -> Path:
    """One recording three times, of two speakers."""
    for name in ("ann/1.wav", "ann/2.wav", "ben/1.wav"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(recording, tmp_path / "in" / name)
    return tmp_path / "in"


def outputs(out: Path) -> dict[str, bytes]:
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}


def statuses(result: Result) -> dict[str, str]:
    return {outcome.file: outcome.status for outcome in result.outcomes}


def test_one_bad_file_does_not_stop_the_rest(folder: Path, tmp_path: Path) -> None:
    (folder / "ann/empty.wav").touch()
    (folder / "text.wav").write_text("no sound in here")
    (folder / "notes.txt").write_text("said on Monday")
    told: list[Outcome] = []
    done: list[tuple[float, int]] = []
    result = anonymize_folder(folder, tmp_path / "out", on_outcome=told.append, on_progress=lambda *x: done.append(x))
    assert sorted(outputs(tmp_path / "out")) == ["ann/1.wav", "ann/2.wav", "ben/1.wav"]
    assert statuses(result) == {
        "ann/1.wav": "done",
        "ann/2.wav": "done",
        "ann/empty.wav": "failed",
        "ben/1.wav": "done",
        "notes.txt": "skipped",
        "text.wav": "failed",
    }
    assert not result.ok
    assert sorted(o.file for o in told) == list(statuses(result))
    for failure in result.having("failed"):
        assert failure.cause
        assert failure.remedy
        assert "\n" not in failure.line
    assert done == sorted(done)
    assert done[-1] == (5, 5)


def test_more_processes_than_files_change_nothing(folder: Path, tmp_path: Path) -> None:
    anonymize_folder(folder, tmp_path / "one", seed=1)
    result = anonymize_folder(folder, tmp_path / "many", seed=1, jobs=16)
    assert result.ok
    assert outputs(tmp_path / "one") == outputs(tmp_path / "many")


@pytest.mark.parametrize("jobs", [1, 16])
def test_no_files_no_fault(tmp_path: Path, jobs: int) -> None:
    (tmp_path / "in").mkdir()
    result = anonymize_folder(tmp_path / "in", tmp_path / "out", jobs=jobs)
    assert (result.ok, result.outcomes) == (True, ())


def test_without_a_seed_every_file_and_run_draws_its_voice(folder: Path, tmp_path: Path, recording: Path) -> None:
    for out in ("first", "second"):
        anonymize_folder(folder, tmp_path / out)
    files = [*outputs(tmp_path / "first").values(), *outputs(tmp_path / "second").values()]
    assert len({*files, recording.read_bytes()}) == 7


def test_with_a_seed_voices_follow_from_the_path(folder: Path, tmp_path: Path) -> None:
    for out in ("first", "second"):
        assert anonymize_folder(folder, tmp_path / out, seed=7).seeded
    first = outputs(tmp_path / "first")
    assert first == outputs(tmp_path / "second")
    assert len(set(first.values())) == 3
    anonymize_folder(folder, tmp_path / "other", seed=8)
    assert not set(first.values()) & set(outputs(tmp_path / "other").values())


@pytest.mark.parametrize(("jobs", "seed"), [(1, None), (2, None), (1, 5)])
def test_a_speaker_has_one_voice_drawn_once(folder: Path, tmp_path: Path, jobs: int, seed: int | None) -> None:
    runs = []
    for out in ("first", "second"):
        result = anonymize_folder(folder, tmp_path / out, voices="per-speaker", jobs=jobs, seed=seed)
        assert result.seeded == (seed is not None)
        runs.append(outputs(tmp_path / out))
    assert runs[0]["ann/1.wav"] == runs[0]["ann/2.wav"] != runs[0]["ben/1.wav"]
    assert (runs[0] == runs[1]) == (seed is not None)


def test_a_table_says_who_speaks(folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "who.csv"
    table.write_text("path,speaker\nann/1.wav,Eve\nann/2.wav,Ann\nben/1.wav,Eve\n")
    anonymize_folder(folder, tmp_path / "out", speaker_table=table)
    made = outputs(tmp_path / "out")
    assert made["ann/1.wav"] == made["ben/1.wav"] != made["ann/2.wav"]


def test_channels_of_a_speaker_keep_their_own_voices(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    x = voice(0.5)
    for name in ("1.wav", "2.wav"):
        soundfile.write(tmp_path / "in" / name, np.stack([x, x], axis=1), 16_000)
    anonymize_folder(tmp_path / "in", tmp_path / "out", voices="per-speaker")
    first, second = (soundfile.read(tmp_path / "out" / name)[0] for name in ("1.wav", "2.wav"))
    np.testing.assert_array_equal(first, second)
    assert (first[:, 0] != first[:, 1]).any()  # one voice for both would give equal samples; two may be drawn close


def test_resume_does_what_is_missing_changed_or_foreign(folder: Path, tmp_path: Path, recording: Path) -> None:
    out = tmp_path / "out"
    anonymize_folder(folder, out)
    before = outputs(out)
    assert set(statuses(anonymize_folder(folder, out, resume=True)).values()) == {"finished"}
    assert outputs(out) == before

    (out / "ann/1.wav").unlink()
    (out / "ann/2.wav").write_bytes(recording.read_bytes())  # the recording itself, copied there by mistake
    (folder / "ben/2.wav").write_bytes(recording.read_bytes())
    result = anonymize_folder(folder, out, resume=True)
    assert statuses(result) == {"ann/1.wav": "done", "ann/2.wav": "done", "ben/1.wav": "finished", "ben/2.wav": "done"}
    after = outputs(out)
    assert after["ben/1.wav"] == before["ben/1.wav"]
    assert recording.read_bytes() not in after.values()


@pytest.mark.parametrize(
    "change", [{"seed": 2}, {"policy": "mix"}, {"method": "vtln"}, {"settings": {"alpha": 0.7}}, {"keep_cues": True}]
)
def test_resume_with_other_settings_does_all(folder: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    anonymize_folder(folder, tmp_path / "out", seed=1)
    assert set(statuses(anonymize_folder(folder, tmp_path / "out", **{"seed": 1, **change}, resume=True)).values()) == {"done"}


def test_resume_never_gives_a_speaker_two_voices(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    anonymize_folder(folder, out, voices="per-speaker")
    before = outputs(out)
    (out / "ann/1.wav").unlink()
    result = anonymize_folder(folder, out, voices="per-speaker", resume=True)
    assert statuses(result) == {"ann/1.wav": "done", "ann/2.wav": "done", "ben/1.wav": "finished"}
    after = outputs(out)
    assert after["ann/1.wav"] == after["ann/2.wav"] != before["ann/2.wav"]
    assert after["ben/1.wav"] == before["ben/1.wav"]
    (out / "ann/1.wav").unlink()
    seeded = anonymize_folder(folder, out, voices="per-speaker", seed=3)
    (out / "ann/1.wav").unlink()
    seeded = anonymize_folder(folder, out, voices="per-speaker", seed=3, resume=True)
    assert statuses(seeded) == {"ann/1.wav": "done", "ann/2.wav": "finished", "ben/1.wav": "finished"}


def test_renamed_the_names_are_nowhere(folder: Path, tmp_path: Path) -> None:
    (folder / "ann").rename(folder / "Jane_Example")
    (folder / "Jane_Example/Example-1980-01-01.wav").touch()
    (folder / "Jane_Example/Jane.txt").touch()
    told: list[Outcome] = []
    mapping = tmp_path / "map.csv"
    result = anonymize_folder(
        folder, tmp_path / "out", rename=True, mapping=mapping, voices="per-speaker", on_outcome=told.append
    )
    assert len(result.having("done")) == 3
    assert len(result.having("failed")) == 1
    names = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert len(names) == 3
    assert all(name.startswith("recording-000") for name in names)
    result.write(tmp_path / "report.json")
    written = (tmp_path / "report.json").read_text() + repr(told) + str(outputs(tmp_path / "out"))
    assert "Jane" not in written
    assert "1980" not in written
    assert "Jane_Example/Example-1980-01-01.wav" in mapping.read_text()

    before = outputs(tmp_path / "out")
    again = anonymize_folder(folder, tmp_path / "out", rename=True, mapping=mapping, voices="per-speaker", resume=True)
    assert outputs(tmp_path / "out").keys() == before.keys()
    assert len(again.having("finished")) == 1, "the speaker without a bad file"


def test_renamed_a_recording_whose_name_has_no_real_ending_is_done(folder: Path, tmp_path: Path) -> None:
    (folder / "ann/1.wav").rename(folder / "Jane.Example")
    result = anonymize_folder(folder / "Jane.Example", tmp_path / "out", rename=True)
    assert statuses(result) == {"recording-0001": "done"}
    assert soundfile.info(tmp_path / "out/recording-0001").format == "WAV"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk to be had here")
def test_without_room_for_the_journal_all_is_done_and_told(folder: Path, tmp_path: Path) -> None:
    anonymize_folder(folder, tmp_path / "out")
    (journal,) = (tmp_path / "state/velavox/resume").iterdir()
    journal.unlink()
    journal.symlink_to("/dev/full")
    result = anonymize_folder(folder, tmp_path / "out")
    assert (len(result.having("done")), len(result.notes)) == (3, 1)
    assert "--resume" in result.notes[0]


def test_the_report_tells_all_but_secrets(folder: Path, tmp_path: Path) -> None:
    (folder / "empty.wav").touch()
    result = anonymize_folder(folder, tmp_path / "out", settings={"alpha": (0.612345, 0.712345)}, seed=918273645)
    result.write(tmp_path / "report.json")
    text = (tmp_path / "report.json").read_text()
    for secret in ("918273645", "0.612345", "alpha", str(tmp_path)):
        assert secret not in text
    report = json.loads(text)
    assert "No privacy is claimed" in report["scope"]
    assert report["totals"]["done"] == 3
    assert report["totals"]["failed"] == 1
    assert report["totals"]["seconds"] == 1.5
    (bad,) = (f for f in report["files"] if f["status"] == "failed")
    assert bad.keys() == {"file", "status", "cause", "remedy"}
    good = report["files"][0]
    assert (good["file"], good["output"], good["frames"], good["sample_rate"]) == ("ann/1.wav", "ann/1.wav", 8000, 16000)
    assert 0 < good["rtc"] < 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "nothing"}, "give one of mcadams"),
        ({"settings": {"alhpa": 1}}, "it has alpha"),
        ({"settings": {"alpha": "high"}}, "alpha='high'"),
        ({"mapping": "map.csv"}, "add --rename"),
        ({"voices": "per-day"}, "per-file, per-speaker"),
        ({"policy": "left"}, "each, mix"),
    ],
)
def test_wrong_use_touches_nothing(folder: Path, tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        anonymize_folder(folder, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_process_that_dies_is_a_failure(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spread(start: object, jobs: list[Any], *_: object) -> Iterator[tuple[Any, Died]]:
        yield from ((job, Died(-11)) for job in jobs)

    monkeypatch.setattr(batch, "spread", spread)
    result = anonymize_folder(folder, tmp_path / "out", jobs=2)
    lines = [outcome.line for outcome in result.having("failed")]
    assert len(lines) == 3
    assert lines[0] == "ann/1.wav: its process ended (-11); try it alone, or with fewer --jobs"


def test_recordings_stay_as_they_are(folder: Path, tmp_path: Path) -> None:
    before = outputs(folder)
    anonymize_folder(folder, folder / "out")
    result = anonymize_folder(folder, folder / "out")
    assert statuses(result)["out"] == "skipped"
    assert {n: b for n, b in outputs(folder).items() if not n.startswith("out/")} == before

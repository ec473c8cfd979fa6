"""What counts as finished: nothing but our own output, untouched, of the same source with the same settings."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from velavox.engine import journal as module
from velavox.engine.journal import Journal, source_state
from velavox.engine.plan import Job, plan

pytestmark = pytest.mark.nojit


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A finished job: source, output, and a line in the journal."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.wav").write_bytes(b"RIFF0000WAVE source")
    (tmp_path / "in/twin.wav").write_bytes(b"RIFF0000WAVE other!")
    job = plan([tmp_path / "in"], tmp_path / "out").jobs[0]
    job.target.parent.mkdir()
    journal = Journal(tmp_path / "out", "settings", resume=False)
    state = source_state(job)
    job.target.write_bytes(b"anonymous")
    journal.add(job, state)
    journal.close()
    return job


def finished(job: Job, settings: str = "settings") -> bool:
    journal = Journal(job.target.parent, settings, resume=True)
    answer = journal.finished([job])
    journal.close()
    return answer


def test_unchanged_is_finished(job: Job) -> None:
    assert finished(job)
    assert finished(job), "looking does not change it"


def _swap(job: Job) -> None:
    """Another recording under its name, of the same size and time: files from one archive are often alike in both."""
    twin = job.source.with_name("twin.wav")
    times = job.source.stat()
    os.replace(twin, job.source)
    os.utime(job.source, ns=(times.st_atime_ns, times.st_mtime_ns))


def _overwrite(job: Job) -> None:
    """As `cat recording > output`, of equal size and with the time set back: only the change time tells."""
    before = job.target.stat()
    while job.target.stat().st_ctime_ns == before.st_ctime_ns:
        job.target.write_bytes(b"recording"[: before.st_size])
        os.utime(job.target, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: dict[str, Callable[[Job], object]] = {
    "source rewritten": lambda job: job.source.write_bytes(b"RIFF0000WAVE longer source"),
    "source replaced": _swap,
    "source moved away": lambda job: job.source.unlink(),
    "output gone": lambda job: job.target.unlink(),
    "output cut short": lambda job: os.truncate(job.target, 4),
    "output rewritten": lambda job: os.utime(job.target),
    "output is the recording": lambda job: shutil.copy2(job.source, job.target),
    "output overwritten in place": _overwrite,
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changed_is_not(job: Job, change: str) -> None:
    CHANGES[change](job)
    assert not finished(job)


def test_another_version_does_it_anew(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "__version__", "0.0")
    assert not finished(job)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk to be had here")
def test_a_full_disk_costs_the_journal_and_nothing_else(job: Job, tmp_path: Path) -> None:
    (path,) = (tmp_path / "state/velavox/resume").iterdir()
    path.unlink()
    path.symlink_to("/dev/full")
    journal = Journal(job.target.parent, "settings", resume=False)
    assert journal.note == ""
    for _ in range(2):
        journal.add(job, source_state(job))
    journal.close()
    assert "no space left on device" in journal.note


def test_other_settings_or_another_source_are_not(job: Job) -> None:
    assert not finished(job, "other settings")
    assert not finished(replace(job, name="b/a.wav"))
    assert not finished(replace(job, speaker="somebody"))
    assert not finished(replace(job, source=job.source.with_name("twin.wav")))


def test_a_source_that_changed_while_it_was_read_is_not(job: Job) -> None:
    journal = Journal(job.target.parent, "settings", resume=False)
    state = source_state(job)
    job.source.write_bytes(b"RIFF0000WAVE still growing")
    journal.add(job, state)
    journal.close()
    assert not finished(job)


def test_a_run_without_resume_begins_anew(job: Job) -> None:
    Journal(job.target.parent, "settings", resume=False).close()
    assert not finished(job)


def test_together_only_by_one_run(job: Job) -> None:
    second = replace(job, source=job.source.with_name("twin.wav"), target=job.target.with_name("twin.wav"), name="twin.wav")
    second.target.write_bytes(b"anonymous")
    journal = Journal(job.target.parent, "settings", resume=True)
    journal.add(second, source_state(second))
    journal.close()
    assert finished(second)
    again = Journal(job.target.parent, "settings", resume=True)
    assert not again.finished([job, second])
    for one in (job, second):
        again.add(one, source_state(one))
    again.close()
    once_more = Journal(job.target.parent, "settings", resume=True)
    assert once_more.finished([job, second])
    once_more.close()


def test_tells_nothing_and_only_the_owner(job: Job, tmp_path: Path) -> None:
    (path,) = (tmp_path / "state/velavox/resume").iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert "a.wav" not in path.read_text()
    assert sorted(p.name for p in job.target.parent.iterdir()) == ["a.wav"]


def test_a_damaged_journal_or_none_finishes_nothing(job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = (tmp_path / "state/velavox/resume").iterdir()
    path.write_bytes(b"\xff\xfe broken\n\n one two three\n")
    assert not finished(job)
    monkeypatch.setenv("XDG_STATE_HOME", os.devnull)
    journal = Journal(job.target.parent, "settings", resume=True)
    assert "all was done anew" in journal.note
    journal.add(job, source_state(job))
    assert not journal.finished([job])

"""Jobs spread over processes: all done, whatever becomes of a worker, and none left when the caller stops."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest
from velavox.engine.workers import Died, Progress, spread

pytestmark = pytest.mark.nojit


class Slow:
    """What a signal raises while this is being destroyed is swallowed by Python."""

    def __del__(self) -> None:
        time.sleep(60)


def start() -> Callable[[str, Progress], str]:
    return work


def work(job: str, progress: Progress) -> str:
    """Tells its process, dies, or leaves a file while it lasts."""
    if job == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if job.startswith("/"):
        half = Path(job)
        half.touch()
        try:
            if half.name == "swallowed":
                Slow()  # is gone at once, and takes its time over it
            time.sleep(60)
        finally:
            half.unlink()
    progress(0.5)
    return f"{os.getpid()} {job}"


def silent(job: str, part: float) -> None:
    pass


def test_every_job_once_in_no_more_processes_than_asked() -> None:
    parts: list[tuple[str, float]] = []
    results = dict(spread(start, "abcdefg", 2, lambda job, part: parts.append((job, part))))
    assert sorted(results) == list("abcdefg")
    answers = [str(r).split() for r in results.values()]
    assert [job for _, job in answers] == list(results)
    assert 1 <= len({pid for pid, _ in answers}) <= 2
    assert str(os.getpid()) not in {pid for pid, _ in answers}
    assert parts[0][1] == 0.5
    assert not multiprocessing.active_children()


def test_no_jobs_no_process() -> None:
    assert list(spread(start, [], 16, silent)) == []


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signals here")
def test_a_worker_that_dies_costs_one_job() -> None:
    results = dict(spread(start, ["a", "die", "b", "c"], 1, silent))
    assert results["die"] == Died(-signal.SIGKILL)
    assert [str(results[j])[-1] for j in "abc"] == list("abc")


def test_fewer_processes_than_asked_for_do_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    born: list[SpawnProcess] = []
    real = SpawnProcess.start

    def scarce(process: SpawnProcess) -> None:
        if born:
            raise OSError(errno.EMFILE, "Too many open files")
        born.append(process)
        real(process)

    monkeypatch.setattr(SpawnProcess, "start", scarce)
    assert sorted(job for job, _ in spread(start, "abc", 3, silent)) == list("abc")
    with pytest.raises(OSError, match="Too many"):
        list(spread(start, "abc", 3, silent))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_a_process_is_born(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    class Stopped(Exception):  # noqa: N818
        pass

    def stop(*_: object) -> None:
        raise Stopped

    def born(process: SpawnProcess) -> None:
        os.kill(os.getpid(), number)  # SIGINT comes when it is unblocked, SIGTERM at once
        time.sleep(0.05)
        seen.append("whole")

    seen: list[str] = []
    monkeypatch.setattr(SpawnProcess, "start", born)
    before = signal.signal(number, stop)
    try:
        with pytest.raises(Stopped):
            list(spread(start, ["a"], 1, silent))
        assert signal.getsignal(number) is stop
    finally:
        signal.signal(number, before)
    assert seen == ["whole"]


@pytest.mark.parametrize("name", ["half", "swallowed"])
def test_stopping_ends_the_workers_and_what_they_left(tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str) -> None:
    half = tmp_path / name
    running = spread(start, ["a", str(half)], 2, silent)
    next(running)
    while not half.exists():
        time.sleep(0.01)
    time.sleep(0.2)  # it is asleep now
    running.close()  # type: ignore[attr-defined]
    assert not half.exists()
    assert not multiprocessing.active_children()
    assert "Traceback" not in capfd.readouterr().err

"""The lock: one at a time, over threads and processes, and free when its holder dies."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from velavox.engine.locked import locked

pytestmark = pytest.mark.nojit

HOLD = """
import sys, time
from pathlib import Path
from velavox.engine.locked import locked
with locked(Path(sys.argv[1]), 5):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def holder(path: Path, code: str = HOLD) -> subprocess.Popen[str]:
    running = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "held\n"
    return running


def test_another_process_waits_and_is_told(path: Path) -> None:
    running = holder(path)
    began = time.monotonic()
    with pytest.raises(TimeoutError), locked(path, 0.1):
        pass
    assert time.monotonic() - began >= 0.1
    running.communicate("")
    with locked(path, 5):
        pass


def test_a_killed_holder_holds_nothing(path: Path) -> None:
    running = holder(path)
    running.kill()
    running.communicate()
    with locked(path, 0.5):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_what_a_child_has_inherited_holds_nothing(path: Path) -> None:
    code = HOLD.replace('print("held", flush=True)', "child = os.fork() or time.sleep(20)").replace("sys.stdin.read()", "pass")
    code = "import os" + code + 'print("held", flush=True)\nsys.stdin.read()\nos.kill(child, 9)\n'
    running = holder(path, code)
    with locked(path, 0.1):
        pass
    running.communicate("")


def test_threads_wait_for_each_other_and_an_exception_frees(path: Path) -> None:
    inside: list[int] = []

    def work() -> None:
        for _ in range(20):
            with locked(path, 10):
                inside.append(1)
                assert len(inside) == 1
                inside.clear()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with pytest.raises(KeyError), locked(path, 1):
        raise KeyError
    with locked(path, 0):
        assert inside == []


def test_no_such_folder_is_an_error(path: Path) -> None:
    with pytest.raises(FileNotFoundError), locked(path / "below", 1):
        pass

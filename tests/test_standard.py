"""stdout and stderr that are closed, full or not read: the work goes on, and the status says what became of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.nojit
CODE = """
import os, sys
from velavox.engine.progress import Progress, say
from velavox.engine.standard import standard_streams
with standard_streams():
    say("told")
    with Progress() as shown:
        os.write(3, b"worked")
    print("result")
    os.system("echo child >&2")
    with open("new", "w") as new:
        assert new.fileno() != 2, "a file in the place of stderr gets what libraries say"
"""


def shell(redirections: str, folder: Path) -> tuple[int, str, bytes, bytes]:
    """Status of the code above with these redirections, what it has worked, its stdout and its stderr."""
    (folder / "code.py").write_text(CODE)
    line = f"{sys.executable} code.py 3>worked {redirections}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, check=False)
    return done.returncode, (folder / "worked").read_text(), done.stdout, done.stderr


def test_as_usual(tmp_path: Path) -> None:
    assert shell("", tmp_path) == (0, "worked", b"result\n", b"told\nchild\n")


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_without_stderr_the_work_is_done_and_stdout_is_clean(tmp_path: Path, redirection: str) -> None:
    status, worked, out, _ = shell(redirection, tmp_path)
    assert (status, worked, out) == (0, "worked", b"result\n")


def test_nobody_reads_stderr(tmp_path: Path) -> None:
    assert shell("2>&1 >/dev/null | true", tmp_path)[:2] == (0, "worked")


def test_what_stdout_does_not_take_is_an_error(tmp_path: Path) -> None:
    status, worked, _, told = shell(">/dev/full", tmp_path)
    assert (status, worked) == (1, "worked")
    assert b"No space left on device" in told
    assert b"Exception ignored" not in told
    assert shell(">&-", tmp_path)[:2] == (0, "worked")

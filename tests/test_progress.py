"""A bar on a terminal, lines alone in a pipe; a trouble stays one line whatever is in it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from velavox.engine.progress import Progress, counted
from velavox.engine.report import Outcome

pytestmark = pytest.mark.nojit
LONG = f"{'x' * 300}.wav"
CODE = f"""
import sys
from velavox.engine.progress import Progress
from velavox.engine.report import Outcome
with Progress() as shown:
    shown.progress(1.5, 3)
    shown.outcome(Outcome({LONG!r}, "failed", cause="[bold]", remedy="none"))
assert ("rich" in sys.modules) == sys.stderr.isatty()
"""


def test_one_is_no_plural() -> None:
    assert [counted(n, "frame") for n in (0, 1, 2)] == ["0 frames", "1 frame", "2 frames"]


def test_in_a_pipe_lines_alone() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", f"failed: {LONG}: [bold]; none\n")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals here")
def test_on_a_terminal_a_bar_and_unbroken_lines() -> None:
    terminal, end = os.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "60"}
    with subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE, stderr=end, env=environment) as running:
        os.close(end)
        got = b""
        while True:
            try:
                got += os.read(terminal, 65536)
            except OSError:  # Linux's word for the end
                break
        assert running.communicate()[0] == b""
        assert running.returncode == 0
    os.close(terminal)
    assert b"1/3" in got
    assert f"failed: {LONG}: [bold]; none".encode() in got


def test_what_steers_a_terminal_is_shown_not_done(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as shown:
        shown.outcome(Outcome("a\n\x1b[2J\u202egpj.wav", "skipped", cause="hidden"))
    assert capsys.readouterr().err == "skipped: a\\n\\x1b[2J\\u202egpj.wav: hidden\n"

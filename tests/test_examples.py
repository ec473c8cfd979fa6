"""The examples are real scripts: each runs, and does what it says."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from signals import voice

EXAMPLES = Path(__file__).parent / "examples"


def run(name: str, *arguments: object) -> str:
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_embed(tmp_path: Path) -> None:
    source, target = tmp_path / "in.wav", tmp_path / "out.wav"
    soundfile.write(source, np.stack([voice(1.0, rate=48_000), voice(1.0, 200, rate=48_000)], axis=1), 48_000)
    printed = run("embed.py", source, target)
    assert "delay 24.9 ms" in printed
    assert "50 blocks, 0 hops muted" in printed
    assert soundfile.info(target).frames == 48_000 + 1197


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("conference", "numpy"),
        ("embed", "numpy"),
        ("study", "numpy"),
        ("pipecat_file", "pipecat"),
        ("webrtc_call", "aiortc"),
    ],
)
def test_without_arguments_they_say_what_they_want(name: str, package: str) -> None:
    pytest.importorskip(package, reason="needs the extra of its host")
    done = subprocess.run([sys.executable, str(EXAMPLES / f"{name}.py")], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"python {name}.py" in done.stderr
    assert "Traceback" not in done.stderr


def test_live_says_in_a_line_why_it_cannot(tmp_path: Path) -> None:
    """Without a sound server; where a card is found all the same, it runs."""
    nowhere = {**os.environ, "PULSE_SERVER": "unix:/nowhere", "HOME": str(tmp_path)}
    command = [sys.executable, str(EXAMPLES / "live.py"), "0.1"]
    done = subprocess.run(command, env=nowhere, capture_output=True, text=True, timeout=300)
    assert "Traceback" not in done.stderr
    assert (done.returncode == 0) == done.stdout.startswith("state: ")


def test_conference() -> None:
    assert run("conference.py", 3).startswith("3 speakers, 3 voices")


def test_study(tmp_path: Path) -> None:
    for name in ("ann/first.wav", "ann/second.wav", "bob/first.wav"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(tmp_path / "in" / name, voice(1.0), 16_000)
    (tmp_path / "in" / "bob" / "broken.wav").write_bytes(b"RIFF")
    printed = run("study.py", tmp_path / "in", tmp_path / "out", tmp_path / "mapping.csv")
    assert printed.startswith("3 done, 1 failed")
    assert len(list((tmp_path / "out").rglob("recording-*.wav"))) == 3
    assert "ann/first.wav" in (tmp_path / "mapping.csv").read_text()

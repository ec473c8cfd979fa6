"""The examples of voice chats run, and do what they say. The LiveKit agent has its tests beside its adapter."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
import soundfile
import velavox
from hosts import likeness
from needs import lacking
from signals import voice

EXAMPLES = Path(__file__).parent / "examples"
SYSTEM = "/usr/bin/python3"
RATE = 48_000


@pytest.fixture
def said(tmp_path: Path) -> Path:
    path = tmp_path / "said.wav"
    soundfile.write(path, voice(2.0, rate=RATE), RATE)
    return path


def run(name: str, *arguments: object) -> str:
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(said: Path, heard: Path, least: float) -> None:
    """As long, in part at least, as loud, and another voice."""
    x, y = soundfile.read(said)[0], soundfile.read(heard, always_2d=True)[0][:, 0]
    assert least * len(x) <= len(y) <= len(x)
    assert 0.3 < np.std(y) / np.std(x) < 3
    assert likeness(x * 32768, y * 32768, RATE) < 0.9


def test_webrtc_call(said: Path, tmp_path: Path) -> None:
    pytest.importorskip("aiortc", reason="needs the extra webrtc")
    assert run("webrtc_call.py", said, tmp_path / "heard.wav") == "delay of the voice 24.9 ms, 0 hops muted\n"
    check(said, tmp_path / "heard.wav", 0.7)  # the rest comes while the peers are closing


def test_pipecat_file(said: Path, tmp_path: Path) -> None:
    pytest.importorskip("pipecat", reason="needs the extra pipecat")
    assert run("pipecat_file.py", said, tmp_path / "heard.wav") == "delay of the voice 24.9 ms, 0 hops muted\n"
    check(said, tmp_path / "heard.wav", 1.0)


@pytest.fixture
def gst(tmp_path: Path) -> dict[str, str]:
    """An environment in which the system's Python finds GStreamer and velavox, and GStreamer the element."""
    code = (
        "import sys, gi; gi.require_version('GstBase', '1.0'); from gi.repository import GstBase; print(*sys.version_info[:2])"
    )
    ready = shutil.which("gst-launch-1.0") and subprocess.run([SYSTEM, "-c", code], capture_output=True, text=True)
    if not ready or ready.returncode:
        lacking("needs GStreamer's Python bindings: see docs/gstreamer.md")
    elif ready.stdout.split() != [str(n) for n in sys.version_info[:2]]:
        pytest.skip("the system's Python is another one, for which nothing is installed")
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "velavox").symlink_to(Path(velavox.__file__).parent, target_is_directory=True)
    (tmp_path / "elements" / "python").mkdir(parents=True)
    shutil.copy(EXAMPLES / "gst_velavox.py", tmp_path / "elements" / "python")
    found = {"PYTHONPATH": f"{packages}:{sysconfig.get_path('purelib')}", "GST_PLUGIN_PATH": str(tmp_path / "elements")}
    return {**os.environ, **found, "GST_REGISTRY": str(tmp_path / "registry.bin")}


def launch(gst: dict[str, str], said: Path, element: str, heard: Path) -> subprocess.CompletedProcess[str]:
    line = f"filesrc location={said} ! wavparse ! audioconvert ! {element} ! wavenc ! filesink location={heard}"
    return subprocess.run(["gst-launch-1.0", "-q", *line.split()], env=gst, capture_output=True, text=True, timeout=120)


def test_gstreamer_script(gst: dict[str, str], said: Path, tmp_path: Path) -> None:
    command = [SYSTEM, str(EXAMPLES / "gst_velavox.py"), str(said), str(tmp_path / "heard.wav")]
    done = subprocess.run(command, env=gst, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    check(said, tmp_path / "heard.wav", 1.0)


def test_gstreamer_element(gst: dict[str, str], said: Path, tmp_path: Path) -> None:
    """Loaded by GStreamer itself; muted it is silent, and what it cannot do ends the pipeline before any sound."""
    heard = tmp_path / "heard.wav"
    assert launch(gst, said, "velavox method=mcadams", heard).returncode == 0
    check(said, heard, 1.0)
    assert launch(gst, said, "velavox mute=true", heard).returncode == 0
    assert not soundfile.read(heard)[0].any()
    refused = launch(gst, said, "velavox method=none", heard)
    assert refused.returncode != 0
    assert "velavox: method 'none': give one of" in refused.stderr
    assert heard.stat().st_size <= 44

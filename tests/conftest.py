"""Shared by all tests: where extra material lies, and the twins' module on the path."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from weakref import WeakValueDictionary

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # `import naive`, `import signals`

import rig as pulse
from needs import lacking

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell's background job, in which tests of Ctrl-C would hang
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as nohup does
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

SHARED = Path(os.environ.get("VELAVOX_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of audio fixtures, golden outputs and development speech, which is not part of the repository."""
    if not SHARED.is_dir():
        pytest.skip(f"no material at {SHARED}: set VELAVOX_SHARED")
    return SHARED


@pytest.fixture(scope="session")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pulse.Rig]:
    """A PulseAudio server for all live tests; who breaks it takes `fresh_rig`."""
    yield from _rig(tmp_path_factory.mktemp("rig"))


@pytest.fixture
def fresh_rig(tmp_path: Path) -> Iterator[pulse.Rig]:
    """A PulseAudio server for one test."""
    yield from _rig(tmp_path)


def _rig(folder: Path) -> Iterator[pulse.Rig]:
    if missing := pulse.missing():
        lacking(missing)
    rig = pulse.Rig(folder)
    try:
        yield rig
    finally:
        rig.close()


@pytest.fixture
def few_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Graphs of a few nodes in place of the neural anonymizer's, and their folder."""
    import tinygraphs
    from velavox.engine import dpvoice
    from velavox.models_onnx import manifest

    made = tmp_path / "graphs"
    made.mkdir()
    tinygraphs.chain(made)
    monkeypatch.setattr(dpvoice, "FOLDER", made)
    monkeypatch.setattr(manifest, "_loaded", WeakValueDictionary())  # of other tests
    return made


@pytest.fixture
def threads_end() -> Iterator[None]:
    """No thread of velavox outlives the test."""
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("velavox "):
            thread.join(5)
            assert not thread.is_alive(), thread.name


@pytest.fixture(scope="session")
def compiled() -> None:
    """Every kernel in the cache, so that no command has to say that it compiles."""
    import velavox.engine.live
    import velavox.engine.mcadams
    import velavox.engine.soundcard
    import velavox.engine.voicemask
    import velavox.engine.vtln  # noqa: F401

"""A folder judged: what was said is looked up by name, figures are those of the judges."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from signals import voice
from velavox.bench import listening
from velavox.bench.listening import judge, main, read, texts_of
from velavox.bench.speech import clips
from velavox.kernels.jit import F32

pytest.importorskip("whisper_normalizer", reason="needs the extra audit")
MANIFEST = (
    "source,speaker,utterance,path,seconds,split,role,transcript\nc,s,a,a.wav,1,dev,trial,RED GREEN\nc,s,b,b.wav,1,dev,trial,\n"
)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    for name in "ab":
        soundfile.write(tmp_path / f"{name}.wav", voice(0.5), 16_000)
    path = tmp_path / "manifest.csv"
    path.write_text(MANIFEST)
    return path


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges who say what can be foreseen: the first word, the length."""

    def score(x: F32) -> float:
        return len(x) / 16_000

    monkeypatch.setattr(listening, "heard", lambda x, language: "red")
    monkeypatch.setattr(listening, "dnsmos", score)


def test_figures_of_a_folder(manifest: Path) -> None:
    x = np.concatenate(list(clips().values()))
    found = judge({"a": x[: 2 * 16_000], "b": x[-4 * 16_000 :]}, texts_of(manifest))
    assert (found.recordings, found.transcribed) == (2, 1)
    assert (found.wer, found.dnsmos) == (0.5, 3.0)
    assert found.variety is not None
    assert found.variety.voices == 2
    assert judge({"a": x}, {}).variety is None


def test_recordings_are_read_evenly_and_at_one_rate(tmp_path: Path) -> None:
    for n in range(6):
        soundfile.write(tmp_path / f"u{n}.wav", voice(0.5, rate=48_000), 48_000)
    (tmp_path / "notes.txt").write_text("no sound")
    found = read(tmp_path, 3)
    assert list(found) == ["u0", "u2", "u4"]
    assert {len(x) for x in found.values()} == {8000}
    assert len(read(tmp_path)) == 6
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="give a folder"):
        read(tmp_path / "empty")


def test_command(tmp_path: Path, manifest: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    soundfile.write(tmp_path / "a.wav", clips()["27-123349-0009"], 16_000)
    target = tmp_path / "found.json"
    monkeypatch.setattr(
        sys, "argv", ["listening", str(tmp_path), "--utterances", "1", "--texts", str(manifest), "--json", str(target)]
    )
    main()
    assert json.loads(target.read_text()) == json.loads(capsys.readouterr().out)
    assert json.loads(target.read_text())["wer"] == 0.5

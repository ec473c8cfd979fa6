"""Corpora: what is found in the three layouts and in a manifest, and one line for what is wrong with them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import soundfile
from signals import tone
from trainingdata import recorded, utterance
from velavox.models_onnx.training.corpora import (
    DEV,
    RATE,
    TRAIN,
    Utterance,
    from_folder,
    from_manifest,
    read_index,
    write_index,
)
from velavox.models_onnx.training.errors import TrainingError
from velavox.models_onnx.training.transcribe import transcribed

SECOND = tone(RATE, 220)


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def manifest(folder: Path, text: str) -> Path:
    """A manifest beside the recording a.wav."""
    recorded(folder / "a.wav", SECOND)
    return written(folder / "list.csv", text)


def one_line(error: pytest.ExceptionInfo[TrainingError]) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


def test_librispeech(tmp_path: Path) -> None:
    chapter = tmp_path / "LibriSpeech" / "dev-clean" / "84" / "121123"
    for name in ("84-121123-0000", "84-121123-0001"):
        recorded(chapter / f"{name}.flac", SECOND)
    written(chapter / "84-121123.trans.txt", "84-121123-0000 GO DO YOU HEAR\n84-121123-0001 BUT IN LESS THAN\n")
    found = list(from_folder(tmp_path / "LibriSpeech"))
    assert [(u.utterance, u.transcript) for u in found] == [
        ("84-121123-0000", "GO DO YOU HEAR"),
        ("84-121123-0001", "BUT IN LESS THAN"),
    ]
    assert {(u.speaker, u.source, u.seconds, u.language) for u in found} == {("LibriSpeech:84", "LibriSpeech", 1.0, "en")}


def test_libritts(tmp_path: Path) -> None:
    chapter = tmp_path / "libritts" / "14" / "208"
    recorded(chapter / "14_208_000001_000000.wav", SECOND)
    written(chapter / "14_208_000001_000000.normalized.txt", "Chapter one, he said.\n")
    written(chapter / "14_208_000001_000000.original.txt", "Chapter I, he said.\n")
    (found,) = from_folder(tmp_path / "libritts")
    assert (found.speaker, found.transcript) == ("libritts:14", "Chapter one, he said.")


def test_vctk_without_its_second_microphone(tmp_path: Path) -> None:
    root = tmp_path / "vctk"
    for microphone in (1, 2):
        recorded(root / "wav48_silence_trimmed" / "p225" / f"p225_001_mic{microphone}.flac", SECOND, 48_000)
    recorded(root / "wav48_silence_trimmed" / "p315" / "p315_001_mic1.flac", SECOND, 48_000)
    written(root / "txt" / "p225" / "p225_001.txt", "Please call Stella.\n")
    found = list(from_folder(root))
    assert [(u.utterance, u.speaker, u.transcript) for u in found] == [
        ("p225_001", "vctk:p225", "Please call Stella."),
        ("p315_001", "vctk:p315", ""),
    ]


def test_a_speaker_is_held_out_whole_and_always_the_same_ones_are(tmp_path: Path) -> None:
    for speaker in range(60):
        for number in range(2):
            recorded(tmp_path / f"{speaker}" / "1" / f"{speaker}-1-{number}.wav", SECOND[:160])
    found = list(from_folder(tmp_path, held_out=0.3))
    assert len({(u.speaker, u.split) for u in found}) == 60
    held_out = {u.speaker for u in found if u.split == DEV}
    assert 8 < len(held_out) < 30
    assert held_out == {u.speaker for u in from_folder(tmp_path, held_out=0.3) if u.split == DEV}
    assert held_out <= {u.speaker for u in from_folder(tmp_path, held_out=0.5) if u.split == DEV}
    assert not [u for u in from_folder(tmp_path, held_out=0.0) if u.split == DEV]


@pytest.mark.parametrize(
    ("file", "said"),
    [("notes.txt", "no audio in this folder"), ("speaker/u.wav", "list it in a manifest"), ("s/c/u.FLAC", "cannot be read")],
)
def test_a_folder_of_another_kind_is_refused(tmp_path: Path, file: str, said: str) -> None:
    written(tmp_path / file, "words")
    with pytest.raises(TrainingError, match=said) as error:
        list(from_folder(tmp_path))
    assert str(tmp_path) in one_line(error)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="no audio in this folder"):
        list(from_folder(tmp_path / "nothing"))


def test_a_manifest_of_all_columns(tmp_path: Path) -> None:
    path = manifest(
        tmp_path,
        "\ufeffsource,speaker,utterance,path,seconds,split,role,language,transcript,more\n"
        "corpus,x,u1,a.wav,0.5,dev,enrol,zh, hello ,?\n",
    )
    (found,) = from_manifest(path)
    assert found == Utterance("u1", "corpus:x", "corpus", str(tmp_path / "a.wav"), 0.5, DEV, "enrol", "zh", "hello")


def test_a_manifest_of_four_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it does not say is found out; its paths hold from wherever it was read."""
    manifest(tmp_path / "set", "speaker,utterance,path,split\nx,u1,a.wav,train\n")
    monkeypatch.chdir(tmp_path / "set")
    (found,) = from_manifest(Path("list.csv"))
    monkeypatch.chdir(tmp_path)
    assert (found.source, found.speaker, found.seconds, found.language) == ("set", "set:x", 1.0, "en")
    assert len(found.audio()) == RATE


def test_language_is_seen_in_the_words(tmp_path: Path) -> None:
    path = manifest(tmp_path, "speaker,utterance,path,split,transcript\nx,u1,a.wav,train,你好\nx,u2,a.wav,train,hello\n")
    assert [u.language for u in from_manifest(path)] == ["zh", "en"]


def test_unlabelled_speakers_are_not_one_speaker(tmp_path: Path) -> None:
    path = manifest(tmp_path, "speaker,utterance,path,split\nunlabelled,u1,a.wav,train\nunlabelled,u2,a.wav,train\n")
    assert len({u.speaker for u in from_manifest(path)}) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column speaker, utterance, path, split"),
        ("speaker,utterance,file,split\nx,u,a.wav,train\n", "no column path: give at least speaker, utterance, path, split"),
        ("speaker,utterance,path,split\nx,u,a.wav,train\nx,v,b.wav,train\n", r"list.csv, line 3: no file .*b.wav"),
        ("speaker,utterance,path,split\nx,u,a.wav\n", "line 2: no split"),
        ("speaker,utterance,path,split\n,,a.wav,train\n", "line 2: no speaker, utterance"),
        ("speaker,utterance,path,split,seconds\nx,u,a.wav,train,long\n", "line 2: 'long' is no number of seconds"),
    ],
)
def test_a_bad_manifest_is_one_clear_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(TrainingError, match=said) as error:
        list(from_manifest(manifest(tmp_path, text)))
    assert "list.csv" in one_line(error)


def test_an_index_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = [
        Utterance("u1", "c:x", "c", "/somewhere/a.wav", 1.25, TRAIN, transcript='He said, "no"'),
        Utterance("u2", "c:y", "c", "/somewhere/b.wav", 0.1, DEV, "trial", "zh", "你好"),
    ]
    write_index(tmp_path / "index.csv", written)
    assert read_index(tmp_path / "index.csv") == written


def test_a_name_that_comes_twice_is_refused_and_the_index_stays_as_it_was(tmp_path: Path) -> None:
    first = Utterance("u1", "c:x", "c", "a.wav", 1.0, TRAIN)
    write_index(tmp_path / "index.csv", [first])
    with pytest.raises(TrainingError, match="1 names of utterances come more than once, as u2 does"):
        write_index(tmp_path / "index.csv", [Utterance("u2", "c:x", "c", "b.wav", 1.0, TRAIN)] * 2)
    assert read_index(tmp_path / "index.csv") == [first]
    assert [path.name for path in tmp_path.iterdir()] == ["index.csv"]


def test_audio_is_mono_at_one_rate(tmp_path: Path) -> None:
    stereo = np.stack((tone(48_000, 300, rate=48_000), np.zeros(48_000, np.float32)), 1)
    soundfile.write(tmp_path / "a.wav", stereo, 48_000, subtype="FLOAT")
    samples = utterance("u", tmp_path / "a.wav").audio()
    assert samples.dtype == np.float32
    assert samples.shape == (RATE,)
    assert np.abs(samples[800:-800] - tone(RATE, 300, 0.25)[800:-800]).max() < 1e-3


def test_audio_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    broken = written(tmp_path / "a.wav", "no audio")
    for path in (broken, tmp_path / "gone.wav"):
        with pytest.raises(TrainingError, match=re.escape(f"{path} cannot be read")) as error:
            Utterance("u", "c:x", "c", str(path), 1.0, TRAIN).audio()
        one_line(error)


def test_words_found_are_for_those_without_words(tmp_path: Path) -> None:
    names = {"u1": "own words", "u2": "", "u3": ""}
    write_index(tmp_path / "index.csv", [Utterance(n, "c:x", "c", "a.wav", 1.0, TRAIN, transcript=t) for n, t in names.items()])
    assert [u.transcript for u in transcribed(tmp_path)] == ["own words", "", ""]
    written(tmp_path / "transcripts.csv", 'u1,others\nu2,"found, really"\nu3,half of')
    assert [u.transcript for u in transcribed(tmp_path)] == ["own words", "found, really", ""]

"""Synthetic speech: the same by number, voices that no other split has, and all that alignment needs kept beside it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from signals import F32, RATE
from velavox.engine.content import english, kokoro
from velavox.engine.content.english import Piece
from velavox.engine.content.phones import PHONES
from velavox.models_onnx.training import synth
from velavox.models_onnx.training.corpora import DEV, TRAIN, Utterance, read_index, write_index
from velavox.models_onnx.training.durations import segments_of
from velavox.models_onnx.training.errors import TrainingError
from velavox.models_onnx.training.journal import Journal
from velavox.models_onnx.training.synth import DEV_VOICES, english_line, mandarin_line, mixture, synthesize

VOICES = ("af_bella", "af_nova", "am_adam", "bm_george", "zf_xiaoyi", "zf_xiaoni", "zm_yunxi")
FRAMES = 4  # of a letter


class Humming:
    """In place of the synthesizer: hums as many frames as there are letters, in a tone of the voice's."""

    def __init__(self, folder: Path, threads: int = 1) -> None: ...

    knows = staticmethod(kokoro.Kokoro.knows)

    def timed(self, letters: str, voice: F32, speed: float) -> tuple[F32, np.ndarray]:
        frames = np.full(len(letters) + 2, FRAMES)
        t = np.arange(frames.sum() * kokoro.FRAME) / kokoro.RATE
        return np.sin(2 * np.pi * 100 * (1 + voice[0, 0]) * t).astype(np.float32), frames


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two sentences, voices whose number is in all of their table, and no synthesizer."""
    for number, name in enumerate(VOICES):
        (tmp_path / "voices").mkdir(exist_ok=True)
        np.full((510, 256), number / 10, np.float32).tofile(tmp_path / "voices" / f"{name}.bin")
    sentences = ["MAKE ONE KNIT ONE", "WHAT TIME IT WAS SHE HAD ASKED"]
    write_index(
        tmp_path / "index.csv",
        [Utterance(f"u{n}", "c:s", "c", "none.wav", 1.0, TRAIN, transcript=text) for n, text in enumerate(sentences)],
    )

    def pieces(text: str) -> list[Piece]:
        return [*(("m", "M") if letter.isalpha() else (" ", None) for letter in text), (".", None)]

    monkeypatch.setattr(synth, "TimedKokoro", Humming)
    monkeypatch.setattr(english, "pieces", pieces)
    return tmp_path


def made(work: Path, language: str = "zh", count: int = 3, split: str = TRAIN, seed: int = 7) -> Path:
    synthesize(work, work / "voices", language, count, split, seed, Journal(work))
    return work / "synth" / f"{language}-{split}"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_what_is_said_is_kept_with_its_durations(work: Path, language: str) -> None:
    folder = made(work, language)
    index = read_index(folder / "index.csv")
    assert [u.utterance for u in index] == [f"synth-{language}-train-{n:05d}" for n in range(3)]
    for u in index:
        said = json.loads(Path(u.path).with_suffix(".json").read_text())
        samples, rate = soundfile.read(u.path, dtype="float32")
        assert rate == RATE
        assert u.seconds == pytest.approx(len(samples) / RATE)
        assert np.sqrt(np.mean(samples**2)) == pytest.approx(0.05, rel=0.02)
        letters = "".join(letters for letters, _ in said["pieces"])
        assert len(said["frames"]) == len(letters) + 2
        assert abs(len(samples) - sum(said["frames"]) * 400) <= 1
        assert {phone for _, phone in said["pieces"]} - {None} <= set(PHONES)
        assert (u.language, u.split, u.transcript) == (language, TRAIN, said["transcript"])
        assert segments_of(said["pieces"], said["frames"], samples)[-1][-1] == len(samples)
        assert u.speaker == f"synth:{said['voice']}"


def test_an_utterance_depends_on_its_number_and_the_seed(work: Path) -> None:
    folder = made(work, count=3)
    first = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    for path in folder.iterdir():
        path.unlink()
    made(work, count=2)
    made(work, count=3)
    assert {path.name: path.read_bytes() for path in sorted(folder.iterdir())} == first
    for path in folder.iterdir():
        path.unlink()
    made(work, count=3, seed=8)
    assert (folder / "00000.json").read_bytes() != first["00000.json"]


def test_what_is_there_is_kept_and_what_a_kill_has_left_is_made_again(work: Path) -> None:
    folder = made(work, count=2)
    whole = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    (folder / "00001.json").unlink()
    (folder / "00001.flac").write_bytes(b"half")
    before = (folder / "00000.flac").stat().st_mtime_ns
    made(work, count=2)
    assert {path.name: path.read_bytes() for path in sorted(folder.iterdir())} == whole
    assert (folder / "00000.flac").stat().st_mtime_ns == before


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_voice_is_in_two_splits(work: Path, language: str) -> None:
    for split in (TRAIN, DEV):
        used = {
            part.split("*")[0]
            for u in read_index(made(work, language, 20, split) / "index.csv")
            for part in u.speaker.removeprefix("synth:").split("+")
        }
        assert used
        assert all((voice in DEV_VOICES) == (split == DEV) for voice in used)


def test_a_mixture_is_between_its_voices() -> None:
    voices = {name: np.full((2, 3), n, np.float32) for n, name in enumerate("abcd")}
    sizes = set()
    for seed in range(40):
        voice, recipe = mixture(np.random.default_rng(seed), voices, list("abc"))
        parts = dict(part.split("*") for part in recipe.split("+"))
        sizes.add(len(parts))
        assert "d" not in parts
        assert sum(map(float, parts.values())) == pytest.approx(1, abs=0.011)
        assert np.allclose(voice, sum("abc".index(n) * float(part) for n, part in parts.items()), atol=0.03)
    assert sizes == {1, 2, 3}


def test_lines_are_of_the_sentences_or_the_dictionary(work: Path) -> None:
    sentence = "one two three four five six seven eight nine ten eleven twelve".upper()
    of_sentence = 0
    for seed in range(40):
        said = english_line(np.random.default_rng(seed), [sentence], ["xyz"]).transcript
        of_sentence += said in sentence
        assert said in sentence or set(said.split()) == {"XYZ"}
    assert 22 < of_sentence < 38


def test_mandarin_lines_end_with_a_full_stop_and_pause_now_and_then() -> None:
    lines = [mandarin_line(np.random.default_rng(seed), ["你好", "中国人", "女儿"]) for seed in range(20)]
    pauses = 0
    for line in lines:
        assert line.pieces[-1] == (".", None)
        assert len([phone for _, phone in line.pieces if phone]) >= 2 * len(line.transcript) * 0.5
        pauses += (",", None) in line.pieces
    assert 5 < pauses < 20


def test_without_words_or_voices_it_says_what_is_missing(work: Path) -> None:
    write_index(work / "index.csv", [Utterance("u", "c:s", "c", "none.wav", 1.0, TRAIN)])
    with pytest.raises(TrainingError, match="no English training utterance has words"):
        made(work, "en")
    with pytest.raises(TrainingError, match="no voices"):
        synthesize(work, work / "nothing", "zh", 1, TRAIN, 7, Journal(work))
    for name in DEV_VOICES:
        (work / "voices" / f"{name}.bin").unlink(missing_ok=True)
    with pytest.raises(TrainingError, match="no zh voices for dev"):
        made(work, "zh", split=DEV)

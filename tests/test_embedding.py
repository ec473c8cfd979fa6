"""Embeddings of voices: theirs is the front end, one speaker's are alike, and what is no speech is refused."""

from __future__ import annotations

import math
from importlib import resources
from pathlib import Path
from typing import Any

import librosa
import numpy as np
import pytest
import soundfile
import soxr
from signals import noise, voice
from velavox.engine.embedding import FRAME, HOP, LEAST, RATE, _mels, _windows, embed, embed_file
from velavox.engine.failure import FileFailure
from velavox.kernels.jit import F32
from velavox.models_onnx import manifest

pytestmark = pytest.mark.nojit


@pytest.fixture(scope="module", autouse=True)
def loaded() -> object:
    """The graph, kept for all tests."""
    return manifest.load("speaker")


@pytest.fixture(scope="module")
def clips() -> list[F32]:
    """One utterance each of three speakers, 16 kHz."""
    folder = resources.files("velavox.bench.clips")
    paths = sorted(str(p) for p in folder.iterdir() if p.name.endswith(".flac"))
    return [soundfile.read(path, dtype="float32")[0] for path in paths]


def alike(a: F32, b: F32) -> float:
    return float(a @ b)


def test_mel_energies_are_librosas() -> None:
    x = voice(2.0).astype(float)
    padded = np.pad(x, FRAME // 2)  # as librosa.stft does
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / FRAME)
    frames = [padded[t * HOP : t * HOP + FRAME] * window for t in range(len(x) // HOP + 1)]
    theirs = np.abs(np.fft.rfft(frames)) ** 2 @ librosa.filters.mel(sr=RATE, n_fft=FRAME, n_mels=40).T
    ours = _mels(padded.astype(np.float32), len(theirs))
    assert np.allclose(ours, theirs, rtol=1e-5, atol=1e-7 * theirs.max())


@pytest.mark.parametrize("samples", [1, 8000, 25_439, 25_440, 25_600, 37_919, 37_920, 37_921, 44_000, 160_000, 1_000_001])
def test_windows_are_those_of_resemblyzer(samples: int) -> None:
    """By the rules of its `compute_partial_slices`: 1.3 windows a second, the last one covered to 75 %."""
    frames, step = math.ceil((samples + 1) / HOP), round(RATE / 1.3 / HOP)
    starts = list(range(0, max(1, frames - 160 + step + 1), step))
    if len(starts) > 1 and (samples - starts[-1] * HOP) / (160 * HOP) < 0.75:
        del starts[-1]
    assert _windows(samples) == starts


def test_an_embedding_is_a_direction(clips: list[F32]) -> None:
    v = embed(clips[0], RATE)
    assert v.dtype == np.float32
    assert v.shape == (256,)
    assert np.linalg.norm(v) == pytest.approx(1, abs=1e-6)
    assert v.min() >= 0


def test_halves_of_an_utterance_are_more_alike_than_two_speakers(clips: list[F32]) -> None:
    halves = [[embed(half, RATE) for half in np.array_split(x, 2)] for x in clips]
    same = [alike(a, b) for a, b in halves]
    other = [alike(a, b) for i, x in enumerate(halves) for y in halves[:i] for a in x for b in y]
    assert min(same) > 0.7
    assert max(other) < min(same) - 0.1


def test_speakers_of_the_development_speech_are_told_apart(shared: Path) -> None:
    import csv

    with (shared / "speech" / "manifest.csv").open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["source"] == "librispeech_mini_train_clean_5" and r["split"] == "dev"]
    enrolled: dict[str, list[F32]] = {}
    for row in [r for r in rows if r["role"] == "enrol"][::4]:
        enrolled.setdefault(row["speaker"], []).append(embed_file(shared / "speech" / row["path"]))
    trials = [r for r in rows if r["role"] == "trial"][::8]
    assert len(enrolled) == 4
    for row in trials:
        found = embed_file(shared / "speech" / row["path"])
        assert max(enrolled, key=lambda speaker: alike(found, np.mean(enrolled[speaker], axis=0))) == row["speaker"]


@pytest.mark.parametrize("rate", [44_100, 48_000, 22_050])
def test_the_rate_does_not_matter(clips: list[F32], rate: int) -> None:
    for x in clips:
        assert alike(embed(soxr.resample(x, RATE, rate), rate), embed(x, RATE)) > 0.98


def test_the_wrong_rate_does(clips: list[F32]) -> None:
    assert alike(embed(clips[0], 24_000), embed(clips[0], RATE)) < 0.9


@pytest.mark.parametrize("gain", [0.03, 0.1, 10])
def test_the_level_does_not_matter(clips: list[F32], gain: float) -> None:
    for x in clips:
        assert alike(embed(x * np.float32(gain), RATE), embed(x, RATE)) > 0.9999


def test_pauses_and_an_offset_do_not_matter(clips: list[F32]) -> None:
    x = clips[0]
    expected = embed(x, RATE)
    assert alike(embed(x + np.float32(0.25), RATE), expected) > 0.999
    for pause in (np.zeros(20 * RATE, np.float32), noise(20 * RATE, 4e-4)):
        assert alike(embed(np.concatenate([pause, x, pause]), RATE), expected) > 0.99


def test_int16_is_the_same(clips: list[F32]) -> None:
    whole = np.rint(clips[0] * 32767).astype(np.int16)
    assert alike(embed(whole, RATE), embed(clips[0], RATE)) > 0.9999


def test_short_speech_is_taken(clips: list[F32]) -> None:
    x = clips[0]
    energy = np.cumsum(x * x, dtype=np.float64)
    loudest = int(np.argmax(energy[RATE:] - energy[:-RATE]))  # the first sample of the loudest second
    assert alike(embed(x[loudest : loudest + RATE], RATE), embed(x, RATE)) > 0.6


@pytest.mark.parametrize(
    "x",
    [
        np.zeros(0),
        np.zeros(400),
        np.zeros(3 * RATE),
        np.full(3 * RATE, 0.3),
        noise(3 * RATE, 1e-39),
        np.random.default_rng(0).integers(-1, 2, 3 * RATE).astype(np.int16),
        np.eye(1, 3 * RATE, 20_000)[0],
        voice(2.0)[: int(0.4 * RATE)],
    ],
    ids=["none", "short", "zeros", "dc", "denormal", "one_lsb", "click", "syllable"],
)
def test_what_is_no_speech_is_refused_in_a_line(x: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"^x: less than {LEAST} s of speech; give [^\n]+$"):
        embed(x, RATE)
    if len(x):
        scale = 2.0**-15 if x.dtype == np.int16 else 1.0
        soundfile.write(tmp_path / "x.wav", x * scale, RATE, subtype="FLOAT")
        with pytest.raises(FileFailure, match="less than"):
            embed_file(tmp_path / "x.wav")


@pytest.mark.parametrize(
    ("x", "rate", "message"),
    [
        (np.where(np.arange(RATE) == 5, np.nan, 0.1), RATE, "NaN or infinity"),
        (np.full(RATE, np.inf), RATE, "NaN or infinity"),
        (np.zeros((RATE, 2)), RATE, "one channel"),
        (np.zeros(RATE), 0, "rate=0"),
        (np.zeros(RATE), 16_000.5, "rate=16000.5"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused(x: Any, rate: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        embed(x, rate)


def test_files_are_read_at_any_rate_by_channel_or_mixed(clips: list[F32], tmp_path: Path) -> None:
    length = min(map(len, clips))
    a, b = (soxr.resample(x[:length], RATE, 48_000) for x in clips[:2])
    path = tmp_path / "two.wav"
    soundfile.write(path, np.stack([a, b], axis=1), 48_000)
    expected = [embed(x[:length], RATE) for x in clips[:2]]
    for channel in (0, 1):
        assert alike(embed_file(path, channel), expected[channel]) > 0.999
    for mixed in ((a, -a), (0 * a, a)):
        soundfile.write(path, np.stack(mixed, axis=1), 48_000)
        assert alike(embed_file(path), expected[0]) > 0.99
    soundfile.write(path, a, 48_000)
    assert alike(embed_file(str(path)), expected[0]) > 0.999
    with pytest.raises(FileFailure, match=r"no channel 1: give 0 to 0"):
        embed_file(path, 1)
    with pytest.raises(FileFailure, match="no such file"):
        embed_file(tmp_path / "missing.wav")


def test_of_a_long_file_the_beginning_is_read(clips: list[F32], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("velavox.engine.embedding.MOST", 3)
    path = tmp_path / "long.wav"
    refused = np.full(2 * RATE, 30_000, np.float32)  # by the reader, if it got there
    soundfile.write(path, np.concatenate([clips[0][: 4 * RATE], refused]), RATE, subtype="FLOAT")
    assert alike(embed_file(path), embed(clips[0][: 3 * RATE], RATE)) > 0.9999

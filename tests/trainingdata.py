"""What the tests of training are made of: recordings and packs, small and seeded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
from signals import F32, RATE, voice
from velavox.models_onnx.training import phones, pitch
from velavox.models_onnx.training.corpora import TRAIN, Utterance
from velavox.models_onnx.training.packs import BANDS, Pack, Row, write_rows


def recorded(path: Path, samples: F32, rate: int = RATE) -> Path:
    """`samples` in a file of floats."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate, subtype="FLOAT" if path.suffix == ".wav" else None)
    return path


def utterance(name: str, path: Path, *, speaker: str = "s", split: str = TRAIN, transcript: str = "") -> Utterance:
    """Of speaker `speaker` of the corpus "c"."""
    seconds = soundfile.info(path).duration
    return Utterance(name, f"c:{speaker}", "c", str(path), seconds, split, transcript=transcript)


def spoken(folder: Path, count: int, seconds: float = 1.5) -> list[Utterance]:
    """Utterances u0, u1, ... of as many speech-like signals."""
    paths = [recorded(folder / f"u{n}.wav", voice(seconds, 100.0 + 20 * n, seed=n)) for n in range(count)]
    return [utterance(path.stem, path, speaker=f"s{n}") for n, path in enumerate(paths)]


def pack(folder: Path, lengths: list[int], seed: int = 0, speaker: str = "c:s") -> Pack:
    """A pack that can be learnt: each state has a spectrum of its own, and lasts for eight frames; pitch rises with it.

    The first two bands of a row hold its number and the number of the frame in it, so that one can see where a piece is from.
    """
    random = np.random.default_rng(seed)
    spectra = np.random.default_rng(99).normal(size=(phones.STATES, BANDS)).astype(np.float16)
    total = sum(lengths)
    state = np.repeat(random.integers(0, phones.STATES, -(-total // 8)), 8)[:total].astype(np.uint8)
    mel = spectra[state]
    starts = np.cumsum([0, *lengths[:-1]])
    for number, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        mel[start : start + length, 0] = number
        mel[start : start + length, 1] = np.arange(length)
    folder.mkdir(parents=True)
    np.save(folder / "mel.npy", mel)
    np.save(folder / "state.npy", state)
    np.save(folder / "pitch.npy", (state % (1 + pitch.PITCHES)).astype(np.uint8))
    write_rows(
        folder / "rows.csv", [Row(f"u{n}", speaker, int(s), c) for n, (s, c) in enumerate(zip(starts, lengths, strict=True))]
    )
    return Pack(folder)

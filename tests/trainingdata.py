"""What the tests of training are made of: recordings and packs, small and seeded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
from signals import F32, RATE, voice
from velavox.engine.content import phones
from velavox.models_onnx.training import pitch
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


def numbered(folder: Path, lengths: list[int], seed: int = 0) -> Pack:
    """A pack whose first two bands hold the number of the row and of the frame in it: one can see where a piece is from."""
    made = pack(folder, lengths, seed)
    mel = np.array(made.mel)
    for number, row in enumerate(made.rows):
        mel[row.start : row.start + row.frames, 0] = number
        mel[row.start : row.start + row.frames, 1] = np.arange(row.frames)
    np.save(folder / "mel.npy", mel)
    return Pack(folder)


def pack(folder: Path, lengths: list[int], seed: int = 0, states: int = phones.STATES) -> Pack:
    """A pack that can be learnt: each of the first `states` has a spectrum and a pitch of its own, for eight frames."""
    random = np.random.default_rng(seed)
    spectra = np.random.default_rng(99).normal(size=(phones.STATES, BANDS // 8)).repeat(8, 1).astype(np.float16)
    total = sum(lengths)
    state = np.repeat(random.integers(0, states, -(-total // 8)), 8)[:total].astype(np.uint8)
    starts = np.cumsum([0, *lengths[:-1]])
    folder.mkdir(parents=True)
    np.save(folder / "mel.npy", spectra[state])
    np.save(folder / "state.npy", state)
    np.save(folder / "pitch.npy", (state % (1 + pitch.PITCHES)).astype(np.uint8))
    write_rows(
        folder / "rows.csv", [Row(f"u{n}", "c:s", int(s), c) for n, (s, c) in enumerate(zip(starts, lengths, strict=True))]
    )
    return Pack(folder)

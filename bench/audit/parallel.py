"""A parallel set for the strict forms: the same sentences by voices of known gender and accent, of which one differs at a time.

Kokoro speaks (`engine/content/kokoro`), so all of it is synthetic, and the table says so. A speaker is a mixture of
Kokoro's voices of one gender and accent with a pace of his own; no voice is in speakers of both splits. An accent is what
voices of that language bring: all speak the same phones, those of American English.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
import soundfile
import soxr

from ...engine.atomic import atomically
from ...engine.content import kokoro
from ...engine.content.english import pieces
from ...engine.stage import RATE
from ...kernels.jit import F32
from ...models_onnx.training.corpora import DEV, TRAIN
from ...models_onnx.training.synth import mixture
from .recordings import ENROL, TRIAL

SOURCE = "parallel-synthetic"
LICENCE = "synthetic: Kokoro-82M, Apache-2.0"
GENDERS = {"F": "f", "M": "m"}  # to the second letter of a voice's name ...
ACCENTS = {"American": "a", "British": "b", "Mandarin": "z"}  # ... and the first
UNLIKE = ("zm_yunxia", "am_santa", "af_nicole")  # a boy, a Santa Claus and a whisperer: no adults' plain voices
SENTENCES = (
    "The museum opens at nine, but the garden is closed on Mondays.",
    "Could you send me the address of the hotel near the river?",
    "My sister bought a yellow umbrella because it rained all week.",
    "We usually have fish and potatoes for dinner on Friday.",
    "He forgot his keys, so we waited outside for an hour.",
    "Please turn left after the bridge and park behind the school.",
    "The weather should be warmer when the children come home.",
    "They have been learning to play the piano since January.",
    "I would rather take the early train than drive through the city.",
    "Nobody knew where the old photographs had been stored.",
)
ENROLLED = 2  # sentences of a dev speaker, the first ones, that enrol him; more than half of them never
_PACE = (0.9, 1.15)
_LEVEL = 0.05  # RMS


@dataclass(frozen=True)
class Row:
    """Of the table that is read as any other."""

    source: str
    speaker: str
    utterance: str
    path: str
    seconds: str
    gender: str
    accent: str
    split: str
    role: str
    language: str
    licence: str
    transcript: str
    voice: str  # what the speaker is made of


@dataclass(frozen=True)
class Speaker:
    name: str
    gender: str
    accent: str
    split: str
    number: int  # of all


def speakers(each: int) -> list[Speaker]:
    """`each` for every gender, accent and split."""
    kinds = [(split, accent, gender) for split in (DEV, TRAIN) for accent in ACCENTS for gender in GENDERS]
    return [
        Speaker(f"{ACCENTS[accent]}{GENDERS[gender]}-{split}-{n}", gender, accent, split, i * 1000 + n)
        for i, (split, accent, gender) in enumerate(kinds)
        for n in range(each)
    ]


def make(
    folder: Path,
    voices: Mapping[str, F32],
    synthesizer: kokoro.Kokoro,
    each: int,
    sentences: int,
    seed: int = 0,
    done: Callable[[int, int], None] = lambda done, of: None,
) -> Path:
    """Write WAV files and manifest.csv, its path being given back; what is there of the same seed is kept.

    voices: of Kokoro, by name. `done` is told how many recordings there are, and of how many. ValueError, in a line, where a
    gender or an accent has fewer than two voices, or the folder is of another seed.
    """
    _check(folder, seed)
    rows: list[Row] = []
    people = speakers(each)
    letters = ["".join(part for part, _ in pieces(text)) for text in SENTENCES[:sentences]]
    for who in people:
        random = np.random.default_rng([seed, who.number])
        voice, recipe = mixture(random, dict(voices), _names(voices, who))
        pace = float(random.uniform(*_PACE))
        for n, spoken in enumerate(letters):
            path = folder / who.name / f"{who.name}-{n:02d}.wav"
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                with atomically(path) as part:
                    soundfile.write(part, _said(synthesizer, spoken, voice, pace), RATE, format="WAV", subtype="PCM_16")
            rows.append(_row(who, n, sentences, path, folder, recipe))
            done(len(rows), len(people) * len(letters))
    return _write(folder / "manifest.csv", rows)


def _said(synthesizer: kokoro.Kokoro, letters: str, voice: F32, pace: float) -> F32:
    speech = soxr.resample(synthesizer.speak(letters, voice, pace), kokoro.RATE, RATE)
    return np.asarray(np.clip(speech * _LEVEL / max(float(np.sqrt(np.mean(speech**2))), 1e-6), -1, 1), np.float32)


def _names(voices: Mapping[str, F32], who: Speaker) -> list[str]:
    """Every other voice of this kind: those of one split."""
    like = ACCENTS[who.accent] + GENDERS[who.gender] + "_"
    kind = sorted(name for name in voices if name.startswith(like) and name not in UNLIKE)
    if len(kind) < 2:
        raise ValueError(f"{len(kind)} voices of {who.accent} accent and gender {who.gender}: give all of kokoro-js")
    return kind[who.split == TRAIN :: 2]


def _row(who: Speaker, n: int, sentences: int, path: Path, folder: Path, recipe: str) -> Row:
    role = "" if who.split == TRAIN else ENROL if n < min(ENROLLED, sentences // 2) else TRIAL
    seconds, below = f"{soundfile.info(path).duration:.3f}", path.relative_to(folder).as_posix()
    said = SENTENCES[n].rstrip(".?")
    about = (who.gender, who.accent, who.split, role, "en", LICENCE, said, recipe)
    return Row(SOURCE, who.name, path.stem, below, seconds, *about)


def _write(path: Path, rows: list[Row]) -> Path:
    with atomically(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(field.name for field in fields(Row))
        writer.writerows(astuple(row) for row in rows)
    return path


def _check(folder: Path, seed: int) -> None:
    """Note the seed in a new folder; ValueError where another one is."""
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / ".seed"
    if not note.exists():
        note.write_text(f"{seed}\n", encoding="utf-8")
    elif note.read_text(encoding="utf-8").strip() != str(seed):
        raise ValueError(f"{folder}: holds the set of seed {note.read_text(encoding='utf-8').strip()}: give another folder")

"""Utterances of a corpus: from a manifest, or from folders laid out as LibriSpeech, LibriTTS or VCTK."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import soundfile
import soxr

from ...engine.atomic import atomically
from ...kernels.jit import F32

RATE = 16_000
TRAIN, DEV = "train", "dev"
_AUDIO = (".flac", ".wav", ".opus", ".ogg")


@dataclass(frozen=True)
class Utterance:
    """One recording of one speaker."""

    utterance: str  # unique among all
    speaker: str  # unique among all corpora
    source: str  # name of the corpus
    path: str  # of the audio
    seconds: float
    split: str  # TRAIN, DEV, or another, which nothing here reads
    role: str = ""  # of dev utterances: "enrol" or "trial" where the manifest says so
    language: str = "en"  # "en" or "zh"
    transcript: str = ""  # empty where unknown

    def audio(self) -> F32:
        """Samples at RATE, mono, full scale 1, shape (n,)."""
        samples, rate = soundfile.read(self.path, dtype="float32", always_2d=True)
        mono = samples.mean(axis=1)
        return np.asarray(mono if rate == RATE else soxr.resample(mono, rate, RATE), np.float32)


def from_manifest(path: Path) -> Iterator[Utterance]:
    """Rows of a CSV with at least the columns speaker, utterance, path (relative to it) and split."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            source, audio = row.get("source", path.parent.name), path.parent / row["path"]
            yield Utterance(
                utterance=row["utterance"],
                speaker=f"{source}:{_speaker(row)}",
                source=source,
                path=str(audio),
                seconds=float(row.get("seconds") or soundfile.info(audio).duration),
                split=row["split"],
                role=row.get("role", ""),
                language=row.get("language") or _language(row.get("transcript", "")),
                transcript=row.get("transcript", "").strip(),
            )


def from_folder(root: Path, held_out: float = 0.05) -> Iterator[Utterance]:
    """Audio below `root` with its text: speaker/chapter/utterance.flac with speaker-chapter.trans.txt (LibriSpeech) or with
    utterance.normalized.txt (LibriTTS), or wav48*/speaker/utterance.wav with txt/speaker/utterance.txt (VCTK).

    `held_out`: part of the speakers whose split is dev, chosen by a digest of their names.
    """
    texts = dict(_transcripts(root))
    for path in sorted(p for p in root.rglob("*") if p.suffix in _AUDIO):
        name = path.stem.removesuffix("_mic1").removesuffix("_mic2")
        if path.stem.endswith("_mic2"):  # the same words as _mic1
            continue
        vctk = path.parent.parent.name.startswith("wav48")
        speaker = path.parent.name if vctk else path.relative_to(root).parts[-3]
        split = DEV if zlib.crc32(speaker.encode()) / 2**32 < held_out else TRAIN
        source, seconds = root.name, soundfile.info(path).duration
        yield Utterance(name, f"{source}:{speaker}", source, str(path), seconds, split, transcript=texts.get(name, ""))


def read_index(path: Path) -> list[Utterance]:
    """What `write_index` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Utterance(**{**row, "seconds": float(row["seconds"])}) for row in csv.DictReader(file)]  # type: ignore[arg-type]


def write_index(path: Path, utterances: Iterable[Utterance]) -> None:
    """Write `utterances` in order; ValueError if a name comes twice."""
    rows = [asdict(u) for u in utterances]
    names = {row["utterance"] for row in rows}
    if len(names) < len(rows):
        raise ValueError(f"{len(rows) - len(names)} utterances bear the name of another one")
    with atomically(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Utterance)])
        writer.writeheader()
        writer.writerows(rows)


def _transcripts(root: Path) -> Iterator[tuple[str, str]]:
    for path in root.rglob("*.trans.txt"):
        for line in path.read_text(encoding="utf-8").splitlines():
            name, _, text = line.partition(" ")
            yield name, text.strip()
    for path in (*root.rglob("*.normalized.txt"), *root.glob("txt/*/*.txt")):
        yield path.stem.removesuffix(".normalized"), path.read_text(encoding="utf-8").strip()


def _speaker(row: dict[str, str]) -> str:
    """Where speakers are not labelled every recording counts as one of its own, so that nothing learns to compare them."""
    return row["speaker"] if row["speaker"] != "unlabelled" else row["utterance"]


def _language(transcript: str) -> str:
    return "zh" if any("\u4e00" <= letter <= "\u9fff" for letter in transcript) else "en"

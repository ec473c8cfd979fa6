"""Utterances of a corpus: from a manifest, or from folders laid out as LibriSpeech, LibriTTS or VCTK."""

from __future__ import annotations

import csv
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import soundfile
import soxr

from ...engine.atomic import atomically
from ...kernels.jit import F32
from .errors import TrainingError

RATE = 16_000
TRAIN, DEV = "train", "dev"
_AUDIO = (".flac", ".wav", ".opus", ".ogg")
_COLUMNS = ("speaker", "utterance", "path", "split")  # of a manifest; more are read where they are there


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
        """Samples at RATE, mono, full scale 1, shape (n,). TrainingError for what is no audio."""
        try:
            samples, rate = soundfile.read(self.path, dtype="float32", always_2d=True)
        except soundfile.SoundFileError as error:
            raise TrainingError(f"{self.path} cannot be read: {error}") from None
        mono = samples.mean(axis=1)
        return np.asarray(mono if rate == RATE else soxr.resample(mono, rate, RATE), np.float32)


def from_manifest(path: Path) -> Iterator[Utterance]:
    """Rows of a CSV with at least the columns speaker, utterance, path (relative to it) and split.

    TrainingError, with the number of the line, for what is missing.
    """
    folder = path.absolute().parent
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, restval="")
        if missing := [column for column in _COLUMNS if column not in (reader.fieldnames or ())]:
            raise TrainingError(f"{path}: no column {', '.join(missing)}: give at least {', '.join(_COLUMNS)}")
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            if empty := [column for column in _COLUMNS if not row[column]]:
                raise TrainingError(f"{where}: no {', '.join(empty)}")
            source, audio = row.get("source") or folder.name, folder / row["path"]
            if not audio.is_file():
                raise TrainingError(f"{where}: no file {audio}")
            yield Utterance(
                utterance=row["utterance"],
                speaker=f"{source}:{_speaker(row)}",
                source=source,
                path=str(audio),
                seconds=_number(row["seconds"], where) if row.get("seconds") else _seconds(audio),
                split=row["split"],
                role=row.get("role", ""),
                language=row.get("language") or _language(row.get("transcript", "")),
                transcript=row.get("transcript", "").strip(),
            )


def from_folder(root: Path, held_out: float = 0.05) -> Iterator[Utterance]:
    """Audio below `root` with its text: speaker/chapter/utterance.flac with speaker-chapter.trans.txt (LibriSpeech) or with
    utterance.normalized.txt (LibriTTS), or wav48*/speaker/utterance.wav with txt/speaker/utterance.txt (VCTK).

    `held_out`: part of the speakers whose split is dev, chosen by a digest of their names. TrainingError for no audio, or for
    audio that lies elsewhere.
    """
    root = root.absolute()
    paths = sorted(p for p in root.rglob("*") if p.suffix.lower() in _AUDIO)
    if not paths:
        raise TrainingError(f"{root}: no audio in this folder ({' '.join(_AUDIO)})")
    texts = dict(transcripts(root))
    for path in paths:
        if path.stem.endswith("_mic2"):  # the same words as _mic1
            continue
        name, below = path.stem.removesuffix("_mic1"), path.relative_to(root).parts
        vctk = path.parent.parent.name.startswith("wav48")
        if not vctk and len(below) < 3:
            raise TrainingError(f"{path}: neither in speaker/chapter/ nor in wav48*/speaker/: list it in a manifest")
        speaker = path.parent.name if vctk else below[-3]
        split = DEV if zlib.crc32(speaker.encode()) / 2**32 < held_out else TRAIN
        source, seconds = root.name, _seconds(path)
        yield Utterance(name, f"{source}:{speaker}", source, str(path), seconds, split, transcript=texts.get(name, ""))


def read_index(path: Path) -> list[Utterance]:
    """What `write_index` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Utterance(**{**row, "seconds": float(row["seconds"])}) for row in csv.DictReader(file)]  # type: ignore[arg-type]


def write_index(path: Path, utterances: Iterable[Utterance]) -> None:
    """Write `utterances` in order; TrainingError if a name comes twice."""
    rows = [asdict(u) for u in utterances]
    often = [name for name, count in Counter(row["utterance"] for row in rows).items() if count > 1]
    if often:
        raise TrainingError(f"{len(often)} names of utterances come more than once, as {often[0]} does: give each its own")
    with atomically(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Utterance)])
        writer.writeheader()
        writer.writerows(rows)


def transcripts(root: Path) -> Iterator[tuple[str, str]]:
    """Names and texts of the utterances below `root`, as LibriSpeech, LibriTTS and VCTK keep them."""
    for path in root.rglob("*.trans.txt"):
        for line in path.read_text(encoding="utf-8").splitlines():
            name, _, text = line.partition(" ")
            yield name, text.strip()
    for path in (*root.rglob("*.normalized.txt"), *root.glob("txt/*/*.txt")):
        yield path.stem.removesuffix(".normalized"), path.read_text(encoding="utf-8").strip()


def _seconds(audio: Path) -> float:
    try:
        return float(soundfile.info(audio).duration)
    except soundfile.SoundFileError as error:
        raise TrainingError(f"{audio} cannot be read: {error}") from None


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise TrainingError(f"{where}: {text!r} is no number of seconds") from None


def _speaker(row: dict[str, str]) -> str:
    """Where speakers are not labelled every recording counts as one of its own, so that nothing learns to compare them."""
    return row["speaker"] if row["speaker"] != "unlabelled" else row["utterance"]


def _language(transcript: str) -> str:
    return "zh" if any("\u4e00" <= letter <= "\u9fff" for letter in transcript) else "en"

"""Words for recordings that have none, as Whisper hears them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .corpora import TRAIN, Utterance, read_index
from .journal import Journal
from .recogniser import Recogniser

_LONGEST = 20.0  # seconds: longer ones are left out


def transcribe(work: Path, journal: Journal) -> None:
    """Append what the training utterances without words say to transcripts.csv."""
    path = work / "transcripts.csv"
    known = set(_read(path))
    wanted = [u for u in read_index(work / "index.csv") if u.split == TRAIN and not u.transcript and u.utterance not in known]
    short = [u for u in wanted if u.seconds <= _LONGEST and u.language == "en"]
    recogniser = Recogniser()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for u in journal.each("transcribe", short, len(short)):
            writer.writerow([u.utterance, recogniser.words(u.audio(), u.language)])
            file.flush()


def transcribed(work: Path) -> Iterator[Utterance]:
    """The utterances of the index, with the words found for those that had none."""
    found = _read(work / "transcripts.csv")
    for u in read_index(work / "index.csv"):
        yield u if u.transcript else replace(u, transcript=found.get(u.utterance, ""))


def _read(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return dict(csv.reader(file))

"""Words for recordings that have none, as Whisper hears them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .corpora import TRAIN, Utterance, read_index
from .journal import Journal
from .lines import append_to, read_lines

_LONGEST = 20.0  # seconds: longer ones are left out


def transcribe(work: Path, journal: Journal) -> None:
    """Append what the English training utterances without words say to transcripts.csv."""
    from ...engine.content.whisper import Whisper

    path = work / "transcripts.csv"
    known = set(_read(path))
    wanted = [u for u in read_index(work / "index.csv") if u.split == TRAIN and not u.transcript and u.utterance not in known]
    short = [u for u in wanted if u.seconds <= _LONGEST and u.language == "en"]
    whisper = Whisper()
    with append_to(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        for u in journal.each("transcribe", short, len(short)):
            writer.writerow([u.utterance, " ".join(whisper.text(u.audio(), u.language).split())])


def transcribed(work: Path) -> Iterator[Utterance]:
    """The utterances of the index, with the words found for those that had none."""
    found = _read(work / "transcripts.csv")
    for u in read_index(work / "index.csv"):
        yield u if u.transcript else replace(u, transcript=found.get(u.utterance, ""))


def _read(path: Path) -> dict[str, str]:
    return dict(csv.reader(read_lines(path)))

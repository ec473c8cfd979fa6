"""Whose recordings are audited, and what is known of them: from a table, from folders of speakers, or (`kaldi`) from Kaldi.

A table is a CSV file with the columns path (below the folder of originals, or beside the table) and speaker. Read where they
are there: utterance, anonymized (path below the folder of anonymized speech), corpus or source, channel, split, role (enrol,
trial), transcript or text, language, gender, accent, age. Speakers of one name in two corpora are two people.
"""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from ...engine.plan import fold
from ...engine.sniff import ending
from ...engine.table import open_table
from ...models_onnx.training.corpora import transcripts
from .findings import Findings

ENROL, TRIAL, TRAIN = "enrol", "trial", "train"
ATTRIBUTES = ("gender", "accent", "age")

NO_FILE, NO_COUNTERPART = "no such file", "no anonymized counterpart"
NO_SPEAKER, TWICE = "who speaks is not told", "listed twice, the first counts"
OVERLAP = "enrols a speaker and is tried, so enrols no more"
NEITHER = f"role is neither {ENROL} nor {TRIAL}, taken for none"
_UNLABELLED = ("", "unlabelled", "unknown")
_AGES = ((30, "under 30"), (50, "30 to 49"), (200, "50 and over"))  # years, below


@dataclass(frozen=True)
class Recording:
    """One utterance."""

    utterance: str  # unique in an audit
    speaker: str  # as "corpus:name"
    path: Path  # of the original
    anonymized: str = ""  # where a table says what its anonymized form is called
    channel: str = ""  # room, device or source; alike in all of a corpus where nothing tells
    split: str = ""  # TRAIN: of speakers whom attackers may learn from
    role: str = ""  # ENROL or TRIAL where it is told
    text: str = ""  # what is said; empty where unknown
    language: str = "en"
    attributes: Mapping[str, str] = field(default_factory=dict)  # of ATTRIBUTES, those that are known


@dataclass(frozen=True)
class Listing:
    """All recordings that are there, what is wrong with others, and the pairs (claimed speaker, utterance) that are to be
    tried where a list of them was given."""

    recordings: tuple[Recording, ...]
    findings: Findings
    pairs: frozenset[tuple[str, str]] | None = None


def from_table(table: Path, originals: Path) -> Listing:
    """The rows of a CSV file. ValueError, in a line, if it is none; a row that cannot be used is a finding."""
    findings = Findings()
    found: list[Recording] = []
    try:
        with open_table(table) as rows:
            if not {"path", "speaker"} <= set(rows.fieldnames or ()):
                raise ValueError(f"{table}: the first line has to name the columns path,speaker; others are read where there")
            for row in rows:
                cells = {name: (value or "").strip() for name, value in row.items() if isinstance(name, str)}
                found += _row(cells, f"{table.name}, line {rows.line_num}", table.absolute().parent, originals, findings)
    except OSError as error:
        raise ValueError(f"{table}: {(error.strerror or 'cannot be read').lower()}; give a CSV file") from error
    except csv.Error as error:
        raise ValueError(f"{table}: {error}; give a CSV file with the columns path,speaker") from error
    return Listing(tuple(_once(found, findings)), findings)


def from_folders(originals: Path) -> Listing:
    """Of a folder with one below it for each speaker; texts where they lie as in LibriSpeech or LibriTTS."""
    findings = Findings()
    texts = dict(transcripts(originals))
    found = []
    for path in walk(originals):
        below = PurePosixPath(path.relative_to(originals).as_posix())
        if len(below.parts) < 2:
            findings.add(NO_SPEAKER, str(below))
            continue
        text = texts.get(path.stem, "")
        corpus = originals.absolute().name
        speaker = below.parts[1 if below.parts[0].startswith("wav48") and below.parts[2:] else 0]  # VCTK
        found.append(
            Recording(
                utterance=str(below.with_suffix("")),
                speaker=f"{corpus}:{speaker}",
                path=path,
                channel=corpus,
                text=text,
                language=language_of(text),
            )
        )
    return Listing(tuple(_once(found, findings)), findings)


def counterparts(recordings: tuple[Recording, ...], folder: Path, findings: Findings) -> dict[str, Path]:
    """The anonymized file of each utterance: where the table says, else in the same place below `folder`, whatever its
    ending, else anywhere below it under the utterance's or the file's name, if neither folder has that name twice."""
    places: dict[str, list[Path]] = {}
    names: dict[str, list[Path]] = {}
    for path in walk(folder):
        below = path.relative_to(folder).with_suffix("")
        places.setdefault(fold(below.as_posix()), []).append(path)
        names.setdefault(fold(below.name), []).append(path)
    often = Counter(fold(name) for r in recordings for name in _names(r))
    found = {}
    for recording in recordings:
        told = folder / recording.anonymized if recording.anonymized else None
        if told is not None and told.is_file():
            found[recording.utterance] = told
            continue
        there = [] if told is not None else _alike(recording, places, names, often)
        if len(there) == 1:
            found[recording.utterance] = there[0]
        else:
            findings.add(NO_COUNTERPART, f"{recording.utterance}{f' ({len(there)} of that name)' if there else ''}")
    return found


def walk(folder: Path) -> Iterator[Path]:
    """Recordings below a folder by name, or by their first bytes, in order; what is hidden is left out. A folder that several
    links lead to is walked once: one may lead back up."""
    seen: set[str] = set()
    for root, folders, files in os.walk(folder, followlinks=True):
        known = os.path.realpath(root) in seen
        seen.add(os.path.realpath(root))
        folders[:] = [] if known else sorted(name for name in folders if not name.startswith("."))
        for name in () if known else sorted(files):
            if not name.startswith(".") and ending(Path(root) / name) is not None:
                yield Path(root) / name


def language_of(text: str) -> str:
    return "zh" if any("\u4e00" <= letter <= "\u9fff" for letter in text) else "en"


def corpus_of(source: str) -> str:
    """Folders of one corpus, as of LibriSpeech, have one name up to the underscore."""
    return source.split("_")[0]


def age_group(age: str) -> str:
    """Of years; of what is no number, itself."""
    years = float(age) if age.replace(".", "", 1).isdigit() else None
    return age if years is None else next(group for below, group in _AGES if years < below or below == _AGES[-1][0])


def _row(cells: Mapping[str, str], where: str, beside: Path, originals: Path, findings: Findings) -> Iterator[Recording]:
    if not cells["path"] or cells["speaker"].lower() in _UNLABELLED:
        findings.add(NO_SPEAKER, cells["path"] or where)
        return
    path = next((p for p in (originals / cells["path"], beside / cells["path"]) if p.is_file()), None)
    if path is None:
        findings.add(NO_FILE, f"{cells['path']} ({where})")
        return
    source = cells.get("source") or cells.get("corpus") or originals.absolute().name
    text = cells.get("transcript") or cells.get("text") or ""
    below = path.relative_to(originals) if path.is_relative_to(originals) else PurePosixPath(cells["path"])
    utterance, role = cells.get("utterance") or below.with_suffix("").as_posix(), cells.get("role", "").lower()
    if role not in ("", ENROL, TRIAL):
        findings.add(NEITHER, f"{utterance} ({role})")
        role = ""
    yield Recording(
        utterance=utterance,
        speaker=f"{cells.get('corpus') or corpus_of(source)}:{cells['speaker']}",
        path=path,
        anonymized=cells.get("anonymized", ""),
        channel=cells.get("channel") or source,
        split=cells.get("split", "").lower(),
        role=role,
        text=text,
        language=re.split("[-_]", cells.get("language", "").lower())[0] or language_of(text),
        attributes={name: age_group(cells[name]) if name == "age" else cells[name] for name in ATTRIBUTES if cells.get(name)},
    )


def _once(found: list[Recording], findings: Findings) -> Iterator[Recording]:
    """Each file once, and each with a name of its own: where two share one, it is their paths."""
    names: dict[str, set[Path]] = {}
    for recording in found:
        names.setdefault(recording.utterance, set()).add(recording.path)
    seen: set[Path] = set()
    for recording in found:
        if recording.path in seen:
            findings.add(TWICE, recording.utterance)
            continue
        seen.add(recording.path)
        yield replace(recording, utterance=str(recording.path)) if len(names[recording.utterance]) > 1 else recording


def _alike(
    recording: Recording, places: Mapping[str, list[Path]], names: Mapping[str, list[Path]], often: Mapping[str, int]
) -> list[Path]:
    parts = fold(recording.path.with_suffix("").as_posix()).split("/")
    for start in range(len(parts) - 1):  # the longest end of its path that is a place below the folder
        if there := places.get("/".join(parts[start:])):
            return there
    for name in map(fold, sorted(_names(recording))):
        if often[name] == 1 and (there := names.get(name)):
            return there
    return []


def _names(recording: Recording) -> set[str]:
    return {PurePosixPath(recording.utterance).name, recording.path.stem}

"""Features and targets of many utterances end to end, as flat files that training maps into memory.

A pack is a folder: `mel.npy` (frames, 80) float16, `state.npy` and `pitch.npy` (frames,) uint8, `rows.csv` with the place of
each utterance. Pack 0 of a corpus is clean; each further one is another augmented copy of all of it. Features are the
streaming kernel's, so what is trained on is what is heard later.
"""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...engine.atomic import atomically
from ...engine.content import phones
from ...kernels import fbank
from ...kernels.jit import F32, F64
from . import pitch
from .align import Segment
from .augment import Augmenter
from .corpora import Utterance
from .journal import Journal

BANDS = 80
HOP, CENTRE = 160, 200  # samples: frame t is heard around sample 160 t + 200
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Row:
    """An utterance's place in a pack."""

    utterance: str
    speaker: str
    start: int
    frames: int


def read_rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return [Row(r["utterance"], r["speaker"], int(r["start"]), int(r["frames"])) for r in csv.DictReader(file)]


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in dataclasses.fields(Row)])
        writer.writeheader()
        writer.writerows(dataclasses.asdict(row) for row in rows)


@dataclass(frozen=True)
class Pack:
    """A pack on disk."""

    folder: Path

    @cached_property
    def mel(self) -> npt.NDArray[np.float16]:
        return np.load(self.folder / "mel.npy", mmap_mode="r")  # type: ignore[no-any-return]

    @cached_property
    def state(self) -> Bytes:
        return np.load(self.folder / "state.npy", mmap_mode="r")  # type: ignore[no-any-return]

    @cached_property
    def pitch(self) -> Bytes:
        return np.load(self.folder / "pitch.npy", mmap_mode="r")  # type: ignore[no-any-return]

    @cached_property
    def rows(self) -> list[Row]:
        return read_rows(self.folder / "rows.csv")


def states_at(segments: Sequence[Segment], times: npt.NDArray[np.float64]) -> Bytes:
    """The state spoken at each time in samples, rising; IGNORED outside all segments."""
    starts: list[int] = []
    names: list[int] = []
    for phone, *bounds in segments:
        number = phones.NUMBER[phone]
        for third in range(phones.THIRDS):
            starts.append(bounds[third])
            names.append(phones.state(number, third))
    if not starts:
        return np.full(len(times), phones.IGNORED, np.uint8)
    found = np.array(names, np.uint8)[np.maximum(np.searchsorted(starts, times, side="right") - 1, 0)]
    return np.where((times < starts[0]) | (times >= segments[-1][-1]), phones.IGNORED, found).astype(np.uint8)


def make(
    folder: Path,
    utterances: Sequence[Utterance],
    labels: dict[str, list[Segment]],
    augmenter: Augmenter | None,
    tracks: dict[str, F64],
    journal: Journal,
) -> Pack:
    """A pack of `utterances` in `folder`, clean without an augmenter; left as it is if it is there already.

    labels: segments by utterance. tracks: pitch of originals by utterance; what is missing is added, since finding it is most
    of the work of a copy.
    """
    if folder.exists():
        return Pack(folder)
    mels: list[npt.NDArray[np.float16]] = []
    states: list[Bytes] = []
    pitches: list[Bytes] = []
    rows: list[Row] = []
    start = 0
    for number, u in enumerate(journal.each(f"pack {folder.name}", utterances, len(utterances))):
        original = u.audio()
        samples, speed = original, 1.0
        if augmenter is not None:
            augmented = augmenter(original, number)
            samples, speed = augmented.samples, augmented.speed
        mel = fbank.offline(samples)
        if len(mel) == 0:
            continue
        times = speed * (HOP * np.arange(len(mel), dtype=np.float64) + CENTRE)
        if u.utterance not in tracks:
            tracks[u.utterance] = pitch.track(original)
        heard = tracks[u.utterance]
        at = np.clip(np.rint(times / HOP), 0, len(heard) - 1).astype(np.int64)
        mels.append(mel.astype(np.float16))
        states.append(states_at(labels.get(u.utterance, []), times))
        pitches.append(pitch.classes(heard[at] * speed))
        rows.append(Row(u.utterance, u.speaker, start, len(mel)))
        start += len(mel)
    with atomically(folder) as part:
        part.mkdir()
        np.save(part / "mel.npy", np.concatenate(mels))
        np.save(part / "state.npy", np.concatenate(states))
        np.save(part / "pitch.npy", np.concatenate(pitches))
        write_rows(part / "rows.csv", rows)
    return Pack(folder)


def babble_of(utterances: Sequence[Utterance], seed: int, count: int = 200) -> list[F32]:
    """Speech of `count` utterances, for `Augmenter`."""
    chosen = np.random.default_rng(seed).permutation(len(utterances))[:count]
    return [utterances[i].audio() for i in chosen]

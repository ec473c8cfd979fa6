"""What the decoder shall give: the vocoder's parameters of clean speech, with as many speakers as there are.

A pack of targets is a folder: `f0.npy` (frames,) float32 Hz, `envelope.npy` (frames, 64) and `noise.npy` (frames, 4) float16,
`rows.csv` with the place of each utterance. Frame t is heard about the centre of feature frame t. All speech has one level.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...engine.atomic import atomically
from ...kernels.jit import F32
from . import vocoding
from .corpora import TRAIN, Utterance
from .journal import Journal
from .packs import CENTRE, HOP, Row, read_rows, write_rows
from .vocoding import Targets

LEVEL = 10 ** (-26 / 20)  # RMS of the speech between its pauses
_LOUD = 10 ** (-15 / 10)  # power of speech, at least, against the loudest twentieth
_MOST = {
    "dspspeech20": 12.0,
    "picovoice_sti": 0.0,
    "speechocean762_train": 0.0,
}  # s of a speaker in one language; two are noisy
_MOST_OF_OTHERS = 150.0
_MOST_SYNTHETIC = 600.0  # seconds of synthetic speech in one language


@dataclass(frozen=True)
class TargetPack:
    """A pack of targets on disk."""

    folder: Path

    @cached_property
    def f0(self) -> F32:
        return np.load(self.folder / "f0.npy")  # type: ignore[no-any-return]

    @cached_property
    def envelope(self) -> npt.NDArray[np.float16]:
        return np.load(self.folder / "envelope.npy", mmap_mode="r")  # type: ignore[no-any-return]

    @cached_property
    def noise(self) -> npt.NDArray[np.float16]:
        return np.load(self.folder / "noise.npy", mmap_mode="r")  # type: ignore[no-any-return]

    @cached_property
    def rows(self) -> list[Row]:
        return read_rows(self.folder / "rows.csv")

    def of(self, row: Row) -> Targets:
        """The parameters of one utterance."""
        span = slice(row.start, row.start + row.frames)
        return Targets(self.f0[span], self.envelope[span].astype(np.float32), self.noise[span].astype(np.float32))


def chosen(utterances: Sequence[Utterance], split: str, seed: int) -> list[Utterance]:
    """Clean speech of a split, drawn by `seed`: of a speaker at most as much as `_MOST` says, of dev ones a fifth of that."""
    part = 1.0 if split == TRAIN else 0.2
    order = np.random.default_rng(seed).permutation(len(utterances))
    taken: defaultdict[tuple[str, str], float] = defaultdict(float)
    found: list[int] = []
    for i in order:
        u = utterances[i]
        by_speaker, by_language = (u.speaker, u.language), (u.source, u.language)
        if u.split != split or taken[by_speaker] + u.seconds > part * _MOST.get(u.source, _MOST_OF_OTHERS):
            continue
        if u.source == "synth" and taken[by_language] > part * _MOST_SYNTHETIC:
            continue
        taken[by_speaker] += u.seconds
        taken[by_language] += u.seconds
        found.append(int(i))
    return [utterances[i] for i in sorted(found)]


def make(folder: Path, utterances: Sequence[Utterance], journal: Journal) -> TargetPack:
    """A pack of `utterances` in `folder`; left as it is if it is there already."""
    if folder.exists():
        return TargetPack(folder)
    parts: list[Targets] = []
    rows: list[Row] = []
    start = 0
    for u in journal.each(f"targets {folder.name}", utterances, len(utterances)):
        samples = levelled(u.audio())
        frames = (len(samples) - 2 * CENTRE) // HOP + 1
        if frames < 1:
            continue
        all_of_it = vocoding.analyse(samples[CENTRE:])
        parts.append(Targets(all_of_it.f0[:frames], all_of_it.envelope[:frames], all_of_it.noise[:frames]))
        rows.append(Row(u.utterance, u.speaker, start, frames))
        start += frames
    with atomically(folder) as part:
        part.mkdir(parents=True)
        np.save(part / "f0.npy", np.concatenate([p.f0 for p in parts]))
        np.save(part / "envelope.npy", np.concatenate([p.envelope for p in parts]).astype(np.float16))
        np.save(part / "noise.npy", np.concatenate([p.noise for p in parts]).astype(np.float16))
        write_rows(part / "rows.csv", rows)
    return TargetPack(folder)


def levelled(samples: F32) -> F32:
    """Speech at RMS LEVEL between its pauses."""
    power = np.square(samples[: len(samples) // HOP * HOP], dtype=np.float64).reshape(-1, HOP).mean(1)
    loud = power[power > _LOUD * np.quantile(power, 0.95)]
    return np.asarray(samples * np.float32(LEVEL / max(np.sqrt(loud.mean()), 1e-6)) if len(loud) else samples)

"""The voices that the decoder learns: the training speakers', and more made of them.

A variant moves the formants, the pitch and the slope of the spectrum of all that a group of utterances says, and its private
vector is measured on the vocoder's copy: as the decoder shall give it, so that what is asked for and what is heard of it agree.
There are as many voices as groups times variants, which 16 dimensions need to be filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from ...engine.atomic import atomically
from ...engine.embedding import RATE, embed
from ...kernels.jit import F32
from ...kernels.vocoder import BANDS, MEL, centres, interpolation
from .journal import Journal
from .packs import Row
from .targets import TargetPack
from .vocoding import Targets
from .whiten import DIMENSIONS, Projection

GROUP = 800  # frames of speech for a vector, where a speaker has as many
_WARP, _SHIFT, _TILT = (
    0.16,
    0.3,
    0.6,
)  # largest: ln of formants, ln of F0 beyond what formants bring, nats over half of the bands
_FOLLOWS = 1.5  # ln of F0 for one ln of formants
_LOWEST, _HIGHEST = 75.0, 300.0  # Hz, of a voice's mean F0


@dataclass(frozen=True)
class Change:
    """What makes one voice of another."""

    warp: float = 0.0  # ln of the factor of all frequencies of the envelope
    shift: float = 0.0  # ln of the factor of F0
    tilt: float = 0.0  # nats that the highest band gains and the lowest loses

    def __call__(self, of: Targets) -> Targets:
        return Targets(of.f0 * np.float32(np.exp(self.shift)), changed(of.envelope, self.warp, self.tilt), of.noise)


def changed(envelope: F32, warp: float, tilt: float) -> F32:
    """(..., BANDS) with all frequencies exp(warp) times higher, and with a slope."""
    below, part = interpolation(centres(), np.minimum(centres() * np.exp(-warp), centres()[-1]), MEL)
    moved = envelope[..., below] + part.astype(np.float32) * (envelope[..., below + 1] - envelope[..., below])
    return np.asarray(moved + np.linspace(-tilt, tilt, BANDS, dtype=np.float32), np.float32)


@dataclass(frozen=True)
class Voices:
    """A variant on disk."""

    folder: Path

    @cached_property
    def vectors(self) -> F32:
        """(groups, DIMENSIONS): the voice of each group, of norm sqrt(DIMENSIONS); zeros where there is too little speech."""
        return np.load(self.folder / "vectors.npy")  # type: ignore[no-any-return]

    @cached_property
    def changes(self) -> list[Change]:
        """Of each group."""
        return [Change(*row) for row in np.load(self.folder / "changes.npy").tolist()]


def projection(graph: Path) -> Projection:
    """The one in noise.onnx."""
    constants = {c.name: numpy_helper.to_array(c) for c in onnx.load(str(graph)).graph.initializer}
    return Projection(constants["mean"].astype(np.float32), constants["projection"].astype(np.float32), float("nan"))


def private(embeddings: F32, project: Projection) -> F32:
    """(..., 256) to (..., DIMENSIONS), of norm sqrt(DIMENSIONS)."""
    x = project(embeddings)
    return np.asarray(x * np.sqrt(DIMENSIONS) / np.linalg.norm(x, axis=-1, keepdims=True), np.float32)


def groups(rows: Sequence[Row]) -> list[list[int]]:
    """Rows of one speaker that follow each other, GROUP frames or what there is."""
    found: list[list[int]] = []
    frames = 0
    for i, row in enumerate(rows):
        if not found or frames >= GROUP or rows[found[-1][0]].speaker != row.speaker:
            found.append([])
            frames = 0
        found[-1].append(i)
        frames += row.frames
    return found


def draw(random: np.random.Generator, pitch: float) -> Change:
    """A change for a voice of mean F0 `pitch`, Hz."""
    warp = random.uniform(-_WARP, _WARP)
    shift = _FOLLOWS * warp + random.uniform(-_SHIFT, _SHIFT)
    shift = np.clip(shift, min(np.log(_LOWEST / pitch), 0), max(np.log(_HIGHEST / pitch), 0))
    return Change(warp, float(shift), random.uniform(-_TILT, _TILT))


def make(folder: Path, pack: TargetPack, project: Projection, seed: int | None, journal: Journal) -> Voices:
    """A variant in `folder`, the speakers' own voices without a seed; left as it is if it is there already."""
    if folder.exists():
        return Voices(folder)
    found = groups(pack.rows)
    vectors, changes = np.zeros((len(found), DIMENSIONS), np.float32), np.zeros((len(found), 3))
    for number, group in enumerate(journal.each(f"voices {folder.name}", found, len(found))):
        said = joined([pack.of(pack.rows[i]) for i in group])
        change = Change()
        if seed is not None and (said.f0 > 0).any():
            change = draw(np.random.default_rng([seed, number]), float(said.f0[said.f0 > 0].mean()))
        try:
            vectors[number] = private(embed(change(said).sound(), RATE), project)
        except ValueError:  # too little speech
            continue
        changes[number] = change.warp, change.shift, change.tilt
    with atomically(folder) as part:
        part.mkdir(parents=True)
        np.save(part / "vectors.npy", vectors)
        np.save(part / "changes.npy", changes)
    return Voices(folder)


def joined(parts: Sequence[Targets]) -> Targets:
    """One after the other, the first GROUP frames of each."""
    cut = slice(GROUP)
    arrays: list[npt.NDArray[np.float32]] = [
        np.concatenate([x[cut] for x in xs]) for xs in zip(*((p.f0, p.envelope, p.noise) for p in parts), strict=True)
    ]
    return Targets(arrays[0], arrays[1], arrays[2])

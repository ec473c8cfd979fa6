"""Random pieces of the packs, with what is cheap to change each time: vocal tract length, missing bands and moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ...engine.content import phones
from ...kernels.jit import F32, F64
from . import pitch
from .packs import BANDS, Pack
from .student import features

_WARP = float(np.log(1.18))  # of the frequency axis, either way
_LOW, _HIGH = 20.0, 8000.0  # Hz, ends of the mel scale


@dataclass(frozen=True)
class Batch:
    """features (batch, frames, BANDS) float32; state and pitch (batch, frames) int64 with IGNORED where nothing is known."""

    features: Tensor
    state: Tensor
    pitch: Tensor


class Sampler:
    """Batches from groups of packs; a batch depends on these, the seed and its number only."""

    def __init__(self, groups: Sequence[tuple[float, Sequence[Pack]]], frames: int, batch: int, seed: int) -> None:
        """groups: weight and packs each; a piece comes from a group by weight, from its packs by their length.

        A row is as likely as pieces fit in, and one shorter than a piece as one that fills it: each frame is heard as often.
        """
        self._frames, self._batch, self._seed = frames, batch, seed
        self._packs = [pack for _, packs in groups for pack in packs]
        share: list[float] = []
        for weight, packs in groups:
            sizes = np.array([len(pack.state) for pack in packs], float)
            share += list(weight * sizes / sizes.sum())
        self._share = np.array(share) / sum(share)
        self._rows = [np.cumsum([max(1.0, row.frames / frames) for row in pack.rows]) for pack in self._packs]

    def __call__(self, number: int) -> Batch:
        random = np.random.default_rng([self._seed, number])
        mel = np.zeros((self._batch, self._frames, BANDS), np.float32)
        state = np.full((self._batch, self._frames), phones.IGNORED, np.uint8)
        tone = np.full((self._batch, self._frames), pitch.IGNORED, np.uint8)
        for b, which in enumerate(random.choice(len(self._packs), self._batch, p=self._share)):
            pack, at = self._packs[which], 0
            while at < self._frames:  # short utterances are joined
                likely = self._rows[which]
                row = pack.rows[np.searchsorted(likely, random.random() * likely[-1], side="right")]
                first = row.start if at else row.start + max(0, random.integers(row.frames) - self._frames // 2)
                last = min(first + self._frames - at, row.start + row.frames)
                here, there = slice(at, at + last - first), slice(first, last)
                mel[b, here], state[b, here], tone[b, here] = pack.mel[there], pack.state[there], pack.pitch[there]
                at += last - first
        warp = np.where(random.random(self._batch) < 0.6, random.uniform(-_WARP, _WARP, self._batch), 0.0)
        mel = warped(mel, np.exp(warp))
        heard = np.stack([features(piece) for piece in mel])
        shift = np.rint(warp / pitch.STEP)[:, None]
        known = (tone > 0) & (tone < pitch.IGNORED)
        tone = np.where(known, np.clip(tone + shift, 1, pitch.PITCHES), tone)
        _mask(random, heard)
        return Batch(torch.from_numpy(heard), torch.from_numpy(state.astype(np.int64)), torch.from_numpy(tone.astype(np.int64)))


def warped(mel: F32, factor: F64) -> F32:
    """mel (batch, frames, BANDS) as of a voice whose frequencies are `factor` (batch,) times higher."""
    low, high = _mel(_LOW), _mel(_HIGH)
    centres = low + (high - low) / (BANDS + 1) * np.arange(1, BANDS + 1)
    hertz = 700 * np.expm1(centres / 1127)
    place = (_mel(hertz / factor[:, None]) - low) * (BANDS + 1) / (high - low) - 1
    place = np.clip(place, 0, BANDS - 1)
    left = np.minimum(place.astype(np.int64), BANDS - 2)
    part = (place - left).astype(np.float32)[:, None]
    index = np.broadcast_to(left[:, None], mel.shape)
    below, above = np.take_along_axis(mel, index, 2), np.take_along_axis(mel, index + 1, 2)
    return np.asarray(below + part * (above - below))


def _mel(hertz: float | F64) -> F64:
    return np.asarray(1127 * np.log1p(hertz / 700))


def _mask(random: np.random.Generator, features: F32) -> None:
    """SpecAugment (Park et al. 2019): bands and moments of half of the pieces are set to their mean."""
    batch, frames, _ = features.shape
    for b in np.flatnonzero(random.random(batch) < 0.5):
        mean = features[b].mean()
        for _ in range(2):
            band, width = random.integers(BANDS), random.integers(1, 9)
            features[b, :, band : band + width] = mean
        for _ in range(max(1, frames // 150)):
            moment, width = random.integers(frames), random.integers(1, 10)
            features[b, moment : moment + width] = mean

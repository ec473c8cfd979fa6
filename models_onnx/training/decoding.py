"""Training of the decoder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ...kernels.vocoder import BANDS
from .checkpoint import save
from .decoder import NOISES, PLAIN, Decoder, Shape, Spoken, load
from .hearing import LATES, Hearing, content
from .journal import Journal
from .loop import Plan, Task, train
from .student import PAIR
from .targets import TargetPack
from .voices import Voices, changed, groups

_QUIET, _LOUD = -18.0, -8.0  # nats of a frame's mean power: below one it counts _LITTLE, above the other 1
_LITTLE = 0.1
_VALIDATED = 4  # batches of a dev pack
_FAR = 2**40  # number of a batch that no step reaches
_TONE = 0.1  # nats of F0 that cost as much as one of power


@dataclass(frozen=True)
class Piece:
    """A batch of pieces: what the decoder takes, and what it shall give; (batch, frames, ...)."""

    content: Tensor
    prosody: Tensor
    voice: Tensor  # (batch, VOICE)
    f0: Tensor
    envelope: Tensor
    noise: Tensor
    weight: Tensor  # (batch, frames): 0 beyond the end


class Pieces:
    """Batches of what one speaker says in one go; a batch depends on the seed and its number only."""

    def __init__(
        self,
        pack: TargetPack,
        hearings: Sequence[Hearing],
        voices: Sequence[Voices],
        late: int,
        frames: int,
        batch: int,
        seed: int,
    ) -> None:
        self._pack, self._hearings, self._voices = pack, hearings, voices
        self._late, self._frames, self._batch, self._seed = late, frames, batch, seed
        spans = [(pack.rows[g[0]].start, pack.rows[g[-1]].start + pack.rows[g[-1]].frames) for g in groups(pack.rows)]
        self._spans = np.array(spans)
        length = np.diff(self._spans)[:, 0].astype(float)
        self._share = length / length.sum()

    def __call__(self, number: int) -> Piece:
        random = np.random.default_rng([self._seed, number])
        n, frames = self._batch, self._frames
        states, known = (np.zeros((n, frames, *self._hearings[0].phones.shape[1:]), np.uint8) for _ in range(2))
        prosody = np.zeros((n, frames, self._hearings[0].prosody.shape[-1]), np.float32)
        voice = np.zeros((n, self._voices[0].vectors.shape[1]), np.float32)
        f0, weight = np.zeros((n, frames), np.float32), np.zeros((n, frames), np.float32)
        envelope, noise = np.zeros((n, frames, BANDS), np.float32), np.zeros((n, frames, NOISES), np.float32)
        for b, group in enumerate(random.choice(len(self._spans), n, p=self._share)):
            hearing = self._hearings[int(random.integers(len(self._hearings)))]
            spoken = self._voices[int(random.integers(len(self._voices)))]
            first, end = self._spans[group]
            start = first + PAIR * random.integers(max(1, (end - first - frames) // PAIR + 1))
            there = slice(start, min(start + frames, end))
            here = slice(0, there.stop - start)
            states[b, here], known[b, here] = hearing.states[there], hearing.phones[there]
            prosody[b, here] = hearing.prosody[there, LATES.index(self._late)]
            voice[b], change = spoken.vectors[group], spoken.changes[group]
            f0[b, here] = self._pack.f0[there] * np.exp(change.shift)
            envelope[b, here] = changed(self._pack.envelope[there].astype(np.float32), change.warp, change.tilt)
            noise[b, here] = self._pack.noise[there]
            weight[b, here] = voice[b].any()
        loud = (envelope.mean(-1) - _QUIET) / (_LOUD - _QUIET)
        weight *= np.clip(loud, _LITTLE, 1)
        arrays = (prosody, voice, f0, envelope, noise, weight)
        return Piece(content(states, known, self._late), *(torch.from_numpy(a) for a in arrays))


def loss_of(said: Spoken, piece: Piece) -> dict[str, Tensor]:
    """Parts of the loss, which are to be added."""
    weight = piece.weight / piece.weight.sum()
    voiced = (piece.f0 > 0).float()
    sung = voiced * piece.weight
    sung = sung / sung.sum().clamp(min=1.0)
    tone = (said.tone - piece.f0.clamp(min=1.0).log()).abs()
    noise = functional.binary_cross_entropy_with_logits(said.noise, piece.noise.clamp(0, 1), reduction="none").mean(-1)
    return {
        "envelope": ((said.envelope - piece.envelope).abs().mean(-1) * weight).sum(),
        "voiced": (functional.binary_cross_entropy_with_logits(said.voiced, voiced, reduction="none") * weight).sum(),
        "tone": (tone * sung).sum() / _TONE,
        "noise": (noise * sung).sum(),
    }


def fit(
    folder: Path, plan: Plan, shape: Shape, pieces: Pieces, dev: Pieces, journal: Journal, batches: int = _VALIDATED
) -> None:
    """Train in `folder` until plan.steps: `loop.train`, with the best one by the loss on `batches` batches of `dev`."""

    def begin() -> Decoder:
        decoder = Decoder(shape)
        _measure(decoder, pieces)
        return decoder

    def loss(decoder: Decoder, step: int) -> Tensor:
        piece = pieces(step)
        return torch.stack(list(loss_of(_say(decoder, piece), piece).values())).sum()

    def score(decoder: Decoder) -> tuple[float, str]:
        found: dict[str, float] = defaultdict(float)
        for number in range(batches):
            piece = dev(number)
            with torch.no_grad():
                for name, part in loss_of(_say(decoder, piece), piece).items():
                    found[name] += part.item() / batches
        return -sum(found.values()), "dev " + " ".join(f"{name} {part:.3f}" for name, part in found.items())

    train(folder, plan, Task(folder.name, begin, save, load, loss, score), journal)


def _say(decoder: Decoder, piece: Piece) -> Spoken:
    with torch.autocast("cpu", torch.bfloat16):
        said: Spoken = decoder(piece.content, piece.prosody, piece.voice, decoder.fresh(len(piece.voice)), PLAIN)[0]
    return said


def _measure(decoder: Decoder, pieces: Pieces) -> None:
    """The mean spectrum, from a few batches."""
    batches = [pieces(_FAR + n) for n in range(8)]
    known = torch.cat([piece.weight.flatten() for piece in batches]) == 1
    decoder.traits.bias.data[2:] = torch.cat([piece.envelope.flatten(0, 1) for piece in batches])[known].mean(0)

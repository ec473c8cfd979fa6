"""What the decoder will hear: the student's content and the prosody of the speech that it is trained to make again.

On speakers that the student was trained on it is surer than on others. So it hears each utterance with another room,
equaliser, noise and length of the vocal tract, at unchanged times, several times over; rows of a variant are those of the
targets. A content is kept as its three classes and their levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from scipy.signal import fftconvolve
from torch import Tensor

from ...engine.atomic import atomically
from ...engine.content.phones import PHONES, STATES
from ...kernels import fbank, prosody
from ...kernels.jit import F32
from .augment import path, restless, rms, steady
from .batches import warped
from .content import KEPT, LEVELS
from .corpora import Utterance
from .encoder import Encoded, encoded
from .journal import Journal
from .packs import Bytes, Row
from .student import LATE, PAIR, SOON, Outputs, Student, features

LATES = (LATE, SOON)  # of the balanced and of the low decoder
_BATCH = 16
_SNR = (5.0, 30.0)  # dB
_WARP = float(np.log(1.15))


@dataclass(frozen=True)
class Hearing:
    """A variant on disk; row t is about frame t in all of them."""

    folder: Path

    @cached_property
    def states(self) -> Bytes:
        """(frames, 2, KEPT): classes and levels."""
        return np.load(self.folder / "states.npy")  # type: ignore[no-any-return]

    @cached_property
    def phones(self) -> Bytes:
        return np.load(self.folder / "phones.npy")  # type: ignore[no-any-return]

    @cached_property
    def prosody(self) -> npt.NDArray[np.float16]:
        """(frames, len(LATES), 3)."""
        return np.load(self.folder / "prosody.npy")  # type: ignore[no-any-return]


def content(states: Bytes, known: Bytes, late: int) -> Tensor:
    """What the decoder takes, (..., frames, classes), of states and phones of the same frames, (..., frames, 2, KEPT) each.

    late: LATE gives the states and the phones that are known by then, of later frames; SOON the phones alone.
    """
    ahead = late - SOON
    parts = [_dense(known, len(PHONES))]
    if ahead:
        padded = np.concatenate([known[..., ahead:, :, :], np.repeat(known[..., -1:, :, :], ahead, -3)], -3)
        parts = [_dense(states, STATES), _dense(padded, len(PHONES))]
    return torch.cat(parts, -1)


def _dense(kept: Bytes, classes: int) -> Tensor:
    where, level = torch.from_numpy(kept.astype(np.int64)).unbind(-2)
    return torch.zeros(*where.shape[:-1], classes).scatter(-1, where, level / (LEVELS - 1.0))


def _sparse(dense: Tensor) -> Bytes:
    level, where = dense.topk(KEPT, -1)
    return torch.stack((where, torch.round(level * (LEVELS - 1)).long()), -2).numpy().astype(np.uint8)


def hear(student: Student, mels: Sequence[F32]) -> list[tuple[Bytes, Bytes, F32]]:
    """For each utterance's features (frames, BANDS): states, phones and prosody of every frame, as `Hearing` has them."""
    longest = max(map(len, mels)) + LATE
    longest += longest % PAIR
    padded = np.stack([np.pad(mel, ((0, longest - len(mel)), (0, 0)), "edge") for mel in mels])
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        outputs, _ = student(torch.from_numpy(np.stack([features(mel) for mel in padded])), student.fresh(len(mels)))
    heard = encoded(Outputs(*(o.float() for o in outputs)), torch.from_numpy(padded))
    return [_aligned(Encoded(*(part[b] for part in heard)), len(mel)) for b, mel in enumerate(mels)]


def _aligned(heard: Encoded, frames: int) -> tuple[Bytes, Bytes, F32]:
    end = frames + LATE
    states = _sparse(heard.content[LATE:end, :STATES])
    known = _sparse(heard.content[SOON : frames + SOON, STATES:])
    said = [part[:end].numpy() for part in (heard.pitch, heard.voicing, heard.energy)]
    followed = [prosody.offline(said[0], said[1], said[2], late)[late : frames + late] for late in LATES]
    return states, known, np.stack(followed, 1)


def make(
    folder: Path, student: Student, utterances: dict[str, Utterance], rows: Sequence[Row], seed: int | None, journal: Journal
) -> Hearing:
    """A variant for the rows of a pack of targets, unharmed without a seed; left as it is if the folder is there already."""
    if folder.exists():
        return Hearing(folder)
    frames = rows[-1].start + rows[-1].frames
    states, known = (np.zeros((frames, 2, KEPT), np.uint8) for _ in range(2))
    followed = np.zeros((frames, len(LATES), prosody.FEATURES), np.float16)
    order = sorted(range(len(rows)), key=lambda i: rows[i].frames)
    batches = [order[i : i + _BATCH] for i in range(0, len(order), _BATCH)]
    for batch in journal.each(f"hearing {folder.name}", batches, len(batches)):
        mels = []
        for i in batch:
            samples = utterances[rows[i].utterance].audio()
            clear = seed is None
            mel = fbank.offline(samples) if clear else harmed(samples, np.random.default_rng([seed or 0, i]))
            mels.append(mel[: rows[i].frames])
        for i, parts in zip(batch, hear(student, mels), strict=True):
            span = slice(rows[i].start, rows[i].start + rows[i].frames)
            states[span], known[span], followed[span] = parts
    with atomically(folder) as part:
        part.mkdir(parents=True)
        for name, values in (("states", states), ("phones", known), ("prosody", followed)):
            np.save(part / f"{name}.npy", values)
    return Hearing(folder)


def harmed(samples: F32, random: np.random.Generator) -> F32:
    """Features (frames, BANDS) of speech heard elsewhere and from another mouth."""
    x = fftconvolve(samples, path(random, room=random.random() < 0.4))[: len(samples)]
    if random.random() < 0.7:
        disturbance = (steady, restless)[random.integers(2)](random, len(x), [])
        x = x + disturbance * (rms(x) / max(rms(disturbance), 1e-9) * 10 ** (-random.uniform(*_SNR) / 20))
    mel = fbank.offline(np.asarray(x, np.float32))
    return np.asarray(warped(mel[None], np.exp(random.uniform(-_WARP, _WARP, 1)))[0])

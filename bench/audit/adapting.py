"""Training of `adapted`: speaker.onnx as a network of PyTorch, taught to tell speakers of anonymized speech apart.

Speakers are classes; the cosine of a window's vector with its class is lowered by a margin before the softmax (F. Wang et al.,
"Additive margin softmax for face verification", 2018). A class begins as the mean vector of its speaker, so the encoder begins
as what it is. Batches follow from seed and step alone, so that an interrupted training ends as one that was not.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from torch import Tensor, nn

from ... import models_onnx
from ...engine.atomic import atomically
from ...engine.embedding import LEAST, MELS, RATE, SIZE, mel_windows, spoken
from ...kernels.jit import F32, I64
from ...models_onnx.training import speaker

BATCH = 48  # windows, each of another speaker where there are so many
_RATE, _CLASS_RATE = 3e-4, 1e-2  # of learning: of the network, and of the classes
_WARM, _FALL = 20, 0.5  # steps until they are reached, and last part of all steps, in which they fall to 0
_SCALE, _MARGIN = 30.0, 0.1  # of the cosine
_FIRST = 6  # windows of a speaker that his class begins as
_LEAST_SPEAKERS = 3
_SAVE_EVERY = 25  # steps


class Encoder(nn.Module):
    """speaker.onnx: windows of mel energies, shape (n, FRAMES, MELS), to vectors of norm 1, (n, SIZE)."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(MELS, SIZE, num_layers=3, batch_first=True)
        self.linear = nn.Linear(SIZE, SIZE)

    def forward(self, mels: Tensor) -> Tensor:
        last = self.lstm(mels)[1][0][-1]
        return nn.functional.normalize(torch.relu(self.linear(last)), dim=1)

    def graph(self) -> bytes:
        weights = {name: np.asarray(value.numpy(), np.float32) for name, value in self.state_dict().items()}
        return bytes(speaker.graph(weights).SerializeToString(deterministic=True))


def shipped() -> Encoder:
    """The one that comes with velavox."""
    encoder = Encoder()
    kept = (resources.files(models_onnx) / "speaker.onnx").read_bytes()
    weights = speaker.weights_of(onnx.load_from_string(kept))
    encoder.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights.items()})
    return encoder


def train(
    speech: Sequence[tuple[str, F32]], folder: Path, steps: int, seed: int, say: Callable[[str], None], batch: int = BATCH
) -> bytes:
    """The graph of the adapted encoder, as `adapted.adapt` says."""
    windows, owner, names = _windows(speech)
    made = _digest(speech, steps, seed, batch)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"adapting-{made[:16]}.pt"
    encoder, classes, optimizer, begun = _begin(path, windows, owner, len(names))
    rates = [group["lr"] for group in optimizer.param_groups]
    total, seen = 0.0, 0
    for step in range(begun, steps):
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * _part(step, steps)
        chosen = _draw(owner, len(names), batch, np.random.default_rng([seed, step]))
        loss = _loss(encoder(torch.from_numpy(windows[chosen])), torch.from_numpy(owner[chosen]), classes)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(encoder.parameters(), 1.0, error_if_nonfinite=True)
        optimizer.step()
        total, seen = total + loss.item(), seen + 1
        if (step + 1) % _SAVE_EVERY == 0 or step + 1 == steps:
            _keep(path, encoder, classes, optimizer, rates, step + 1)
            say(f"adapting the speaker encoder to {len(names)} speakers: step {step + 1} of {steps}, loss {total / seen:.2f}")
            total, seen = 0.0, 0
    return encoder.graph()


def _windows(speech: Sequence[tuple[str, F32]]) -> tuple[F32, I64, list[str]]:
    """Windows of all who are heard twice or more, shape (n, FRAMES, MELS), whose each is, and the names.

    Who is heard once would teach that the voice that the anonymizer drew is the speaker: with 208 of them beside the 59
    speakers that `adapted` speaks of, the EER is 10.7 %, not 8.0.
    """
    often = Counter(name for name, _ in speech)
    found: list[F32] = []
    owners: list[str] = []
    for name, samples in speech:
        heard = spoken(samples) if often[name] > 1 else samples[:0]
        if len(heard) >= LEAST * RATE:
            found.append(np.concatenate(list(mel_windows(heard))))
            owners += [name] * len(found[-1])
    names = sorted(set(owners))
    if len(names) < _LEAST_SPEAKERS:
        raise ValueError(f"{len(names)} speakers with two utterances or more: give {_LEAST_SPEAKERS} or more, better fifty")
    return np.concatenate(found), np.searchsorted(names, owners).astype(np.int64), names


def _digest(speech: Sequence[tuple[str, F32]], *more: int) -> str:
    digest = hashlib.sha256(repr(more).encode())
    for name, samples in speech:
        digest.update(name.encode() + np.ascontiguousarray(samples).tobytes())
    return digest.hexdigest()


def _begin(path: Path, windows: F32, owner: I64, count: int) -> tuple[Encoder, nn.Parameter, torch.optim.Optimizer, int]:
    encoder = shipped()
    saved: dict[str, Any] = torch.load(path, weights_only=True) if path.exists() else {}
    classes = nn.Parameter(saved["classes"] if saved else _classes(encoder, windows, owner, count))
    groups = [{"params": list(encoder.parameters()), "lr": _RATE}, {"params": [classes], "lr": _CLASS_RATE}]
    optimizer = torch.optim.Adam(groups)
    if saved:
        encoder.load_state_dict(saved["encoder"])
        optimizer.load_state_dict(saved["optimizer"])
    return encoder, classes, optimizer, int(saved.get("step", 0))


def _classes(encoder: Encoder, windows: F32, owner: I64, count: int) -> Tensor:
    """The mean vector of each speaker, shape (count, SIZE)."""
    rows = []
    with torch.no_grad():
        for c in range(count):
            own = np.flatnonzero(owner == c)
            first = own[np.linspace(0, len(own) - 1, min(_FIRST, len(own))).astype(int)]
            rows.append(encoder(torch.from_numpy(windows[first])).mean(0))
    return torch.stack(rows)


def _draw(owner: I64, count: int, batch: int, random: np.random.Generator) -> npt.NDArray[np.intp]:
    """A window of each of `batch` speakers, no one twice before all have come once."""
    people = np.concatenate([random.permutation(count) for _ in range(-(-batch // count))])[:batch]
    return np.array([random.choice(np.flatnonzero(owner == c)) for c in people])


def _loss(vectors: Tensor, owner: Tensor, classes: Tensor) -> Tensor:
    cosines = vectors @ nn.functional.normalize(classes, dim=1).T
    margin = _MARGIN * nn.functional.one_hot(owner, len(classes))
    return nn.functional.cross_entropy(_SCALE * (cosines - margin), owner)


def _part(step: int, steps: int) -> float:
    """Of the rate of learning, at this step."""
    return min(1.0, (step + 1) / _WARM, (steps - step) / (steps * _FALL))


def _keep(
    path: Path, encoder: Encoder, classes: Tensor, optimizer: torch.optim.Optimizer, rates: Sequence[float], step: int
) -> None:
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = rate
    saved = {"encoder": encoder.state_dict(), "classes": classes.detach(), "optimizer": optimizer.state_dict(), "step": step}
    with atomically(path) as part:
        torch.save(saved, part)

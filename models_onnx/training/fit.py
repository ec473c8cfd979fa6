"""Training of the student: frame cross-entropy of states, phones and pitch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from ...engine.content import phones
from . import pitch
from .batches import Batch, Sampler
from .checkpoint import save
from .evaluate import accuracy
from .journal import Journal
from .loop import Plan, Task, train
from .packs import Pack
from .student import LATE, SOON, Outputs, Shape, Student, load

_VALIDATED = 120  # utterances of a dev pack
_FAR = 2**40  # number of a batch that no step reaches
_PITCH_WEIGHT, _PHONE_WEIGHT = 0.3, 0.5
_BLUR = (0.1, 0.2, 0.4, 0.2, 0.1)  # of a pitch class over its neighbours
_PHONE = torch.from_numpy(phones.phone_of_state())


def fit(folder: Path, plan: Plan, shape: Shape, sampler: Sampler, dev: Sequence[tuple[str, Pack]], journal: Journal) -> None:
    """Train in `folder` until plan.steps: `loop.train`, with the best one on the packs `dev`."""

    def begin() -> Student:
        student = Student(shape)
        _measure(student, sampler)
        return student

    def loss(student: Student, step: int) -> Tensor:
        batch = sampler(step)
        with torch.autocast("cpu", torch.bfloat16):
            outputs, _ = student(batch.features, student.fresh(len(batch.features)))
        return loss_of(outputs, batch)

    def score(student: Student) -> tuple[float, str]:
        scores = {name: accuracy(student, pack, most=_VALIDATED) for name, pack in dev}
        mean = sum(score.late for score in scores.values()) / max(len(scores), 1)
        return mean, "; ".join(f"{name} {score}" for name, score in scores.items())

    train(folder, plan, Task("student", begin, save, load, loss, score), journal)


def loss_of(outputs: Outputs, batch: Batch) -> Tensor:
    """Cross-entropy of states, phones and pitch, in nats a frame."""
    state = batch.state[:, :-LATE]
    known = batch.state != phones.IGNORED
    phone = torch.where(known, _PHONE[batch.state.clamp(max=phones.STATES - 1)], phones.IGNORED)[:, :-SOON]
    total = _cross_entropy(outputs.states[:, LATE:], state, phones.IGNORED)
    total = total + _PHONE_WEIGHT * _cross_entropy(outputs.phones[:, SOON:], phone, phones.IGNORED)
    return total + _PITCH_WEIGHT * _pitch_loss(outputs.pitch[:, SOON:], batch.pitch[:, :-SOON])


def _cross_entropy(logits: Tensor, target: Tensor, ignored: int) -> Tensor:
    return functional.cross_entropy(logits.flatten(0, 1).float(), target.flatten(), ignore_index=ignored)


def _pitch_loss(logits: Tensor, target: Tensor) -> Tensor:
    """With the target spread over neighbouring classes, but not over "unvoiced"."""
    known = target != pitch.IGNORED
    logs, target = functional.log_softmax(logits[known].float(), -1), target[known]
    voiced = target > 0
    total = -logs[~voiced, 0].sum()
    for offset, part in enumerate(_BLUR, -(len(_BLUR) // 2)):
        near = (target[voiced] + offset).clamp(1, pitch.PITCHES)
        total = total - part * logs[voiced].gather(1, near[:, None]).sum()
    return total / max(len(target), 1)


def _measure(student: Student, sampler: Sampler) -> None:
    """Scale of the features, from a few batches."""
    features = torch.cat([sampler(_FAR + n).features.flatten(0, 1) for n in range(8)])
    student.scale.copy_(1 / features.std(0))

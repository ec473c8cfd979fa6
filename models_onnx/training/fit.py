"""Training of the student: frame cross-entropy, AdamW, averaged weights, checkpoints every few minutes.

The rate rises, stays, and falls to zero over the last quarter of the steps. `plateau.pt` is the state before it falls: asked
for more steps later, training goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from . import phones, pitch
from .batches import Batch, Sampler
from .evaluate import accuracy
from .journal import Journal
from .packs import Pack
from .student import LATE, SOON, Outputs, Shape, Student, load, save

_SAVE_EVERY = 180.0  # s
_WARM, _FALL = 400, 0.25  # steps; part of all steps
_AVERAGE = 0.998  # of the averaged weights, a step
_VALIDATED = 120  # utterances of a dev pack
_FAR = 2**40  # number of a batch that no step reaches
_PITCH_WEIGHT, _PHONE_WEIGHT = 0.3, 0.5
_BLUR = (0.1, 0.2, 0.4, 0.2, 0.1)  # of a pitch class over its neighbours
_PHONE = torch.from_numpy(phones.phone_of_state())


@dataclass(frozen=True)
class Plan:
    """How to train."""

    steps: int
    rate: float = 2e-3
    decay: float = 0.02
    validate_every: int = 500
    seed: int = 0  # of the first weights


def fit(folder: Path, plan: Plan, shape: Shape, sampler: Sampler, dev: Sequence[tuple[str, Pack]], journal: Journal) -> None:
    """Train in `folder` until plan.steps: the averaged weights that were best on `dev` to `best.pt`, all else to `last.pt`."""
    student, average, optimizer, done, best = _begin(folder, plan, shape, sampler, journal)
    saved = time.monotonic()
    losses: list[float] = []
    for step in range(done, plan.steps):
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, plan)
        torch.manual_seed(step)  # of dropout: what is resumed goes on as if it had not been stopped
        batch = sampler(step)
        with torch.autocast("cpu", torch.bfloat16):
            outputs, _ = student(batch.mel, student.fresh(len(batch.mel)))
        loss = loss_of(outputs, batch)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(student.parameters(), 1.0, error_if_nonfinite=True)  # else no weight is ever finite again
        optimizer.step()
        losses.append(float(loss))
        _follow(average, student, min(_AVERAGE, (1 + step) / (10 + step)))
        if step + 1 == _top(plan.steps):
            _keep(folder / "plateau.pt", plan, student, average, optimizer, step + 1)
        if (step + 1) % plan.validate_every == 0 or step + 1 == plan.steps:
            scores = {name: accuracy(average, pack, most=_VALIDATED) for name, pack in dev}
            mean = sum(score.late for score in scores.values()) / max(len(scores), 1)
            told = "; ".join(f"{name} {score}" for name, score in scores.items())
            journal(f"student {step + 1}: loss {sum(losses) / len(losses):.4f}; {told}")
            losses = []
            if mean >= best:
                best = mean
                save(folder / "best.pt", average, step=step + 1, dev=mean)
        if time.monotonic() - saved > _SAVE_EVERY or step + 1 == plan.steps:
            _keep(folder / "last.pt", plan, student, average, optimizer, step + 1)
            saved = time.monotonic()


def rate_at(step: int, plan: Plan) -> float:
    """Learning rate of a step, from 0 on."""
    fall = plan.steps * _FALL
    return plan.rate * min(1.0, (step + 1) / _WARM, (plan.steps - step) / fall)


def _top(steps: int) -> int:
    """Steps before the rate falls."""
    return int(steps * (1 - _FALL))


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


def _follow(average: Student, student: Student, keep: float) -> None:
    with torch.no_grad():
        for slow, fast in zip(average.parameters(), student.parameters(), strict=True):
            slow.lerp_(fast, 1 - keep)


def _begin(
    folder: Path, plan: Plan, shape: Shape, sampler: Sampler, journal: Journal
) -> tuple[Student, Student, torch.optim.Optimizer, int, float]:
    torch.manual_seed(plan.seed)
    path, best = _checkpoint(folder, plan), 0.0
    saved: dict[str, Any] = {"step": 0}
    student = Student(shape)
    if path:
        student, saved = load(path)
    else:
        _measure(student, sampler)
    average = deepcopy(student)
    optimizer = torch.optim.AdamW(student.parameters(), plan.rate, betas=(0.9, 0.98), weight_decay=plan.decay)
    if path:
        average.load_state_dict(saved["average"])
        optimizer.load_state_dict(saved["optimizer"])
        if (folder / "best.pt").exists():  # maybe from later on than `path`
            best = load(folder / "best.pt")[1]["dev"]
    journal(f"student: {student.parameters_count()} parameters, from step {saved['step']} to {plan.steps}")
    return student.train(), average.eval(), optimizer, saved["step"], best


def _checkpoint(folder: Path, plan: Plan) -> Path | None:
    """What to go on from: the last one, or the one before its rate fell if that was for another plan; none: begin."""
    last, plateau = folder / "last.pt", folder / "plateau.pt"
    if not last.exists():
        return None
    saved = load(last)[1]
    fallen = saved["planned"] != plan.steps and saved["step"] > _top(saved["planned"])
    if fallen and plateau.exists() and load(plateau)[1]["planned"] == saved["planned"]:
        return plateau
    return last


def _measure(student: Student, sampler: Sampler) -> None:
    """Mean and scale of the features, from a few batches."""
    mel = torch.cat([sampler(_FAR + n).mel.flatten(0, 1) for n in range(8)])
    student.mean.copy_(mel.mean(0))
    student.scale.copy_(1 / mel.std(0))


def _keep(path: Path, plan: Plan, student: Student, average: Student, optimizer: torch.optim.Optimizer, step: int) -> None:
    more = {"average": average.state_dict(), "optimizer": optimizer.state_dict(), "planned": plan.steps}
    save(path, student, **more, step=step)

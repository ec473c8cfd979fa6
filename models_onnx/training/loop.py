"""The loop that trains a network: AdamW, averaged weights, checkpoints every few minutes, from the last of which it goes on.

The rate rises, stays, and falls to zero over the last quarter of the steps. `plateau.pt` is the state before it falls: asked
for more steps later, training goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from .journal import Journal

_SAVE_EVERY = 180.0  # s
_WARM, _FALL = 400, 0.25  # steps; part of all steps
_AVERAGE = 0.998  # of the averaged weights, a step

Network = TypeVar("Network", bound=nn.Module)


@dataclass(frozen=True)
class Plan:
    """How to train."""

    steps: int
    rate: float = 2e-3
    decay: float = 0.02
    validate_every: int = 500
    seed: int = 0  # of the first weights


@dataclass(frozen=True)
class Task(Generic[Network]):
    """What is trained."""

    name: str
    begin: Callable[[], Network]
    save: Callable[..., None]  # path, network, and by name what else to keep
    load: Callable[[Path], tuple[Network, dict[str, Any]]]  # what `save` wrote: the network, and all that was saved
    loss: Callable[[Network, int], Tensor]  # of a step, whose number alone says what it is of
    score: Callable[[Network], tuple[float, str]]  # on other speech, the more the better; and in words


def train(folder: Path, plan: Plan, task: Task[Network], journal: Journal) -> None:
    """Train in `folder` until plan.steps: the averaged weights of the best score to `best.pt`, all else to `last.pt`."""
    network, average, optimizer, done, best = _begin(folder, plan, task, journal)
    saved = time.monotonic()
    losses: list[float] = []
    for step in range(done, plan.steps):
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, plan)
        torch.manual_seed(step)  # of dropout: what is resumed goes on as if it had not been stopped
        loss = task.loss(network, step)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0, error_if_nonfinite=True)  # else no weight is ever finite again
        optimizer.step()
        losses.append(loss.item())
        _follow(average, network, min(_AVERAGE, (1 + step) / (10 + step)))
        if step + 1 == _top(plan.steps):
            _keep(folder / "plateau.pt", plan, task, network, average, optimizer, step + 1)
        if (step + 1) % plan.validate_every == 0 or step + 1 == plan.steps:
            score, told = task.score(average)
            journal(f"{task.name} {step + 1}: loss {sum(losses) / len(losses):.4f}; {told}")
            losses = []
            if score >= best:
                best = score
                task.save(folder / "best.pt", average, step=step + 1, dev=score)
        if time.monotonic() - saved > _SAVE_EVERY or step + 1 == plan.steps:
            _keep(folder / "last.pt", plan, task, network, average, optimizer, step + 1)
            saved = time.monotonic()


def rate_at(step: int, plan: Plan) -> float:
    """Learning rate of a step, from 0 on."""
    fall = plan.steps * _FALL
    return plan.rate * min(1.0, (step + 1) / _WARM, (plan.steps - step) / fall)


def _top(steps: int) -> int:
    """Steps before the rate falls."""
    return int(steps * (1 - _FALL))


def _follow(average: nn.Module, network: nn.Module, keep: float) -> None:
    with torch.no_grad():
        for slow, fast in zip(average.parameters(), network.parameters(), strict=True):
            slow.lerp_(fast, 1 - keep)


def _begin(
    folder: Path, plan: Plan, task: Task[Network], journal: Journal
) -> tuple[Network, Network, torch.optim.Optimizer, int, float]:
    torch.manual_seed(plan.seed)
    folder.mkdir(parents=True, exist_ok=True)
    path, best = _checkpoint(folder, plan, task), float("-inf")
    saved: dict[str, Any] = {"step": 0}
    if path:
        network, saved = task.load(path)
    else:
        network = task.begin()
    average = deepcopy(network)
    optimizer = torch.optim.AdamW(network.parameters(), plan.rate, betas=(0.9, 0.98), weight_decay=plan.decay)
    if path:
        average.load_state_dict(saved["average"])
        optimizer.load_state_dict(saved["optimizer"])
        if (folder / "best.pt").exists():  # maybe from later on than `path`
            best = task.load(folder / "best.pt")[1]["dev"]
    parameters = sum(p.numel() for p in network.parameters())
    journal(f"{task.name}: {parameters} parameters, from step {saved['step']} to {plan.steps}")
    return network.train(), average.eval(), optimizer, saved["step"], best


def _checkpoint(folder: Path, plan: Plan, task: Task[Network]) -> Path | None:
    """What to go on from: the last one, or the one before its rate fell if that was for another plan; none: begin."""
    last, plateau = folder / "last.pt", folder / "plateau.pt"
    if not last.exists():
        return None
    saved = task.load(last)[1]
    fallen = saved["planned"] != plan.steps and saved["step"] > _top(saved["planned"])
    if fallen and plateau.exists() and task.load(plateau)[1]["planned"] == saved["planned"]:
        return plateau
    return last


def _keep(
    path: Path,
    plan: Plan,
    task: Task[Network],
    network: Network,
    average: Network,
    optimizer: torch.optim.Optimizer,
    step: int,
) -> None:
    more = {"average": average.state_dict(), "optimizer": optimizer.state_dict(), "planned": plan.steps}
    task.save(path, network, **more, step=step)

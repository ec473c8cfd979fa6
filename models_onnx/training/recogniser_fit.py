"""Training of the recogniser: CTC whose phones are said near where they are spoken, and cross-entropy of states beside it.

Tied to alignments (H. Sak et al., Interspeech 2015) it knows half of the phones after 500 steps, and what it says tells when it
was spoken; left free CTC begins by saying nothing, and later says phones when it likes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ...engine.content import phones
from .batches import Batch, Sampler
from .checkpoint import save
from .journal import Journal
from .loop import Plan, Task, train
from .packs import Pack
from .recogniser import LATE, ROW, Outputs, Recogniser, Shape, load
from .recogniser_score import phone_errors
from .recogniser_units import asked

_VALIDATED = 80  # utterances of a dev pack
_FAR = 2**40  # number of a batch that no step reaches
_STATE_WEIGHT = 0.3
_AWAY = -20.0  # log likelihood of a unit where it may not be said: finite, since phones may come faster than rows


def fit(folder: Path, plan: Plan, shape: Shape, sampler: Sampler, dev: Sequence[tuple[str, Pack]], journal: Journal) -> None:
    """Train in `folder` until plan.steps: `loop.train`, with the best one on the packs `dev`."""

    def begin() -> Recogniser:
        recogniser = Recogniser(shape)
        features = torch.cat([sampler(_FAR + n).features.flatten(0, 1) for n in range(8)])
        recogniser.scale.copy_(1 / features.std(0))
        return recogniser

    def loss(recogniser: Recogniser, step: int) -> Tensor:
        batch = sampler(step)
        with torch.autocast("cpu", torch.bfloat16):
            outputs, _ = recogniser(batch.features, recogniser.fresh(len(batch.features)))
        return loss_of(outputs, batch)

    def score(recogniser: Recogniser) -> tuple[float, str]:
        scores = {name: phone_errors(recogniser, pack, most=_VALIDATED) for name, pack in dev}
        mean = sum(score.rate for score in scores.values()) / max(len(scores), 1)
        return -mean, "; ".join(f"{name} {score}" for name, score in scores.items())

    train(folder, plan, Task("recogniser", begin, save, load, loss, score), journal)


def loss_of(outputs: Outputs, batch: Batch) -> Tensor:
    """CTC of the phones, in nats a phone, and cross-entropy of the states."""
    state = batch.state.numpy()
    wanted, allowed = zip(*(asked(piece) for piece in state), strict=True)
    likely = functional.log_softmax(outputs.units.float(), -1)
    likely = torch.where(torch.from_numpy(np.stack(allowed)), likely, likely + _AWAY)
    lengths = torch.tensor([len(piece) for piece in wanted])
    rows = torch.full((len(state),), likely.shape[1])
    targets = torch.from_numpy(np.concatenate(wanted))
    ctc = functional.ctc_loss(likely.transpose(0, 1), targets, rows, lengths, reduction="sum", zero_infinity=True)
    late = batch.state[:, ROW - 1 :: ROW]  # rows have heard these frames
    shift = LATE // ROW
    named = outputs.states[:, shift:].flatten(0, 1).float()
    states = functional.cross_entropy(named, late[:, :-shift].flatten(), ignore_index=phones.IGNORED)
    return ctc / max(len(targets), 1) + _STATE_WEIGHT * states

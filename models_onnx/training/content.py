"""What leaves the encoder of the student's posteriors: the three likeliest classes of a frame, in eight levels.

The tails of a posterior tell speakers apart: an attacker on utterance statistics of all of it reaches an EER of 16 to 24 %, on
this 26 to 29 %.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .student import LATE, Outputs

KEPT, LEVELS = 3, 8


def coarse(logits: Tensor) -> Tensor:
    """Probabilities (..., classes), of which the KEPT largest stay, rounded to LEVELS levels from 0 to 1."""
    posterior = logits.softmax(-1)
    best, where = posterior.topk(KEPT, -1)
    rounded = torch.round(best * (LEVELS - 1)) / (LEVELS - 1)
    return torch.zeros_like(posterior).scatter(-1, where, rounded)


def channel(outputs: Outputs) -> Tensor:
    """States of frame t and the phones known by then, of what comes next: (batch, frames - LATE, states + phones)."""
    return torch.cat((coarse(outputs.states[:, LATE:]), coarse(outputs.phones[:, LATE:])), -1)

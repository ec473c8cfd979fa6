"""What encoder.onnx says, in torch and of whole utterances: content, pitch, voicing and energy of a student's outputs.

The definition that the step graph (`export_encoder`) is held to, and that the decoder is trained on.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from .content import coarse
from .pitch import LOWEST, PITCHES, STEP
from .student import BANDS, Outputs, Student, features

NEAR = 2  # pitch classes to either side of the likeliest one that its value is a mean of; training blurs as far


class Encoded(NamedTuple):
    """Row t is about frame t - LATE (states) and t - SOON (phones, pitch, voicing); energy about frame t."""

    content: Tensor  # (batch, frames, STATES + phones): each cut to its top 3, in 8 levels
    pitch: Tensor  # (batch, frames): ln Hz, of unvoiced frames too
    voicing: Tensor  # (batch, frames): probability
    energy: Tensor  # (batch, frames): ln of the mean power in the bands, on the scale of the features


def encoded(outputs: Outputs, mel: Tensor) -> Encoded:
    """Of a student's outputs for the log mel (batch, frames, BANDS)."""
    content = torch.cat((coarse(outputs.states), coarse(outputs.phones)), -1)
    best = outputs.pitch[..., 1:].argmax(-1)
    near = (outputs.pitch + far_from().to(outputs.pitch)[best]).softmax(-1)
    pitch = near @ log_hertz().to(near)
    voicing = 1 - outputs.pitch.softmax(-1)[..., 0]
    return Encoded(content, pitch, voicing, mel.logsumexp(-1) - math.log(BANDS))


def encode(student: Student, mel: Tensor) -> Encoded:
    """Utterances from their beginnings, log mel of (batch, frames, BANDS), an even number of frames."""
    heard = torch.from_numpy(np.stack([features(one) for one in mel.numpy()]))
    outputs, _ = student(heard, student.fresh(len(mel)))
    return encoded(Outputs(*(o.float() for o in outputs)), mel)


def log_hertz() -> Tensor:
    """Of each pitch class, (1 + PITCHES,); 0 for "unvoiced"."""
    voiced = math.log(LOWEST) + STEP * torch.arange(PITCHES)
    return torch.cat((torch.zeros(1), voiced)).float()


def far_from() -> Tensor:
    """For each voiced class what is added to the logits so that only those near it count, (PITCHES, 1 + PITCHES)."""
    distance = (torch.arange(PITCHES)[:, None] + 1 - torch.arange(1 + PITCHES)).abs()
    excluded = (distance > NEAR) | (torch.arange(1 + PITCHES) == 0)
    return torch.where(excluded, -1e9, 0.0)

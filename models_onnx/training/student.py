"""The streaming phone recogniser: log mel features to phones, their states, and pitch.

It takes two frames a step, 20 ms, less the running mean of what came before, and looks at nothing later. What it says of a
frame it says some frames afterwards: `LATE` frames for the states, `SOON` for the phones and the pitch, so that those are known
first. Each block is a causal depthwise filter over the past, layer normalization, and two dense layers around a ReLU, added to
its input.

The whole-utterance form and the step form are one function: what a block remembers goes in and comes out as a tensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...engine.content.phones import PHONES, STATES
from ...kernels import channel
from ...kernels.jit import F32
from . import checkpoint
from .pitch import PITCHES

BANDS = 80
PAIR = 2  # frames of a step
LATE, SOON = 6, 2  # frames: of a step's two frames the first is heard one frame longer


@dataclass(frozen=True)
class Shape:
    """Sizes of a student."""

    width: int = 320
    hidden: int = 768
    taps: int = 8
    dilations: tuple[int, ...] = (1, 1, 2, 2, 3, 3, 4)
    dropout: float = 0.15


class Outputs(NamedTuple):
    """Logits for each frame, (batch, frames, classes): row t of `states` is about frame t - LATE, of the others t - SOON."""

    states: Tensor
    phones: Tensor
    pitch: Tensor  # class 0: unvoiced


class Block(nn.Module):
    """One residual block."""

    def __init__(self, shape: Shape, dilation: int) -> None:
        super().__init__()
        self.dilation, self.past = dilation, (shape.taps - 1) * dilation
        taps = torch.randn(shape.width, 1, shape.taps) * 0.1
        taps[:, :, -1] += 1.0  # begins as the identity
        self.taps = nn.Parameter(taps)
        self.norm = nn.LayerNorm(shape.width)
        self.rise = nn.Linear(shape.width, shape.hidden)
        self.fall = nn.Linear(shape.hidden, shape.width)
        self.dropout = shape.dropout

    def forward(self, x: Tensor, past: Tensor, film: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """x: (batch, steps, width), past: (batch, self.past, width); returns both for the steps after x.

        film: factor and summand of the normalized signal, (batch, 1, width).
        """
        joined = torch.cat((past, x), 1)
        filtered = functional.conv1d(joined.transpose(1, 2), self.taps, groups=len(self.taps), dilation=self.dilation)
        normal = self.norm(filtered.transpose(1, 2))
        if film is not None:
            normal = normal * film[0] + film[1]
        hidden = functional.relu(self.rise(normal))
        if self.training:  # the same units for all of a piece: a mask for each frame costs a quarter of the step
            kept = functional.dropout(hidden.new_ones(len(x), 1, hidden.shape[2]), self.dropout)
            hidden = hidden * kept
        return x + self.fall(hidden), joined[:, -self.past :]


class Student(nn.Module):
    """The network."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.scale = nn.Buffer(torch.ones(BANDS))
        self.entry = nn.Linear(PAIR * BANDS, shape.width)
        self.blocks = nn.ModuleList(Block(shape, dilation) for dilation in shape.dilations)
        self.norm = nn.LayerNorm(shape.width)
        self.states = nn.Linear(shape.width, PAIR * STATES)
        self.phones = nn.Linear(shape.width, PAIR * len(PHONES))
        self.pitch = nn.Linear(shape.width, PAIR * (1 + PITCHES))

    def fresh(self, batch: int) -> list[Tensor]:
        """What the blocks remember before the first step."""
        return [torch.zeros(batch, (self.shape.taps - 1) * d, self.shape.width) for d in self.shape.dilations]

    def forward(self, features: Tensor, memory: list[Tensor]) -> tuple[Outputs, list[Tensor]]:
        """features: (batch, frames, BANDS), an even number of frames; `memory` from `fresh` or from the call before."""
        batch, frames, _ = features.shape
        x = self.entry((features * self.scale).reshape(batch, frames // PAIR, PAIR * BANDS))
        kept = []
        for block, past in zip(self.blocks, memory, strict=True):
            x, past = block(x, past)
            kept.append(past)
        x = self.norm(x)
        heads = (head(x).reshape(batch, frames, -1) for head in (self.states, self.phones, self.pitch))
        return Outputs(*heads), kept


def features(mel: F32) -> F32:
    """What the network takes of a recording's log mel, (frames, BANDS): `kernels/channel.py`."""
    return mel - channel.offline(mel)


def load(path: Path) -> tuple[Student, dict[str, Any]]:
    """From `checkpoint.save`: the student, ready to run, and all that was saved."""
    return checkpoint.load(path, Student, Shape)

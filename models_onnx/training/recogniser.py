"""The streaming recogniser: log mel features to phones, trained with CTC, as Niu et al. (2024) recognise a live stream.

Two convolutions over time and bands, kernel 3 and stride 2 each: a row every four frames, 40 ms, from CHUNK frames, as many as
their equation 5 gives. Then five LSTM layers, in one direction: nothing is heard ahead. What each says of its normalized
input is added to it. Class 0 is the blank of CTC, and silence: of neither is anything to be said.

What it says of a phone it says up to LATE frames after the phone's end. While it is trained it names states of phones, LATE
frames late, too.

The whole-utterance form and the step form are one function: what layers remember goes in and comes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...engine.content.phones import PHONES, STATES
from . import checkpoint

BANDS = 80
ROW = 4  # frames from one row to the next
CHUNK = 7  # frames that a row is made of: ((7 - 3) / 2 + 1 - 3) / 2 + 1 = 1
PAST = CHUNK - ROW  # frames of them that the row before had, too
LATE = 12  # frames
UNITS = len(PHONES)
LAYERS = 5


@dataclass(frozen=True)
class Shape:
    """Sizes of a recogniser."""

    width: int = 320
    channels: int = 32
    dropout: float = 0.15


class Memory(NamedTuple):
    """What is remembered from one call to the next."""

    frames: Tensor  # (batch, PAST, BANDS)
    hidden: Tensor  # (batch, LAYERS, width): what each layer said last
    cell: Tensor  # (batch, LAYERS, width): what each layer keeps


class Outputs(NamedTuple):
    """Logits of each row, (batch, rows, classes): row t has heard frame ROW t + ROW - 1."""

    units: Tensor
    states: Tensor  # of frame ROW t + ROW - 1 - LATE


class Recogniser(nn.Module):
    """The network."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.width
        self.scale = nn.Buffer(torch.ones(BANDS))
        self.first = nn.Conv2d(1, shape.channels, 3, stride=2, padding=(0, 1))
        self.second = nn.Conv2d(shape.channels, shape.channels, 3, stride=2, padding=(0, 1))
        self.entry = nn.Linear(shape.channels * BANDS // 4, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(LAYERS))
        self.layers = nn.ModuleList(nn.LSTM(width, width, batch_first=True) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(width)
        self.units = nn.Linear(width, UNITS)
        self.states = nn.Linear(width, STATES)

    def fresh(self, batch: int) -> Memory:
        """Before the first row."""
        layers = torch.zeros(batch, LAYERS, self.shape.width)
        return Memory(torch.zeros(batch, PAST, BANDS), layers, layers)

    def forward(self, features: Tensor, memory: Memory) -> tuple[Outputs, Memory]:
        """features: (batch, frames, BANDS), frames a multiple of ROW; `memory` from `fresh` or from the call before."""
        scaled = torch.cat((memory.frames, features * self.scale), 1)
        x = functional.relu(self.second(functional.relu(self.first(scaled[:, None]))))
        x = self.entry(x.transpose(1, 2).flatten(2))
        hidden, cell = [], []
        for n, (norm, layer) in enumerate(zip(self.norms, self.layers, strict=True)):
            before = memory.hidden[:, n][None].to(x.dtype), memory.cell[:, n][None].to(x.dtype)
            said, (last, kept) = cast(nn.LSTM, layer)(norm(x).to(x.dtype), before)
            if self.training:  # the same units for all of a piece
                said = said * functional.dropout(said.new_ones(len(x), 1, said.shape[2]), self.shape.dropout)
            x = x + said
            hidden.append(last[0])
            cell.append(kept[0])
        x = self.norm(x)
        kept_layers = torch.stack(hidden, 1), torch.stack(cell, 1)
        return Outputs(self.units(x), self.states(x)), Memory(scaled[:, -PAST:], *kept_layers)


def load(path: Path) -> tuple[Recogniser, dict[str, Any]]:
    """From `checkpoint.save`: the recogniser, ready to run, and all that was saved."""
    return checkpoint.load(path, Recogniser, Shape)

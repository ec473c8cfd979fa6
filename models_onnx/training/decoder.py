"""The streaming decoder: content, prosody and a private voice to the parameters of the vocoder.

It takes two frames a step, 20 ms, and looks at nothing later: what it hears is late already, by Shape.late frames. The voice
multiplies and shifts the normalized signal of each block (FiLM, E. Perez et al., AAAI 2018), and it alone says where F0 lies,
how wide its contour is and what the mean spectrum is: explicit, so that they can be as far apart as those of people are,
although what is learnt of any voice is drawn towards the mean.

The whole-utterance form and the step form are one function. Attributes, for an exporter: `voice` (dense, VOICE -> voice, then
ReLU) and `film` (dense, voice -> blocks x 2 x width: for each block 1 less than the factor, and the summand); `traits`
(dense with the weights `emphasised()`, VOICE -> 2 + BANDS: mean and range of F0, each through tanh, and the mean spectrum);
`entry` (dense, of the pair's frames one after the other, each content then prosody); `blocks` (the student's, with FILM after
`norm`); `norm`; `head` (dense, -> PAIR x (2 + BANDS + NOISES): contour, logit of voice, spectrum, logits of noise).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...engine.content.phones import PHONES, STATES
from ...kernels.prosody import FEATURES
from ...kernels.vocoder import BANDS, NOISE_BANDS
from . import checkpoint
from .student import LATE, PAIR, SOON, Block
from .student import Shape as Blocks
from .whiten import DIMENSIONS

VOICE = DIMENSIONS
NOISES = len(NOISE_BANDS)
CLASSES = {LATE: STATES + len(PHONES), SOON: len(PHONES)}  # of content, by what it is late
TONE = math.log(148.0), 0.6  # middle and largest deviation of a voice's mean ln F0: 81 to 270 Hz
SPREAD = 0.17, 0.7  # middle and largest deviation, as a logarithm, of what a contour of 1 is in ln F0
VOICED = 0.0  # logit from which on a frame is voiced


@dataclass(frozen=True)
class Shape:
    """Sizes of a decoder."""

    late: int  # LATE or SOON
    width: int = 224
    hidden: int = 384
    taps: int = 8
    dilations: tuple[int, ...] = (1, 1, 2, 3)
    voice: int = 48
    dropout: float = 0.05

    def blocks(self) -> Blocks:
        return Blocks(self.width, self.hidden, self.taps, self.dilations, self.dropout)


class Emphasis(NamedTuple):
    """Factors of what is particular to a voice."""

    pitch: float  # mean and range of F0
    timbre: float  # mean spectrum


# What is learnt of a voice is drawn towards the mean: random voices are alike by .766 so (GE2E cosine; people by .59), with
# these factors by .675, and DNSMOS stays 3.02. FiLM, pitch and timbre times 1.6: .693, 3 % more of WER, 0.2 less of DNSMOS.
PLAIN, EMPHASIS = Emphasis(1.0, 1.0), Emphasis(1.3, 2.2)


class Spoken(NamedTuple):
    """Of each frame, (batch, frames, ...)."""

    tone: Tensor  # (): ln F0
    voiced: Tensor  # (): logit
    envelope: Tensor  # (BANDS,): ln of power
    noise: Tensor  # (NOISES,): logits

    def f0(self) -> Tensor:
        """Hz; 0 where unvoiced."""
        return torch.where(self.voiced > VOICED, self.tone.exp(), 0.0)


class Decoder(nn.Module):
    """The network."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.voice = nn.Linear(VOICE, shape.voice)
        self.film = nn.Linear(shape.voice, len(shape.dilations) * 2 * shape.width)
        self.traits = nn.Linear(VOICE, 2 + BANDS)
        self.entry = nn.Linear(PAIR * (CLASSES[shape.late] + FEATURES), shape.width)
        self.blocks = nn.ModuleList(Block(shape.blocks(), dilation) for dilation in shape.dilations)
        self.norm = nn.LayerNorm(shape.width)
        self.head = nn.Linear(shape.width, PAIR * (2 + BANDS + NOISES))
        for dense in (self.film, self.traits):
            nn.init.zeros_(dense.weight)
            nn.init.zeros_(dense.bias)

    def fresh(self, batch: int) -> list[Tensor]:
        """What the blocks remember before the first step."""
        return [torch.zeros(batch, (self.shape.taps - 1) * d, self.shape.width) for d in self.shape.dilations]

    def forward(
        self, content: Tensor, prosody: Tensor, voice: Tensor, memory: list[Tensor], emphasis: Emphasis = EMPHASIS
    ) -> tuple[Spoken, list[Tensor]]:
        """content: (batch, frames, CLASSES[late]), prosody: (batch, frames, FEATURES), an even number of frames; voice:
        (batch, VOICE); `memory` from `fresh` or from the call before."""
        batch, frames, _ = content.shape
        x = self.entry(torch.cat((content, prosody), -1).reshape(batch, frames // PAIR, -1))
        film = self.film(functional.relu(self.voice(voice))).reshape(batch, len(self.blocks), 2, 1, -1)
        kept = []
        for i, (block, past) in enumerate(zip(self.blocks, memory, strict=True)):
            x, past = block(x, past, (1 + film[:, i, 0], film[:, i, 1]))
            kept.append(past)
        said = self.head(self.norm(x)).reshape(batch, frames, -1).float()
        contour, voiced, spectrum, noise = said.split((1, 1, BANDS, NOISES), -1)
        traits = functional.linear(voice, self.emphasised(emphasis), self.traits.bias).float()
        mean, spread, timbre = traits[:, None, :1], traits[:, None, 1:2], traits[:, None, 2:]
        tone = TONE[0] + TONE[1] * mean.tanh() + SPREAD[0] * (SPREAD[1] * spread.tanh()).exp() * contour
        return Spoken(tone[..., 0], voiced[..., 0], timbre + spectrum, noise), kept

    def emphasised(self, emphasis: Emphasis = EMPHASIS) -> Tensor:
        """Weights of `traits`."""
        factors = torch.tensor([emphasis.pitch] * 2 + [emphasis.timbre] * BANDS)
        return self.traits.weight * factors[:, None]

    def parameters_count(self) -> int:
        return sum(p.numel() for p in self.parameters())


def load(path: Path) -> tuple[Decoder, dict[str, Any]]:
    """From `checkpoint.save`: the decoder, ready to run, and all that was saved."""
    return checkpoint.load(path, Decoder, Shape)

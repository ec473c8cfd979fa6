"""How much voices differ from one another, and how steady each is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..kernels import f0
from ..kernels.jit import F32
from .encoders import Encoder, ge2e

_WHOLE = 320  # samples: both halves hold whole hops


@dataclass(frozen=True)
class Variety:
    """Of recordings that should each be another voice. Real people have a likeness of .56 to .59 by `ge2e`."""

    voices: int
    likeness: float  # mean cosine of the embeddings of two voices
    closest: float  # largest of them
    steadiness: float  # mean cosine of the two halves of a recording
    least_steady: float
    lowest: float  # mean F0 of the voice for which it is lowest, Hz
    highest: float


def variety(recordings: Sequence[F32], encoder: Encoder = ge2e) -> Variety:
    """Of two or more recordings at 16 kHz, mono, shape (n,), with 4 s of speech each for a steadiness worth the name."""
    if len(recordings) < 2:
        raise ValueError(f"{len(recordings)} recordings: give two or more")
    vectors = np.array([encoder(x) for x in recordings])
    pairs = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    halves = [steadiness(x, encoder) for x in recordings]
    pitches = [pitch(x) for x in recordings]
    return Variety(
        voices=len(recordings),
        likeness=float(pairs.mean()),
        closest=float(pairs.max()),
        steadiness=float(np.mean(halves)),
        least_steady=float(np.min(halves)),
        lowest=float(np.nanmin(pitches)),
        highest=float(np.nanmax(pitches)),
    )


def steadiness(x: F32, encoder: Encoder = ge2e) -> float:
    """The cosine of the embeddings of its halves."""
    middle = len(x) // 2 // _WHOLE * _WHOLE
    return float(encoder(x[:middle]) @ encoder(x[middle:]))


def pitch(x: F32) -> float:
    """Mean F0 of the voiced frames, Hz; NaN if none is."""
    track = f0.offline(x)
    voiced = track[track > 0]
    return float(voiced.mean()) if len(voiced) else float("nan")

"""A speaker encoder that an attacker has adapted to anonymized speech of other speakers: the one of velavox, trained further.

It runs as a graph like speaker.onnx, without torch; only the training needs that (extra `train`).

Of McAdams, 28 speakers, the shipped encoder has an EER of 26 % by the cosine and 10.5 % by `plda`; adapted to 59 others, with
up to 12 utterances of each, 8.0 and 7.9 %.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from ...engine.embedding import LEAST, RATE, embedding_by, spoken
from ...engine.graphs import Model
from ...engine.progress import say as tell
from ...kernels.jit import F32

STEPS = 200  # of 48 windows of 1.6 s: 97 CPU s in all


@dataclass(frozen=True)
class Adapted:
    """An encoder as those of `encoders`: speech at 16 kHz to a vector of norm 1, shape (256,)."""

    graph: bytes = field(repr=False)

    def __call__(self, samples: F32) -> F32:
        """ValueError if there is less than 0.5 s of speech."""
        speech = spoken(samples)
        if len(speech) < LEAST * RATE:
            raise ValueError(f"samples: less than {LEAST} s of speech; give 2 s or more")
        return embedding_by(_loaded(self.graph), speech)

    @cached_property
    def key(self) -> str:
        """Another for other weights."""
        return hashlib.sha256(self.graph).hexdigest()[:16]


def adapt(
    speech: Sequence[tuple[str, F32]], folder: Path, steps: int = STEPS, seed: int = 0, say: Callable[[str], None] = tell
) -> Adapted:
    """Train on anonymized speech: of each utterance its speaker, and samples at 16 kHz.

    What was done in `folder` for the same speech, steps and seed is gone on from. ValueError, in a line, for speech of fewer
    than three speakers with two utterances or more, or without PyTorch.
    """
    try:
        from .adapting import train
    except ModuleNotFoundError as error:
        raise ValueError(f"adapting a network needs {error.name}: pip install 'velavox[train]'") from None
    return Adapted(train(speech, folder, steps, seed, say))


@lru_cache(maxsize=4)
def _loaded(graph: bytes) -> Model:
    return Model(graph, "adapted speaker encoder")

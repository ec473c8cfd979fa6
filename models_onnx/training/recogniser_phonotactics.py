"""phonotactics.onnx: how likely a phone is after the two before it, in the transcripts of the training speech.

It rescores what the recogniser has read once an utterance is over. English and Mandarin are one model, since speakers mix
them. Counts are smoothed by those of shorter histories (Witten and Bell 1991).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from ...engine.content.phones import NUMBER, PHONES, SILENCE
from ...kernels.jit import F64
from . import export
from .align import Segment

EDGE = NUMBER[SILENCE]  # what stands before and after an utterance
UNITS = len(PHONES)


def export_phonotactics(spoken: Sequence[Sequence[Segment]], folder: Path, counted_in: str) -> str:
    """Make phonotactics.onnx in `folder` of utterances' segments, of data `counted_in`; how well it knows them, in words."""
    utterances = [phones_of(segments) for segments in spoken]
    table = fitted(utterances)
    export.save(
        graph(table),
        folder,
        "phonotactics",
        sample_rate=None,
        hop=None,
        look_ahead=None,
        licence="Apache-2.0",
        source=f"counted by velavox.models_onnx.training.recogniser_phonotactics in transcripts of {counted_in}",
    )
    phones = sum(map(len, utterances))
    return f"{phones} phones of {len(utterances)} transcripts, each one of {perplexity(table, utterances):.1f} likely ones"


def perplexity(table: F64, utterances: Iterable[Sequence[int]]) -> float:
    """Between how many phones, equally likely, the table leaves the choice at each place of the utterances."""
    lines = [[EDGE, EDGE, *phones, EDGE] for phones in utterances]
    logs = np.concatenate([np.log(table[line[:-2], line[1:-1], line[2:]]) for line in lines])
    return float(np.exp(-logs.mean()))


def phones_of(segments: Sequence[Segment]) -> list[int]:
    """The phones of an utterance, silence left out."""
    return [NUMBER[name] for name, *_ in segments if name != SILENCE]


def fitted(utterances: Iterable[Sequence[int]]) -> F64:
    """Probabilities [before, last, next] of the phones of utterances; each row of them adds up to 1."""
    counts = np.zeros((UNITS, UNITS, UNITS))
    for phones in utterances:
        line = [EDGE, EDGE, *phones, EDGE]
        np.add.at(counts, (line[:-2], line[1:-1], line[2:]), 1)
    single = _smoothed(counts.sum((0, 1)), np.full(UNITS, 1 / UNITS))
    pairs = _smoothed(counts.sum(0), single)
    return _smoothed(counts, pairs)


def _smoothed(counts: F64, shorter: F64) -> F64:
    """Witten-Bell: as many kinds as came after a history, so likely is one that did not yet, which `shorter` knows."""
    kinds = np.maximum((counts > 0).sum(-1, keepdims=True), 1)
    return np.asarray((counts + kinds * shorter) / (counts.sum(-1, keepdims=True) + kinds))


def graph(table: F64) -> onnx.ModelProto:
    """history (n, 2), the last phone second -> log likelihoods (n, UNITS) of the next; float16 inside."""
    nodes = [
        helper.make_node("GatherND", ["table", "history"], ["found"]),
        helper.make_node("Cast", ["found"], ["likely"], to=TensorProto.FLOAT),
    ]
    return export.model(
        "phonotactics",
        nodes,
        {"history": (TensorProto.INT64, ("n", 2))},
        {"likely": (TensorProto.FLOAT, ("n", UNITS))},
        {"table": np.log(table).astype(np.float16)},
    )

"""encoder.onnx: the student as a step graph, with what `encoder` makes of its outputs inside.

Two frames of log mel features a call, with their running mean of `kernels/channel.py`. The full posteriors, whose tails tell
speakers apart, never leave the graph.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import cast

import numpy as np
import onnx

from ...engine.content.phones import PHONES, STATES
from ...kernels.jit import F32
from ..manifest import Entry
from . import export
from .content import KEPT, LEVELS
from .encoder import far_from, log_hertz
from .pitch import PITCHES
from .stepgraph import Builder, array, rows
from .student import BANDS, LATE, PAIR, Block, Student, load

RATE, HOP = 16_000, 160  # Hz; samples
CLASSES = STATES + len(PHONES)
_NEVER = -1e9  # logit of what fills up the phones to as many classes as states


def export_encoder(checkpoint: Path, folder: Path, trained_on: str) -> Entry:
    """Make encoder.onnx in `folder` from a checkpoint of the student; `trained_on`: names of the data."""
    student, saved = load(checkpoint)
    return export.save(
        graph(student, int8=True),
        folder,
        "encoder",
        sample_rate=RATE,
        hop=PAIR * HOP,
        look_ahead=LATE * HOP,
        licence="Apache-2.0",
        source=f"trained by velavox.models_onnx.training.student, step {saved['step']}, on {trained_on}",
    )


def graph(student: Student, *, int8: bool) -> onnx.ModelProto:
    """mel and its running mean (1, PAIR, BANDS) -> content (1, PAIR, CLASSES), the others (1, PAIR), as `encoder.Encoded`."""
    g = Builder(int8)
    blocks = cast("list[Block]", list(student.blocks))
    # Normalized features are a dense layer's input in int8, the features themselves would lose their quiet bands.
    features = g("Mul", g("Sub", "mel", "mean"), array(student.scale))
    x = g.linear(g.reshape(features, 1, PAIR * BANDS), student.entry)
    x = g.norm(g.blocks(x, blocks), student.norm)
    classes, tones = g.split(g.dense(x, *_heads(student)), [2 * PAIR * STATES, PAIR * (1 + PITCHES)])
    _content(g, classes)
    _pitch(g, tones)
    loudness = g("ReduceLogSumExp", "mel", np.array([-1]), keepdims=0)
    g("Sub", loudness, np.float32(math.log(BANDS)), out="energy")
    outputs = {"content": (1, PAIR, CLASSES), "pitch": (1, PAIR), "voicing": (1, PAIR), "energy": (1, PAIR)}
    states = {"state": (rows(blocks), student.shape.width)}
    return g.model("encoder", {"mel": (1, PAIR, BANDS), "mean": (1, PAIR, BANDS)}, outputs, states)


def _heads(student: Student) -> tuple[F32, F32]:
    """All heads as one layer, with the phones of a frame filled up to STATES classes: one softmax then does for both."""
    weight, bias = array(student.phones.weight), array(student.phones.bias)
    spare = STATES - len(PHONES)
    weight = np.pad(weight.reshape(PAIR, len(PHONES), -1), ((0, 0), (0, spare), (0, 0))).reshape(PAIR * STATES, -1)
    bias = np.pad(bias.reshape(PAIR, -1), ((0, 0), (0, spare)), constant_values=_NEVER).reshape(-1)
    states, pitch = student.states, student.pitch
    return (
        np.concatenate((array(states.weight), weight, array(pitch.weight))),
        np.concatenate((array(states.bias), bias, array(pitch.bias))),
    )


def _content(g: Builder, logits: str) -> None:
    """`content.coarse`, frame by frame: two rows of states, two of phones."""
    posterior = g("Softmax", g.reshape(logits, 2 * PAIR, STATES), axis=-1)
    best, where = g.several("TopK", posterior, np.array([KEPT]), outs=2, axis=-1)
    top = np.float32(LEVELS - 1)
    levels = g("Div", g("Round", g("Mul", best, top)), top)
    kept = g("ScatterElements", np.zeros((2 * PAIR, STATES), np.float32), where, levels, axis=-1)
    states, phones = g.split(kept, [PAIR, PAIR], axis=0)
    phones = g("Slice", phones, np.array([0]), np.array([len(PHONES)]), np.array([1]))
    g.reshape(g("Concat", states, phones, axis=-1), 1, PAIR, CLASSES, out="content")


def _pitch(g: Builder, logits: str) -> None:
    """One softmax over all classes, for the voicing, and one over those near the best, for the pitch."""
    everywhere = g.reshape(logits, PAIR, 1 + PITCHES)
    voiced = g("Slice", everywhere, np.array([1]), np.array([1 + PITCHES]), np.array([1]))
    best = g("ArgMax", voiced, axis=-1, keepdims=0)
    near = g("Add", everywhere, g("Gather", far_from().numpy(), best))
    posterior = g("Softmax", g("Concat", everywhere, near, axis=0), axis=-1)
    sums = g("MatMul", posterior, np.stack((np.arange(1 + PITCHES) > 0, log_hertz().numpy()), 1).astype(np.float32))
    for name, row, column in (("voicing", 0, 0), ("pitch", PAIR, 1)):
        found = g("Slice", sums, np.array([row, column]), np.array([row + PAIR, column + 1]))
        g.reshape(found, 1, PAIR, out=name)

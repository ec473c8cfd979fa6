"""recogniser.onnx: the streaming recogniser as a step graph, four frames and their running mean a call.

What layers said and keep is in float32, weights in 7 bits; filters and the last layer stay exact. Each LSTM layer is two dense
layers and small nodes: so its weights take 4.5 MB instead of 17.6, and a step of 40 ms takes 0.17 ms, features included.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import onnx
from torch import Tensor, nn

from ...engine.content.recogniser import FRAME
from ...engine.stage import RATE
from ...kernels.jit import F32
from ..manifest import Entry
from . import export
from .recogniser import BANDS, LATE, LAYERS, PAST, ROW, UNITS, Recogniser, load
from .stepgraph import Builder, array


def export_recogniser(checkpoint: Path, folder: Path, trained_on: str) -> Entry:
    """Make recogniser.onnx in `folder` from a checkpoint; `trained_on`: names of the data."""
    recogniser, saved = load(checkpoint)
    return export.save(
        graph(recogniser, int8=True),
        folder,
        "recogniser",
        sample_rate=RATE,
        hop=ROW * FRAME,
        look_ahead=LATE * FRAME,
        licence="Apache-2.0",
        source=f"trained by velavox.models_onnx.training.recogniser, step {saved['step']}, on {trained_on}",
    )


def graph(recogniser: Recogniser, *, int8: bool) -> onnx.ModelProto:
    """mel and its running mean (1, ROW, BANDS) -> log likelihoods of the units (1, UNITS), class 0 the blank."""
    g = Builder(int8)
    width, channels = recogniser.shape.width, recogniser.shape.channels
    scaled = g("Mul", g("Sub", "mel", "mean"), array(recogniser.scale))
    chunk = g("Concat", "state_frames", g.reshape(scaled, ROW, BANDS), axis=0)
    g("Slice", chunk, np.array([ROW]), np.array([ROW + PAST]), np.array([0]), out="state_frames_next")
    x = g.reshape(chunk, 1, 1, PAST + ROW, BANDS)
    for filters in (recogniser.first, recogniser.second):
        bias = array(cast(Tensor, filters.bias))
        x = g("Relu", g("Conv", x, array(filters.weight), bias, strides=[2, 2], pads=[0, 1, 0, 1]))
    x = g.linear(g.reshape(x, 1, channels * BANDS // 4), recogniser.entry)
    said = g.split("state_hidden", [1] * LAYERS, axis=0)
    kept = g.split("state_cell", [1] * LAYERS, axis=0)
    layers = zip(recogniser.norms, recogniser.layers, strict=True)
    for n, (norm, layer) in enumerate(layers):
        said[n], kept[n] = _step(g, g.norm(x, cast(nn.LayerNorm, norm)), said[n], kept[n], cast(nn.LSTM, layer))
        x = g("Add", x, said[n])
    g("Concat", *said, axis=0, out="state_hidden_next")
    g("Concat", *kept, axis=0, out="state_cell_next")
    x = g.linear(g.norm(x, recogniser.norm), recogniser.units, exact=True)
    g("LogSoftmax", x, axis=-1, out="likely")
    inputs = {"mel": (1, ROW, BANDS), "mean": (1, ROW, BANDS)}
    states = {"state_frames": (PAST, BANDS), "state_hidden": (LAYERS, width), "state_cell": (LAYERS, width)}
    return g.model("recogniser", inputs, {"likely": (1, UNITS)}, states)


def _step(g: Builder, x: str, said: str, kept: str, layer: nn.LSTM) -> tuple[str, str]:
    """One row through one layer, (1, width) all: what it says and what it keeps."""
    width = layer.hidden_size
    weights = {name: _sorted(array(value)) for name, value in layer.state_dict().items()}
    new = g.dense(x, weights["weight_ih_l0"], weights["bias_ih_l0"])
    sums = g("Add", new, g.dense(said, weights["weight_hh_l0"], weights["bias_hh_l0"]))
    gates, fresh = g.split(sums, [3 * width, width])
    take, forget, tell = g.split(g("Sigmoid", gates), [width] * 3)
    cell = g("Add", g("Mul", forget, kept), g("Mul", take, g("Tanh", fresh)))
    return g("Mul", tell, g("Tanh", cell)), cell


def _sorted(rows: F32) -> F32:
    """PyTorch's rows, of the gates in, forget, what is new, out, with what is new last: one sigmoid then does for the gates."""
    take, forget, fresh, tell = np.split(rows, 4)
    return np.concatenate((take, forget, tell, fresh))

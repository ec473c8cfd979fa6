"""decoder.onnx and decoder_low.onnx: a decoder as a step graph, two frames a call."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import onnx

from ...kernels.prosody import FEATURES
from ...kernels.vocoder import BANDS
from ..manifest import Entry
from . import export
from .decoder import CLASSES, NOISES, SPREAD, TONE, VOICED, Decoder, load
from .export_encoder import HOP, RATE
from .stepgraph import Builder, array, rows
from .student import LATE, PAIR, SOON, Block
from .whiten import DIMENSIONS

NAMES = {LATE: "decoder", SOON: "decoder_low"}


def export_decoder(checkpoint: Path, folder: Path, trained_on: str) -> Entry:
    """Make the graph of a checkpoint in `folder`, under the name of its lateness; `trained_on`: names of the data."""
    decoder, saved = load(checkpoint)
    return export.save(
        graph(decoder, int8=True),
        folder,
        NAMES[decoder.shape.late],
        sample_rate=RATE,
        hop=PAIR * HOP,
        look_ahead=decoder.shape.late * HOP,
        licence="Apache-2.0",
        source=f"trained by velavox.models_onnx.training.decoder, step {saved['step']}, on {trained_on}",
    )


def graph(decoder: Decoder, *, int8: bool) -> onnx.ModelProto:
    """content (1, PAIR, classes), prosody (1, PAIR, FEATURES), voice (1, DIMENSIONS) -> f0 (1, PAIR) in Hz, 0 where unvoiced;
    envelope (1, PAIR, BANDS), ln of power; noise (1, PAIR, NOISES), 0 to 1."""
    g = Builder(int8)
    blocks = cast("list[Block]", list(decoder.blocks))
    classes, width = CLASSES[decoder.shape.late], decoder.shape.width
    x = g.reshape(g("Concat", "content", "prosody", axis=-1), 1, PAIR * (classes + FEATURES))
    x = g.blocks(g.linear(x, decoder.entry), blocks, _film(g, decoder))
    said = g.reshape(g.linear(g.norm(x, decoder.norm), decoder.head), 1, PAIR, 2 + BANDS + NOISES)
    contour, voiced, spectrum, noise = g.split(said, [1, 1, BANDS, NOISES])
    traits = array(decoder.emphasised()), array(decoder.traits.bias)
    mean, spread, timbre = g.split(g.dense("voice", *traits, exact=True), [1, 1, BANDS])
    mean = g("Add", g("Mul", g("Tanh", mean), np.float32(TONE[1])), np.float32(TONE[0]))
    spread = g("Mul", g("Exp", g("Mul", g("Tanh", spread), np.float32(SPREAD[1]))), np.float32(SPREAD[0]))
    hertz = g("Exp", g("Add", g("Mul", contour, spread), mean))
    g.reshape(g("Where", g("Greater", voiced, np.float32(VOICED)), hertz, np.float32(0)), 1, PAIR, out="f0")
    g("Add", spectrum, timbre, out="envelope")
    g("Sigmoid", noise, out="noise")
    inputs = {"content": (1, PAIR, classes), "prosody": (1, PAIR, FEATURES), "voice": (1, DIMENSIONS)}
    outputs = {"f0": (1, PAIR), "envelope": (1, PAIR, BANDS), "noise": (1, PAIR, NOISES)}
    return g.model("decoder", inputs, outputs, {"state": (rows(blocks), width)})


def _film(g: Builder, decoder: Decoder) -> list[tuple[str, str]]:
    """Factor and summand of each block."""
    count, width = len(decoder.blocks), decoder.shape.width
    bias = array(decoder.film.bias).reshape(count, 2, width).copy()
    bias[:, 0] += 1
    timbre = g("Relu", g.linear("voice", decoder.voice, exact=True))
    parts = g.split(g.dense(timbre, array(decoder.film.weight), bias.reshape(-1)), [width] * (2 * count))
    return list(zip(parts[::2], parts[1::2], strict=True))

"""noise.onnx: a speaker embedding and noise in, the private vector out; the arithmetic of `engine.mechanism.private`.

The projection stands in front of it in the same graph, so that nothing but the private vector leaves it: no decoder can be
given the embedding. Sums are of whole numbers, so every machine computes the same bits from the projected vector on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper

from ...engine.mechanism import STEPS
from ..manifest import Entry
from . import export
from .corpora import Utterance
from .journal import Journal
from .whiten import Projection, fitted, labelled

RADIUS = 4.0  # U, in whitened units: of unheard speakers' utterances 46 % lie beyond it, and are clipped


def export_noise(utterances: Sequence[Utterance], folder: Path, journal: Journal) -> Entry:
    """Fit the projection to the training speakers of an index, and make noise.onnx in `folder`."""
    known = labelled(utterances)
    projection = fitted(known, journal)
    sources = ", ".join(sorted({u.source for u in known}))
    return export.save(
        graph(projection, RADIUS),
        folder,
        "noise",
        sample_rate=None,
        hop=None,
        look_ahead=None,
        licence="Apache-2.0",
        source=f"built by velavox.models_onnx.training.noise; projection fitted to speaker embeddings of {sources}",
    )


def graph(projection: Projection, radius: float) -> onnx.ModelProto:
    """embedding (n, size) float32, noise (n, k) int64 in steps of radius / STEPS -> private (n, k) float32 of norm sqrt(k).

    A row of zeros, which no voice has, stands for no enrolment: it is projected to zeros. What is not finite counts as 0.
    """
    size, dimensions = projection.matrix.shape
    constants: dict[str, npt.ArrayLike] = {
        "mean": projection.mean.astype(np.float64),
        "projection": projection.matrix.astype(np.float64),
        "last": np.array([-1], np.int64),
        "zero": np.float64(0),
        "one": np.int64(1),
        "radius": np.float64(radius),
        "steps": np.float64(STEPS),
        "norm": np.float64(math.sqrt(dimensions)),
    }
    nodes = [
        # Projected, or zeros without an enrolment.
        _node("Cast", "embedding", "wide", to=TensorProto.DOUBLE),
        _node("Abs", "wide", "sizes"),
        _node("ReduceMax", "sizes last", "largest"),
        _node("Greater", "largest zero", "enrolled"),
        _node("Sub", "wide mean", "centred"),
        _node("MatMul", "centred projection", "voice"),
        _node("Where", "enrolled voice zero", "x"),
        # mechanism.clipped
        _node("Abs", "x", "magnitudes"),
        _node("ReduceMax", "magnitudes last", "peak"),
        _node("Max", "peak radius", "top"),
        _node("Div", "steps top", "gain"),
        _node("Mul", "x gain", "scaled"),
        _node("IsNaN", "scaled", "undefined"),
        _node("Where", "undefined zero scaled", "defined"),
        _node("Round", "defined", "rounded"),
        _node("Cast", "rounded", "whole", to=TensorProto.INT64),
        *_euclidean("whole", "length"),
        _node("Max", "length steps", "divisor"),
        _node("Div", "steps divisor", "shrink"),
        _node("Mul", "rounded shrink", "shrunk"),
        _node("Cast", "shrunk", "clipped", to=TensorProto.INT64),
        _node("Add", "clipped noise", "noisy"),
        # mechanism.renormalised
        *_euclidean("noisy", "noisy_length"),
        _node("Div", "norm noisy_length", "stretch"),
        _node("Cast", "noisy", "noisy_wide", to=TensorProto.DOUBLE),
        _node("Mul", "noisy_wide stretch", "stretched"),
        _node("Cast", "stretched", "private", to=TensorProto.FLOAT),
    ]
    return export.model(
        "noise",
        nodes,
        {"embedding": (TensorProto.FLOAT, ("n", size)), "noise": (TensorProto.INT64, ("n", dimensions))},
        {"private": (TensorProto.FLOAT, ("n", dimensions))},
        constants,
    )


def _node(kind: str, inputs: str, output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(kind, inputs.split(), [output], **attributes)


def _euclidean(x: str, out: str) -> list[onnx.NodeProto]:
    """The norms of rows of whole numbers, 1 at least."""
    return [
        _node("Mul", f"{x} {x}", f"{out}_squares"),
        _node("ReduceSum", f"{out}_squares last", f"{out}_sum"),
        _node("Max", f"{out}_sum one", f"{out}_least"),
        _node("Cast", f"{out}_least", f"{out}_wide", to=TensorProto.DOUBLE),
        _node("Sqrt", f"{out}_wide", out),
    ]

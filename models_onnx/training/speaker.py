"""speaker.onnx: Resemblyzer's voice encoder (GE2E, Apache-2.0) as a graph, from the checkpoint in its package.

Three LSTM layers of 256 over 160 frames of 40 mel energies; the last hidden state goes through a linear layer and a ReLU, and
is scaled to norm 1 (L. Wan et al., "Generalized end-to-end loss for speaker verification", ICASSP 2018). Weights are stored as
float16 and become float32 when the graph is loaded: half the size, and the embedding keeps a cosine of 0.999999 with the
original's. With 8 bits a weight it falls to 0.83 in the worst of 40 utterances.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from ...engine.embedding import FRAMES, HOP, MELS, RATE, SIZE
from ..manifest import Entry
from . import export

_SHA256 = "39373b86598fa3da9fcddee6142382efe09777e8d37dc9c0561f41f0070f134e"  # pretrained.pt of resemblyzer 0.1.4
_LAYERS = 3
_GATES = (0, 3, 1, 2)  # PyTorch's input, forget, cell, output in ONNX's order: input, output, forget, cell
_BACK = (0, 2, 3, 1)

Weights = dict[str, npt.NDArray[np.float32]]


def export_speaker(checkpoint: Path, folder: Path) -> Entry:
    """Make speaker.onnx in `folder` from `checkpoint`, pretrained.pt. ValueError if that is another file."""
    if hashlib.sha256(checkpoint.read_bytes()).hexdigest() != _SHA256:
        raise ValueError(f"{checkpoint} is not the one that this code was written for: take it from resemblyzer 0.1.4")
    import torch

    # The optimiser's state beside the weights needs the full unpickler; the digest says that the file is the known one.
    state = torch.load(checkpoint, map_location="cpu", weights_only=False)["model_state"]
    weights = {name: np.asarray(value.numpy(), np.float32) for name, value in state.items()}
    return export.save(
        graph(weights),
        folder,
        "speaker",
        sample_rate=RATE,
        hop=HOP,
        look_ahead=None,
        licence="Apache-2.0",
        source=f"Resemblyzer 0.1.4 by Resemble AI, pretrained.pt (SHA-256 {_SHA256}), weights rounded to float16",
    )


def graph(weights: Weights) -> onnx.ModelProto:
    """Mel energies (n, FRAMES, MELS) to embeddings (n, SIZE)."""
    constants: dict[str, npt.ArrayLike] = {"axis": np.array([1], np.int64), "least": np.float32(1e-12)}
    nodes = [helper.make_node("Transpose", ["mels"], ["layer0"], perm=[1, 0, 2])]
    for layer in range(_LAYERS):
        for letter, name in (("W", "ih"), ("R", "hh")):
            weight = _gates(weights[f"lstm.weight_{name}_l{layer}"])
            nodes += _stored(constants, f"{letter}{layer}", weight[np.newaxis])
        biases = [_gates(weights[f"lstm.bias_{name}_l{layer}"]) for name in ("ih", "hh")]
        constants[f"B{layer}"] = np.concatenate(biases)[np.newaxis]
        names = [f"layer{layer}", f"W{layer}", f"R{layer}", f"B{layer}"]
        nodes.append(helper.make_node("LSTM", names, [f"all{layer}", f"last{layer}"], hidden_size=SIZE))
        if layer + 1 < _LAYERS:  # (frames, directions, n, SIZE) loses the one direction
            nodes.append(helper.make_node("Squeeze", [f"all{layer}", "axis"], [f"layer{layer + 1}"]))
    constants["first"] = np.array([0], np.int64)
    nodes += [
        helper.make_node("Squeeze", [f"last{_LAYERS - 1}", "first"], ["hidden"]),
        *_stored(constants, "linear", weights["linear.weight"]),
        helper.make_node("Gemm", ["hidden", "linear", "bias"], ["sums"], transB=1),
        helper.make_node("Relu", ["sums"], ["positive"]),
        helper.make_node("ReduceL2", ["positive", "axis"], ["norm"], keepdims=1),
        helper.make_node("Max", ["norm", "least"], ["divisor"]),
        helper.make_node("Div", ["positive", "divisor"], ["embeddings"]),
    ]
    constants["bias"] = weights["linear.bias"]
    return export.model(
        "speaker",
        nodes,
        {"mels": (TensorProto.FLOAT, ("n", FRAMES, MELS))},
        {"embeddings": (TensorProto.FLOAT, ("n", SIZE))},
        constants,
    )


def weights_of(model: onnx.ModelProto) -> Weights:
    """What `graph` made `model` of, by PyTorch's names, as float32."""
    kept = {c.name: np.asarray(numpy_helper.to_array(c), np.float32) for c in model.graph.initializer}
    found = {"linear.weight": kept["linear_half"], "linear.bias": kept["bias"]}
    for layer in range(_LAYERS):
        for letter, name in (("W", "ih"), ("R", "hh")):
            found[f"lstm.weight_{name}_l{layer}"] = _gates(kept[f"{letter}{layer}_half"][0], _BACK)
        for name, bias in zip(("ih", "hh"), np.split(kept[f"B{layer}"][0], 2), strict=True):
            found[f"lstm.bias_{name}_l{layer}"] = _gates(bias, _BACK)
    return found


def _gates(rows: npt.NDArray[np.float32], order: Sequence[int] = _GATES) -> npt.NDArray[np.float32]:
    return np.concatenate([np.split(rows, 4)[gate] for gate in order])


def _stored(constants: dict[str, npt.ArrayLike], name: str, weight: npt.NDArray[np.float32]) -> list[onnx.NodeProto]:
    """Nodes that make `name` of a 16-bit constant; onnxruntime works them out once, at loading."""
    constants[f"{name}_half"] = weight.astype(np.float16)
    return [helper.make_node("Cast", [f"{name}_half"], [name], to=TensorProto.FLOAT)]

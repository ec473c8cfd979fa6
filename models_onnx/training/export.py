"""Graphs into a folder of models: each file the same from the same weights, and its line in the manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from ...engine.atomic import atomically
from ...engine.graphs import Model
from .. import manifest

# Read by every onnxruntime that velavox takes (1.18 and later reads opset 21 and IR version 10).
OPSET, IR_VERSION = 18, 8


def model(
    name: str,
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, tuple[int, Sequence[int | str]]],
    outputs: Mapping[str, tuple[int, Sequence[int | str]]],
    constants: Mapping[str, npt.ArrayLike],
) -> onnx.ModelProto:
    """A checked model; inputs and outputs are (element type, shape) by name."""
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info(port, *kind) for port, kind in inputs.items()],
        [helper.make_tensor_value_info(port, *kind) for port, kind in outputs.items()],
        [numpy_helper.from_array(np.asarray(value), constant) for constant, value in constants.items()],
    )
    made = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="velavox"
    )
    onnx.checker.check_model(made, full_check=True)
    return made


def save(
    made: onnx.ModelProto,
    folder: Path,
    name: str,
    *,
    sample_rate: int | None,
    hop: int | None,
    look_ahead: int | None,
    licence: str,
    source: str,
) -> manifest.Entry:
    """Write `name`.onnx and its entry of the manifest, in place of older ones; GraphError if it would not load."""
    graph = made.SerializeToString(deterministic=True)
    loaded = Model(graph, name)
    entry = manifest.Entry(
        sha256=hashlib.sha256(graph).hexdigest(),
        bytes=len(graph),
        ir_version=made.ir_version,
        opset=made.opset_import[0].version,
        inputs=loaded.inputs,
        outputs=loaded.outputs,
        sample_rate=sample_rate,
        hop=hop,
        look_ahead=look_ahead,
        licence=licence,
        source=source,
    )
    entries = manifest.read(folder) if (folder / manifest.FILE).exists() else {}
    with atomically(folder / f"{name}.onnx") as part:
        part.write_bytes(graph)
    with atomically(folder / manifest.FILE) as part:
        part.write_text(manifest.as_text({**entries, name: entry}), encoding="utf-8")
    return entry

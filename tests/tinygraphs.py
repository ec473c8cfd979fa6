"""Small graphs for tests, built where they are used."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper
from velavox.models_onnx import manifest
from velavox.models_onnx.training import export

F = TensorProto.FLOAT


def node(kind: str, inputs: str, output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(kind, inputs.split(), [output], **attributes)


def moving_sum(frames: int = 2, past: int = 3, width: int = 4, weight: float = 1.0) -> onnx.ModelProto:
    """y[t] = weight * (x[t] + ... + x[t - past]), `frames` a call; the last `past` frames are the state."""
    constants: dict[str, npt.ArrayLike] = {"weight": np.float32(weight), "rows": np.array([0], np.int64)}
    constants |= {"fresh": np.array([frames], np.int64), "end": np.array([past + frames], np.int64)}
    nodes = [node("Concat", "state_x x", "all", axis=0), node("Slice", "all fresh end rows", "state_x_next")]
    terms = []
    for i in range(past + 1):
        constants[f"from{i}"], constants[f"to{i}"] = np.array([i], np.int64), np.array([i + frames], np.int64)
        nodes.append(node("Slice", f"all from{i} to{i} rows", f"term{i}"))
        terms.append(f"term{i}")
    nodes += [node("Sum", " ".join(terms), "sum"), node("Mul", "sum weight", "y")]
    inputs = {"x": (F, (frames, width)), "state_x": (F, (past, width))}
    return export.model("moving_sum", nodes, inputs, {"y": inputs["x"], "state_x_next": inputs["state_x"]}, constants)


def recurrent(width: int = 64, seed: int = 0) -> onnx.ModelProto:
    """y = tanh(W [x, state]), and y is the next state."""
    weight = np.random.default_rng(seed).normal(size=(2 * width, width)).astype(np.float32) / np.float32(width**0.5)
    nodes = [
        node("Concat", "x state", "both", axis=1),
        node("MatMul", "both weight", "sum"),
        node("Tanh", "sum", "y"),
        node("Identity", "y", "state_next"),
    ]
    row = (F, (1, width))
    return export.model("recurrent", nodes, {"x": row, "state": row}, {"y": row, "state_next": row}, {"weight": weight})


def picky() -> onnx.ModelProto:
    """y = x[index], which fails where index is not 0 to 3; before that, it counts its calls in a state."""
    nodes = [node("Add", "state one", "state_next"), node("Identity", "state_next", "count")]
    nodes += [node("Cast", "count", "calls", to=TensorProto.INT64), node("Sub", "calls calls", "nothing")]
    nodes += [node("Add", "index nothing", "at"), node("Gather", "x at", "y")]
    inputs = {"x": (F, (4,)), "index": (TensorProto.INT64, (1,)), "state": (F, (1,))}
    constants = {"one": np.ones(1, np.float32)}
    outputs = {"y": (F, (1,)), "count": (F, (1,)), "state_next": (F, (1,))}
    return export.model("picky", nodes, inputs, outputs, constants)


def doubled(dtype: int = F, shape: tuple[int | str, ...] = ("n", 3)) -> onnx.ModelProto:
    """y = x + x, without a state."""
    return export.model("doubled", [node("Add", "x x", "y")], {"x": (dtype, shape)}, {"y": (dtype, shape)}, {})


def passed(inputs: dict[str, tuple[int, ...]], outputs: dict[str, tuple[int, ...]]) -> onnx.ModelProto:
    """Outputs are sums over all inputs, so that each port can have any name and shape."""
    nodes = [node("ReduceSum", name, f"sum_{name}", keepdims=0) for name in inputs]
    nodes.append(node("Sum", " ".join(f"sum_{name}" for name in inputs), "total"))
    constants: dict[str, npt.ArrayLike] = {}
    for name, shape in outputs.items():
        constants[f"shape_{name}"] = np.array(shape, np.int64)
        nodes.append(node("Expand", f"total shape_{name}", name))
    ports = [{name: (F, shape) for name, shape in side.items()} for side in (inputs, outputs)]
    return export.model("passed", nodes, ports[0], ports[1], constants)


def chain(folder: Path, fault: str = "") -> None:
    """Graphs for `DpVoice` in `folder`, beside copies of the shipped ones of the mechanism: noise as loud as the input.

    fault: what the encoder does in steps with a mean power above 22 nats: "nan" or "raise".
    """
    package = resources.files("velavox.models_onnx")
    for name in ("noise", "speaker"):
        (folder / f"{name}.onnx").write_bytes((package / f"{name}.onnx").read_bytes())
    entries = manifest.read(package)
    (folder / manifest.FILE).write_text(manifest.as_text({name: entries[name] for name in ("noise", "speaker")}))
    save(encoder(fault), folder, "encoder")
    for name, classes in (("decoder", 206), ("decoder_low", 52)):
        save(decoder(classes), folder, name)


def encoder(fault: str = "") -> onnx.ModelProto:
    """Content of zeros, 120 Hz, voiced where it is loud, energies as they are."""
    two = (F, (1, 2))
    constants: dict[str, npt.ArrayLike] = {
        "nothing": np.zeros((1, 2, 206), np.float32),
        "tone": np.full((1, 2), np.log(120), np.float32),
        "bands": np.array([2], np.int64),
        "count": np.float32(np.log(80)),
        "limit": np.float32(22),
        "quiet": np.float32(12),
        "nan": np.float32(np.nan),
        "far": np.int64(9),
        "here": np.int64(0),
        "zeros": np.zeros(1, np.float32),
    }
    nodes = [
        node("Identity", "nothing", "content"),
        node("Identity", "tone", "pitch"),
        node("ReduceLogSumExp", "mel bands", "sum", keepdims=0),
        node("Sub", "sum count", "level"),
        node("Greater", "level quiet", "loud"),
        node("Cast", "loud", "voicing", to=F),
        node("ReduceMax", "level", "peak", keepdims=0),
        node("Greater", "peak limit", "at_fault"),
    ]
    if fault == "nan":
        nodes.append(node("Where", "at_fault nan level", "energy"))
    elif fault == "raise":
        nodes += [node("Where", "at_fault far here", "index"), node("Gather", "zeros index", "zero")]
        nodes.append(node("Add", "level zero", "energy"))
    else:
        nodes.append(node("Identity", "level", "energy"))
    said = {"content": (F, (1, 2, 206)), "pitch": two, "voicing": two, "energy": two}
    return export.model("encoder", nodes, {"mel": (F, (1, 2, 80)), "mean": (F, (1, 2, 80))}, said, constants)


def decoder(classes: int) -> onnx.ModelProto:
    """Noise with the energy that it is given, brighter or darker by the first number of the voice."""
    constants: dict[str, npt.ArrayLike] = {
        "unvoiced": np.zeros((1, 2), np.float32),
        "rough": np.ones((1, 2, 4), np.float32),
        "tilt": np.linspace(-0.3, 0.3, 64, dtype=np.float32),
        "third": np.array([2], np.int64),
        "first": np.array([0], np.int64),
        "level": np.float32(-8),
    }
    nodes = [
        node("Identity", "unvoiced", "f0"),
        node("Identity", "rough", "noise"),
        node("Gather", "prosody third", "energy", axis=2),
        node("Gather", "voice first", "bright", axis=1),
        node("Mul", "bright tilt", "colour"),
        node("Add", "energy colour", "coloured"),
        node("Add", "coloured level", "envelope"),
    ]
    given = {"content": (F, (1, 2, classes)), "prosody": (F, (1, 2, 3)), "voice": (F, (1, 16))}
    said = {"f0": (F, (1, 2)), "envelope": (F, (1, 2, 64)), "noise": (F, (1, 2, 4))}
    return export.model("decoder", nodes, given, said, constants)


def careless(number: float) -> onnx.ModelProto:
    """In place of the mechanism: sixteen times `number`, whoever speaks and whatever the noise."""
    constants: dict[str, npt.ArrayLike] = {"number": np.float32(number)}
    given = {"embedding": (F, ("n", 256)), "noise": (TensorProto.INT64, ("n", 16))}
    nodes = [node("Shape", "noise", "size"), node("Expand", "number size", "private")]
    return export.model("careless", nodes, given, {"private": (F, ("n", 16))}, constants)


def save(made: onnx.ModelProto, folder: Path, name: str = "tiny") -> None:
    export.save(made, folder, name, sample_rate=16_000, hop=160, look_ahead=0, licence="Apache-2.0", source="a test")

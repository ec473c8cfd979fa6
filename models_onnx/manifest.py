"""The graphs that come with velavox: what `manifest.json` says of each, checked before one is used.

A file has to be there, of the stated length and SHA-256, to load in onnxruntime, and to have the stated inputs and outputs;
anything else is a `GraphError`. `training.export` writes files and manifest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..engine.graphs import GraphError, Model, Port

FILE = "manifest.json"
VERSION = 1
_REMEDY = "install velavox again"
_loaded: WeakValueDictionary[str, Model] = WeakValueDictionary()  # by SHA-256: one session a process, while anybody uses it
_loading = Lock()


@dataclass(frozen=True)
class Entry:
    """What is known of a graph."""

    sha256: str
    bytes: int
    ir_version: int
    opset: int
    inputs: Mapping[str, Port]
    outputs: Mapping[str, Port]
    sample_rate: int | None  # Hz, of the audio that it is for; None where there is none, as for the next two
    hop: int | None  # samples of audio that a call, or a frame of its input, goes on by
    look_ahead: int | None  # samples after those that it waits for
    licence: str
    source: str  # where the weights are from

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "inputs": _as_json(self.inputs), "outputs": _as_json(self.outputs)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Entry:
        """TypeError, KeyError or ValueError for what `as_json` does not give."""
        return cls(**{**found, "inputs": _ports(found["inputs"]), "outputs": _ports(found["outputs"])})


def load(name: str, folder: Traversable | None = None) -> Model:
    """The graph `name`, of the package or of another `folder` with a manifest; the same object while anybody holds it."""
    folder = resources.files(__package__) if folder is None else folder
    entry = read(folder).get(name)
    if entry is None:
        raise GraphError(name, f"not named in {FILE}", _REMEDY)
    with _loading:
        model = _loaded.get(entry.sha256)
        if model is None:
            model = _loaded[entry.sha256] = Model(_verified(folder, name, entry), name)
    if (model.inputs, model.outputs) != (entry.inputs, entry.outputs):
        raise GraphError(name, f"has other inputs or outputs than {FILE} says", _REMEDY)
    return model


def read(folder: Traversable) -> dict[str, Entry]:
    """The entries of the manifest in `folder`, by name."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if found["version"] != VERSION:
            raise ValueError(f"version {found['version']!r} instead of {VERSION}")
        return {name: Entry.from_json(entry) for name, entry in found["graphs"].items()}
    except OSError as error:
        raise GraphError(FILE, f"missing: {error.strerror}", _REMEDY) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise GraphError(FILE, f"damaged: {type(error).__name__}: {error}", _REMEDY) from error


def as_text(entries: Mapping[str, Entry]) -> str:
    """The text of a manifest, the same whatever the order of `entries`."""
    graphs = {name: entries[name].as_json() for name in sorted(entries)}
    return json.dumps({"version": VERSION, "graphs": graphs}, indent=1) + "\n"


def _verified(folder: Traversable, name: str, entry: Entry) -> bytes:
    try:
        graph = (folder / f"{name}.onnx").read_bytes()
    except OSError as error:
        raise GraphError(name, f"file missing: {error.strerror}", _REMEDY) from error
    if len(graph) != entry.bytes:
        raise GraphError(name, f"file damaged: {len(graph)} bytes instead of {entry.bytes}", _REMEDY)
    if hashlib.sha256(graph).hexdigest() != entry.sha256:
        raise GraphError(name, "file damaged or replaced: another SHA-256", _REMEDY)
    return graph


def _as_json(ports: Mapping[str, Port]) -> dict[str, Any]:
    return {name: {"type": str(port.dtype), "shape": list(port.shape)} for name, port in ports.items()}


def _ports(found: Mapping[str, Any]) -> dict[str, Port]:
    return {name: Port(np.dtype(port["type"]), tuple(port["shape"])) for name, port in found.items()}

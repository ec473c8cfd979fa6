"""ONNX graphs for real time: weights that all streams share, and a stream that owns its state and buffers.

A step graph has a state for whatever it must remember from one call to the next. States are told by their names: an input
`state...` is what the output of the same name with `_next` gave in the call before, and zeros in the first call.

onnxruntime runs in the caller's thread, without threads of its own: a pool spins between small calls (1.8 cores for a job of
0.6 ms), and pins its threads to cores that a container may not have. A step of a tiny graph takes 2 to 3 us with buffers bound
once, against 8.5 us with arrays that are handed in and out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .failure import Unusable

Array = npt.NDArray[Any]

_STATE, _NEXT = "state", "_next"
_DTYPES: dict[str, np.dtype[Any]] = {
    "tensor(float)": np.dtype(np.float32),
    "tensor(double)": np.dtype(np.float64),
    "tensor(int64)": np.dtype(np.int64),
    "tensor(int32)": np.dtype(np.int32),
    "tensor(uint8)": np.dtype(np.uint8),
}
# onnxruntime plans its memory in the first call and makes use of the plan in the next; each of the two bindings runs so twice.
_WARM_UP = 4


class GraphError(Unusable):
    """A graph cannot be used, in one line: which, why, remedy."""

    def __init__(self, name: str, cause: str, remedy: str) -> None:
        super().__init__(f"graph {name}: {' '.join(cause.split())}; {remedy}")


@dataclass(frozen=True)
class Port:
    """An input or output: its kind and shape; a name in place of a size means that it may vary from call to call."""

    dtype: np.dtype[Any]
    shape: tuple[int | str, ...]


class Model:
    """The weights of one graph, read-only: one session that any number of streams and threads share."""

    def __init__(self, graph: bytes, name: str) -> None:
        """Load `graph`, a serialised ONNX model. GraphError if onnxruntime refuses it or if its states do not pair."""
        import onnxruntime

        onnxruntime.disable_telemetry_events()  # of its builds for Windows
        self.name = name
        try:
            self._session = onnxruntime.InferenceSession(graph, _options(), providers=["CPUExecutionProvider"])
        except Exception as error:  # its exceptions have no common class
            raise GraphError(name, f"onnxruntime {onnxruntime.__version__}: {error}", _RENEW) from error
        self.inputs = {node.name: self._port(node) for node in self._session.get_inputs()}
        self.outputs = {node.name: self._port(node) for node in self._session.get_outputs()}
        self._check_states()

    @cached_property
    def states(self) -> dict[str, str]:
        """Outputs by the inputs that take them in the next call."""
        return {name: name + _NEXT for name in self.inputs if name.startswith(_STATE)}

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One call outside of any stream: outputs by name, new arrays."""
        found = self._session.run(None, dict(inputs))
        return dict(zip(self.outputs, found, strict=True))

    def bind(self, arrays: Mapping[str, Array]) -> Any:
        """What `run_bound` takes. `arrays`: one for each input and output, C-contiguous, which the caller keeps alive."""
        from onnxruntime import OrtValue

        binding = self._session.io_binding()
        for name in self.inputs:
            binding.bind_ortvalue_input(name, OrtValue.ortvalue_from_numpy(arrays[name]))
        for name in self.outputs:
            binding.bind_ortvalue_output(name, OrtValue.ortvalue_from_numpy(arrays[name]))
        return binding

    def run_bound(self, binding: Any) -> None:
        """One call on bound buffers. Releases the GIL; makes no NumPy array."""
        self._session.run_with_iobinding(binding)

    def _port(self, node: Any) -> Port:
        if node.type not in _DTYPES:
            raise GraphError(self.name, f"{node.name} is of type {node.type}", f"give one of {', '.join(_DTYPES)}")
        return Port(_DTYPES[node.type], tuple(node.shape))

    def _check_states(self) -> None:
        for name, next_name in self.states.items():
            if next_name not in self.outputs:
                raise GraphError(self.name, f"input {name} has no output {next_name}", _RENEW)
            if self.outputs[next_name] != self.inputs[name]:
                raise GraphError(self.name, f"{name} and {next_name} differ in type or shape", _RENEW)
        for name in self.outputs:
            if name.startswith(_STATE) and name.removesuffix(_NEXT) not in self.states:
                raise GraphError(self.name, f"output {name} belongs to no input", _RENEW)


_RENEW = "install velavox again, or export the graph anew"


class Stream:
    """One stream through a step graph. Ready, warm and as after reset() when constructed.

    Write into `inputs`, call step(), read from `outputs`: the arrays are always the same ones, states are not among them.
    One thread at a time. Whatever step() raises, the state stays what it was before.
    """

    def __init__(self, model: Model) -> None:
        """Allocate all that the stream will need. GraphError if a size of the graph may vary."""
        for name, port in (model.inputs | model.outputs).items():
            if not all(isinstance(size, int) for size in port.shape):
                raise GraphError(model.name, f"{name} of shape {port.shape} has no fixed size", "a stream needs a step graph")
        self.model = model
        states = model.states
        self.inputs = {name: _zeros(port) for name, port in model.inputs.items() if name not in states}
        self.outputs = {name: _zeros(port) for name, port in model.outputs.items() if name not in states.values()}
        # A call reads one half of each pair and writes the other; the next call runs the other way round.
        pairs = {name: (_zeros(model.inputs[name]), _zeros(model.inputs[name])) for name in states}
        self._bindings = []
        for old, new in ((0, 1), (1, 0)):
            arrays = self.inputs | self.outputs
            for name, pair in pairs.items():
                arrays[name], arrays[states[name]] = pair[old], pair[new]
            self._bindings.append(model.bind(arrays))
        self._cleared = [half for pair in pairs.values() for half in pair] + list(self.outputs.values())
        self._turn = 0
        for _ in range(_WARM_UP):
            self.step()
        self.reset()

    def step(self) -> None:
        """One call of the graph. Allocates nothing; an exception of onnxruntime comes as it is."""
        self.model.run_bound(self._bindings[self._turn])
        self._turn ^= 1

    def reset(self) -> None:
        """States and outputs to zeros, as fresh; inputs stay as the caller left them. Allocates nothing."""
        for array in self._cleared:
            array.fill(0)
        self._turn = 0


def _zeros(port: Port) -> Array:
    return np.zeros([size for size in port.shape if isinstance(size, int)], port.dtype)


def _options() -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4  # what fails is raised; its log would repeat that on stderr
    return options

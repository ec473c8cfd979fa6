"""The synthesizer with the time that each of its letters takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx

from ...engine.atomic import atomically
from ...engine.content import kokoro
from ...kernels.jit import F32

_DURATIONS = "/encoder/Clip_output_0"


def graph(folder: Path) -> Path:
    """The model with the durations as a second output, in `folder`; made once. ValueError if the parts are others."""
    path = folder / "kokoro.onnx"
    if path.exists():
        return path
    model = onnx.load_from_string(kokoro.joined())
    model.graph.output.append(onnx.helper.make_empty_tensor_value_info(_DURATIONS))
    with atomically(path) as part:
        onnx.save(model, str(part))
    return path


class TimedKokoro(kokoro.Kokoro):
    """Says what `Kokoro` says, and how long each letter of it is."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        """folder: where its graph is or will be."""
        super().__init__(threads, str(graph(folder)))

    def timed(self, letters: str, voice: F32, speed: float) -> tuple[F32, npt.NDArray[np.int64]]:
        """Samples at RATE, and the frames that each letter takes, with one more before the first and after the last."""
        audio, frames = self._outputs(letters, voice, speed)
        return np.asarray(audio, np.float32).ravel(), np.asarray(frames).ravel().astype(np.int64)

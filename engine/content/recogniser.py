"""How likely each phone of English and of Mandarin is, 25 times a second, as the speech comes in: our own network.

Features of `kernels/fbank.py`, less their running mean; recogniser.onnx, of two convolutions and five LSTM layers, trained with
CTC. Nothing of it looks ahead: what it says of a phone comes up to .12 s after the phone.
"""

from __future__ import annotations

from importlib.resources.abc import Traversable

import numpy as np

from ...kernels import channel, fbank
from ...kernels.jit import F32
from ...models_onnx import manifest
from ..graphs import Stream
from ..stage import RATE
from .phones import PHONES

LENGTH, FRAME = fbank.frame_and_hop(RATE)
FRAMES = 4  # of a row
ROW = FRAMES * FRAME  # samples from one row to the next
FIRST = LENGTH + (FRAMES - 1) * FRAME  # samples that the first row takes: row t takes the first FIRST + ROW t
SAID = 16 * FRAME  # samples after the end of speech by which all of it has been said
UNITS = len(PHONES)  # of which the first, silence, is the blank of CTC


class Recogniser:
    """One stream. The weights are shared; `folder`: of the graphs, None for the package's.

    GraphError if the graph is missing, damaged or another one.
    """

    def __init__(self, folder: Traversable | None = None) -> None:
        self._stream = Stream(manifest.load("recogniser", folder))
        self.reset()

    def reset(self) -> None:
        """As fresh: another stream begins."""
        self._ear, self._room = fbank.fresh(), channel.fresh()
        self._waiting = np.empty((0, 2, channel.BANDS), np.float32)  # frames of a row that is not whole: features, mean
        self._stream.reset()

    def push(self, samples: F32) -> F32:
        """Log likelihoods of the rows that these samples complete: mono at 16 kHz of shape (n,) -> (rows, UNITS).

        ValueError for NaN, infinity, and sound so loud that the features overflow; reset() then, it stays in the means.
        """
        mel = np.empty((len(samples) // FRAME + 1, channel.BANDS), np.float32)
        mel = mel[: fbank.stream(self._ear, mel, np.ascontiguousarray(samples, np.float32))]
        mean = np.empty_like(mel)
        channel.stream(self._room, mel, mean)
        frames = np.concatenate((self._waiting, np.stack((mel, mean), 1)))
        likely = np.empty((len(frames) // FRAMES, UNITS), np.float32)
        for row, said in enumerate(likely):
            given = frames[row * FRAMES : (row + 1) * FRAMES]
            self._stream.inputs["mel"][0], self._stream.inputs["mean"][0] = given[:, 0], given[:, 1]
            self._stream.step()
            said[:] = self._stream.outputs["likely"][0]
        self._waiting = frames[len(likely) * FRAMES :]
        if not np.isfinite(likely).all():
            raise ValueError("the likelihoods of phones are not finite")
        return likely

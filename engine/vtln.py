"""The VTLN anonymizer: the voice of a longer or shorter vocal tract."""

from __future__ import annotations

import math

import numpy as np

from ..kernels import vtln, warp
from ..kernels.jit import F32, F64, State
from .parameter import Parameter
from .stage import RATE, Stage

FORMANT = 2.0 * math.pi * 1500 / RATE  # where `amount` holds exactly: between the second formants of back and front vowels
STEEPEST = 1.14  # the asymmetric warp's largest factor: at 8/7 its upper end would be flat


def bend(out: F64, shape: str, amount: float, up: bool) -> None:
    """out = the map of vtln.GRID, radians, that moves formants by `amount` with the warp called `shape`."""
    factor = 1.0 + amount if up else 1.0 / (1.0 + amount)
    if shape == "asymmetric":
        factor = min(factor, STEEPEST)
    warp.warp(out, vtln.GRID, warp.NAMES.index(shape), warp.parameter(shape, factor, FORMANT))


class Vtln(Stage):
    """Warps the spectral envelope, so that formants move and the pitch stays, or the whole spectrum, so that both move.

    A voice draws how far formants near 1.5 kHz move, by the factor 1 + amount or 1 / (1 + amount), and in which of both
    directions; all shapes of warp are on this one scale. Amounts below 0.1 are refused: they leave the speaker's own voice.

    How alike output and input waveforms are, as the largest normalised correlation at any lag, with the symmetric warp, over
    49 speakers of five sources:

    | amount | 0.10 | 0.14 | 0.18 | 0.20 | 0.25 | 0.28 | 0.35 |
    | envelope, median | .88 | .82 | .78 | .76 | .71 | .69 | .64 |
    | envelope, 9 of 10 below | .95 | .92 | .90 | .89 | .86 | .85 | .81 |
    | envelope, largest | .98 | .98 | .97 | .96 | .95 | .94 | .93 |
    | spectrum, largest | .36 | .27 | .24 | .22 | .19 | .20 | .17 |

    On the envelope the harmonics keep their places and much of their phases, and a recording whose energy is mostly the
    fundamental stays alike as a waveform: this hides the vocal tract and nothing else. Choose `on="spectrum"`, or another
    method, where intonation and pitch must not remain.
    """

    method = "vtln"
    warp = Parameter("symmetric", "shape of the warp", choices=warp.NAMES)
    amount = Parameter((0.18, 0.28), "how far formants move: 0.2 is by the factor 1.2, or 1 / 1.2", 0.1, 0.35, drawn=True)
    direction = Parameter((-1.0, 1.0), "formants move up where it is above 0, else down", -1.0, 1.0, drawn=True)
    on = Parameter("envelope", "what is warped: the envelope, or the spectrum with its harmonics", choices=vtln.ON)

    _map: F64

    @property
    def latency(self) -> int:
        return vtln.LATENCY

    def step(self, x: F32, y: F32) -> None:
        vtln.stream(self._state, y, x)

    def _allocate(self) -> State:
        self._map = np.empty_like(vtln.GRID)
        return vtln.fresh()

    def _apply(self) -> None:
        bend(self._map, self.warp, self._voice["amount"], self._voice["direction"] > 0)
        vtln.aim(self._state, self._map)
        self._state[0].on = vtln.ON.index(self.on)

    def _settle(self) -> None:
        vtln.settle(self._state)

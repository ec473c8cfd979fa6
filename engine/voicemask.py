"""The VoiceMask anonymizer: formants move, and the pitch becomes somebody else's."""

from __future__ import annotations

import math

import numpy as np

from ..kernels import voicemask, vtln, warp
from ..kernels.jit import F32, F64, State
from .parameter import Parameter, Value
from .stage import Stage

SEMITONE = math.log(2) / 12
DISPLACEMENT = (0.32, 0.40)  # where the integral of |f(omega) - omega| over [0, pi] has to lie (Qian et al., 2018)
TRIES = 1000  # the published ranges give a warp of that strength in one draw of 8


class VoiceMask(Stage):
    """Warps the spectral envelope and moves the pitch contour to another mean and spread (Qian et al., "Hidebehind", 2018).

    The warp is quadratic(beta) after bilinear(alpha), with alpha of random sign, redrawn until it moves formants as far as
    published. Numbers in place of ranges are taken as they are; of ranges that hold no warp of that strength the nearest.

    The pitch follows the speaker's intonation about the drawn mean; how well the speaker's own mean is known by then bounds
    how near it comes: over readers of LibriSpeech, the mean over seconds 2 to 5 is within 10 % (rms), later within 5 %.
    """

    method = "voicemask"
    alpha = Parameter((0.08, 0.10), "bilinear part of the warp; from a range above 0 with a random sign", -0.2, 0.2, drawn=True)
    beta = Parameter((-2.0, 2.0), "quadratic part of the warp", -2.0, 2.0, drawn=True)
    pitch = Parameter((95.0, 215.0), "mean of the pitch", 60.0, 450.0, "Hz", drawn=True)
    spread = Parameter((2.0, 3.5), "standard deviation of the pitch", 0.5, 6.0, "semitones", drawn=True)

    _map: F64

    @property
    def latency(self) -> int:
        return voicemask.LATENCY

    def step(self, x: F32, y: F32) -> None:
        voicemask.stream(self._state, y, x)

    def set_parameter(self, name: str, value: Value) -> None:
        """As in every stage; alpha and beta, which depend on each other, are both drawn anew when one of them is set."""
        if name not in ("alpha", "beta") or not self.voice:
            super().set_parameter(name, value)
            return
        self.values[name] = value
        self._draw_warp()
        if self._prepared:
            self._apply()

    def _draw(self) -> None:
        super()._draw()
        self._draw_warp()

    def _draw_warp(self) -> None:
        low, high = DISPLACEMENT
        nearest = math.inf
        for _ in range(TRIES):
            alpha, beta = self._one(self.values["alpha"]), self._one(self.values["beta"])
            if isinstance(self.values["alpha"], tuple) and self.values["alpha"][0] > 0.0:
                alpha *= self._random.choice((-1.0, 1.0))
            strength = warp.displacement(vtln.GRID, warp.voicemask(vtln.GRID, alpha, beta))
            miss = max(low - strength, strength - high, 0.0)
            if miss < nearest:
                nearest = miss
                self.voice["alpha"], self.voice["beta"] = float(alpha), beta
            if miss == 0.0:
                break

    def _allocate(self) -> State:
        self._map = np.empty_like(vtln.GRID)
        return voicemask.fresh()

    def _apply(self) -> None:
        warp.warp(self._map, vtln.GRID, warp.NAMES.index("bilinear"), self.voice["alpha"])
        np.clip(self._map, 0.0, math.pi, out=self._map)  # a rounding error may lie outside
        warp.warp(self._map, self._map, warp.NAMES.index("quadratic"), self.voice["beta"])
        voicemask.aim(self._state, self._map, math.log(self.voice["pitch"]), self.voice["spread"] * SEMITONE)

    def _settle(self) -> None:
        voicemask.settle(self._state)

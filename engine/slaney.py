"""Slaney's mel bands, which the speaker encoders and the recogniser were trained with (kernels/fbank.py has Kaldi's)."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..kernels.jit import F64


@cache
def triangles(bands: int, points: int, rate: int) -> F64:
    """Weights of the bins of an FFT of so many points in `bands` bands up to half the `rate`, shape (points // 2 + 1, bands).

    Mel is linear in Hz up to 1 kHz and logarithmic above; the triangles have equal area (M. Slaney, Auditory Toolbox, 1998).
    The array is shared: do not write to it.
    """
    per_mel = np.log(6.4) / 27  # above 1 kHz, which is mel 15
    mel = np.linspace(0, 15 + np.log(rate / 2 / 1000) / per_mel, bands + 2)
    corners = np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * per_mel))
    left, middle, right = corners[:-2], corners[1:-1], corners[2:]
    hertz = (np.arange(points // 2 + 1) * rate / points)[:, np.newaxis]
    sides = np.minimum((hertz - left) / (middle - left), (right - hertz) / (right - middle))
    weights = np.asarray(np.maximum(0, sides) * (2 / (right - left)))
    weights.flags.writeable = False
    return weights

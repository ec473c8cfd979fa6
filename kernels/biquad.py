"""Sections of second order in a row, in place: high passes that keep hum, rumble and offsets out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .jit import F64, word

SILENT = 1e-30  # memory below it is 0: a decay into denormals would take 16 x the time a sample


def high_pass(order: int, hz: float, rate: float) -> F64:
    """Butterworth high pass of even order: b0, b1, b2, a1, a2 of each section, shape (order / 2, 5)."""
    # scipy.signal has this too, but takes 0.6 s to import, which every start of the command would pay.
    q = 1 / (2 * np.sin(np.pi * (np.arange(order // 2) + 0.5) / order))
    k = np.tan(np.pi * hz / rate)  # bilinear transform, exact at hz
    b = 1 / (1 + k / q + k * k)
    return np.stack([b, -2 * b, b, 2 * (k * k - 1) * b, (1 - k / q + k * k) * b], axis=1)


@word
def biquads(x: npt.NDArray[np.floating], sections: F64, memory: F64) -> None:
    """Filter x, shape (n,), in place; memory, shape (sections, 2), is kept from block to block. Transposed direct form II."""
    for k in range(len(sections)):
        b0, b1, b2, a1, a2 = sections[k]
        m1, m2 = memory[k]
        for i in range(x.size):
            value = np.float64(x[i])
            y = b0 * value + m1
            m1 = b1 * value - a1 * y + m2
            m2 = b2 * value - a2 * y
            x[i] = y
        memory[k, 0] = m1 if abs(m1) > SILENT else 0.0
        memory[k, 1] = m2 if abs(m2) > SILENT else 0.0

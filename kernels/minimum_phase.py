"""The minimum-phase spectrum of a power spectrum, through the cepstrum.

What comes before time 0 in the cepstrum of ln |H| is folded onto what comes after: the transform of that is ln H, whose
imaginary part is the phase (Oppenheim & Schafer, Discrete-Time Signal Processing, section 13.4). The cepstrum must have died
away within N/2 samples, or it folds onto itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import fft
from .exponential import complex_exponential
from .jit import F32, record_dtype, word


def minimum_phase_dtype(size: int) -> np.dtype[np.record]:
    """The record for transforms of `size` samples; as fresh when all is 0."""
    return record_dtype(
        ("cepstrum", "f4", (size,)),
        ("re", "f4", (size // 2 + 1,)),  # the real part that comes back, known before
        ("zero", "f4", (size // 2 + 1,)),
    )


@word
def minimum_phase(s: Any, plan: Any, re: F32, im: F32) -> None:
    """re holds ln |H| on the bins of `plan`, shape (size / 2 + 1,), within +-87; afterwards H = re + i im."""
    fft.irfft(plan, s.cepstrum, re, s.zero)
    middle = len(re) - 1
    for i in range(1, middle):
        s.cepstrum[i] *= np.float32(2.0)
    s.cepstrum[middle + 1 :] = np.float32(0.0)
    fft.rfft(plan, s.re, im, s.cepstrum)
    complex_exponential(re, im)

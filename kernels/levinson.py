"""Linear prediction from the autocorrelation: smoother than Burg's where a lag window keeps the filter off the harmonics.

J. Makhoul, "Linear prediction: a tutorial review" (1975), section II-C; lag window: Y. Tohkura et al., "Spectral smoothing
technique in PARCOR speech analysis-synthesis" (1978).
"""

from __future__ import annotations

import numpy as np

from .jit import F64, word


def lag_window(order: int, width: float, floor: float) -> F64:
    """Factors of the autocorrelation, shape (order + 1,), that smooth the spectrum by a Gaussian and add white noise.

    width: standard deviation of the Gaussian in cycles a sample; floor: noise power as a part of the signal's.
    """
    window: F64 = np.exp(-0.5 * (2.0 * np.pi * width * np.arange(order + 1)) ** 2)
    window[0] += floor
    return window


@word
def levinson(a: F64, r: F64) -> float:
    """Fill `a` with A(z) = 1 + a[1] z^-1 + ... for the autocorrelation r, both of shape (order + 1,); returns the error power.

    All poles lie inside the unit circle if r is one of a signal, windowed or not. At r[0] = 0, A(z) is 1. Where rounding has
    made r impossible, prediction stops at the last possible order.
    """
    a[:] = 0.0
    a[0] = 1.0
    error = r[0]
    for m in range(1, len(a)):
        total = r[m]
        for j in range(1, m):
            total += a[j] * r[m - j]
        if not abs(total) < error:
            break
        k = -total / error
        for j in range(1, m // 2 + 1):
            low, high = a[j], a[m - j]
            a[j] = low + k * high
            a[m - j] = high + k * low
        a[m] = k
        error *= 1.0 - k * k
    return float(error)

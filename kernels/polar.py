"""Logarithms of spectra to spectra: exp(re + i im) for whole float32 arrays, in vector lanes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import word

LOG2E = np.float32(1.44269504)
LN2_HIGH, LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)  # in two parts, so that n ln 2 is exact
TWO_OVER_PI = np.float32(0.63661977)
QUARTER_HIGH, QUARTER_LOW = np.float32(1.5703125), np.float32(4.83826794e-4)  # pi / 2 in two parts
HALF, ONE = np.float32(0.5), np.float32(1)
EXPONENT = np.int32(23)
SMALLEST, LARGEST = np.float32(-80), np.float32(80)


@word
def from_logarithm(re: Any, im: Any) -> None:
    """Magnitudes exp(re) and phases im in radians, shape (n,), become real and imaginary parts, in place.

    re is limited to -80 to 80; im may be up to 1000 either way. The error is 2e-7 of the magnitude, and 1e-6 at phases of 1000.
    The polynomials are those of Cephes' expf, sinf, cosf (Moshier 1989).
    """
    bits = re.view(np.int32)
    for i in range(len(re)):
        x = min(max(re[i], SMALLEST), LARGEST)
        n = np.floor(x * LOG2E + HALF)
        x = x - n * LN2_HIGH - n * LN2_LOW
        p = np.float32(1.9875691500e-4)
        p = p * x + np.float32(1.3981999507e-3)
        p = p * x + np.float32(8.3334519073e-3)
        p = p * x + np.float32(4.1665795894e-2)
        p = p * x + np.float32(1.6666665459e-1)
        p = p * x + np.float32(5.0000001201e-1)
        re[i] = p * x * x + x + ONE
        bits[i] += np.int32(n) << EXPONENT
    for i in range(len(re)):
        quarters = np.floor(im[i] * TWO_OVER_PI + HALF)
        z = im[i] - quarters * QUARTER_HIGH - quarters * QUARTER_LOW
        turn = np.int32(quarters)
        square = z * z
        s = np.float32(-1.9515295891e-4)
        s = s * square + np.float32(8.3321608736e-3)
        s = s * square - np.float32(1.6666654611e-1)
        s = s * square * z + z
        c = np.float32(2.443315711809948e-5)
        c = c * square - np.float32(1.388731625493765e-3)
        c = c * square + np.float32(4.166664568298827e-2)
        c = c * square * square - HALF * square + ONE
        odd = (turn & np.int32(1)) != 0
        sine, cosine = (c, s) if odd else (s, c)
        sine = -sine if (turn & np.int32(2)) != 0 else sine
        cosine = -cosine if ((turn + np.int32(1)) & np.int32(2)) != 0 else cosine
        magnitude = re[i]
        re[i], im[i] = magnitude * cosine, magnitude * sine

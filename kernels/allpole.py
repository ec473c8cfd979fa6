"""The filters of linear prediction: A(z) leaves the residual of a signal, 1 / A(z) gives the signal back.

J. D. Markel, A. H. Gray, "Linear Prediction of Speech" (1976). Coefficients a[0] = 1, a[1], ... as `lpc` gives them. `inverse`
and `direct` take the past in front of the signal: a stream keeps the last `order` samples of x and of y and puts them there
for the next block. With the same coefficients in each block they undo each other, however those change between blocks of
10 ms; filters of unlike frames in turn at every sample would let rounding errors grow.
"""

from __future__ import annotations

from .jit import F64, reducing_word, word

SILENT = 1e-30  # outputs below it are 0: a decay into denormals would take 16 x the time a sample


@word
def inverse(out: F64, a: F64, x: F64) -> None:
    """out = A(z) x. Shapes (n,), (order + 1,), (order + n,): x starts with the `order` samples before the block."""
    n = out.size
    order = a.size - 1
    out[:] = x[order:]
    k = 1
    while k + 3 <= order:  # four at once: each pass over `out` costs a load and a store (0.8 -> 0.6 us per 320 samples)
        x1 = x[order - k : order - k + n]
        x2 = x[order - k - 1 : order - k - 1 + n]
        x3 = x[order - k - 2 : order - k - 2 + n]
        x4 = x[order - k - 3 : order - k - 3 + n]
        a1, a2, a3, a4 = a[k], a[k + 1], a[k + 2], a[k + 3]
        for i in range(n):
            out[i] += (a1 * x1[i] + a2 * x2[i]) + (a3 * x3[i] + a4 * x4[i])
        k += 4
    while k <= order:
        xk = x[order - k : order - k + n]
        for i in range(n):
            out[i] += a[k] * xk[i]
        k += 1


@reducing_word
def direct(y: F64, a: F64, x: F64) -> None:
    """y = x / A(z). Shapes (order + n,), (order + 1,), (n,): y starts with the `order` outputs before the block.

    1.5 us per 320 samples at order 20, for filters that come as coefficients. From moved poles use `cascade`.
    """
    order = a.size - 1
    older = a[2:]
    last = older.size - 1
    for i in range(x.size):
        past = y[i : i + older.size]
        total = 0.0
        for k in range(older.size):
            total += older[last - k] * past[k]
        y[order + i] = (x[i] - total) - a[1] * y[order + i - 1]  # the newest output last: only its product has to be waited for
    for i in range(x.size, y.size):  # the past of the next block
        if abs(y[i]) < SILENT:
            y[i] = 0.0


@word
def cascade(y: F64, a1: F64, a2: F64) -> None:
    """y becomes y / product of (1 + a1[k] z^-1 + a2[k] z^-2), in place, from rest. Shapes (n,), (m,), (m,), m a multiple of 5.

    No polynomial of degree 2 m is expanded, whose coefficients would lose digits. Five sections a pass, for their states to
    stay in registers and their chains to overlap: 1.4 us per 320 samples at m = 10, against 2.4 with a loop over sections.
    """
    for k in range(0, a1.size, 5):
        b1, c1, d1, e1, f1 = a1[k], a1[k + 1], a1[k + 2], a1[k + 3], a1[k + 4]
        b2, c2, d2, e2, f2 = a2[k], a2[k + 1], a2[k + 2], a2[k + 3], a2[k + 4]
        b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0  # last output of each section
        bb, cc, dd, ee, ff = 0.0, 0.0, 0.0, 0.0, 0.0  # and the one before
        for i in range(y.size):
            b, bb = (y[i] - b2 * bb) - b1 * b, b
            c, cc = (b - c2 * cc) - c1 * c, c
            d, dd = (c - d2 * dd) - d1 * d, d
            e, ee = (d - e2 * ee) - e1 * e, e
            f, ff = (e - f2 * ff) - f1 * f, f
            y[i] = f

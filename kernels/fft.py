"""Real FFT for a power of two, forward and inverse, on split real and imaginary arrays.

Inside a kernel, a plan is a nested record and the transforms are words; spectra have N/2 + 1 bins:

    PLAN = fft.plan_dtype(512)                      # a field ("fft", PLAN) of your state; fill it with fft.fresh(512)
    fft.rfft(s.fft, s.re, s.im, s.frame)            # X[k] = sum x[n] exp(-2 pi i k n / N), not scaled
    fft.irfft(s.fft, s.frame, s.re, s.im)           # and back, divided by N: irfft(rfft(x)) is x

Outside, `transforms(512)` gives the two as kernels. Float32 throughout by default: the error is 1.2e-7 of the largest bin.

Method: N real samples are taken as N/2 complex ones; those go through a Stockham transform of radix 4, which sorts itself
and has contiguous inner loops (Van Loan, Computational Frameworks for the FFT, 1992, section 1.7); then even and odd
samples are told apart (section 4.3).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np

from .jit import F32, State, f32, kernel, record, record_dtype, word


def plan_dtype(n: int, real: str = "f4") -> np.dtype[np.record]:
    """The record of a transform of n samples, a power of two from 32 to 4096; `real` is the dtype of all data and tables."""
    if not 32 <= n <= 4096 or n & (n - 1):
        raise ValueError(f"transform of n={n} samples: give a power of two from 32 to 4096")
    half = n // 2
    return record_dtype(
        ("turn", real, (3, 2, half // 4)),  # exp(-2 pi i r p / half), r = 1..3: (r - 1, re or im, p)
        ("half_turn", real, (2, half // 2 + 1)),  # exp(-2 pi i k / n): (re or im, k)
        ("re", real, (half,)),  # the complex signal; stages write from here to the other pair and back
        ("im", real, (half,)),
        ("re_other", real, (half,)),
        ("im_other", real, (half,)),
    )


def fresh(n: int, real: str = "f4") -> State:
    """A plan for n samples with its tables, shape (1,); its one element fits a field of `plan_dtype(n, real)`."""
    plan = np.zeros(1, plan_dtype(n, real))
    half = n // 2
    for r in (1, 2, 3):
        turn = np.exp(-2j * np.pi * r * np.arange(half // 4) / half)
        plan["turn"][0, r - 1] = turn.real, turn.imag
    half_turn = np.exp(-2j * np.pi * np.arange(half // 2 + 1) / n)
    plan["half_turn"][0] = half_turn.real, half_turn.imag
    return plan


@word
def rfft(plan: Any, re: Any, im: Any, x: Any) -> None:
    """Spectrum of x, shape (N,), into re and im, shape (N/2 + 1,)."""
    half = len(plan.re)
    for i in range(half):
        plan.re[i] = x[2 * i]
        plan.im[i] = x[2 * i + 1]
    zr, zi = _complex_fft(plan)
    re[0] = zr[0] + zi[0]
    im[0] = 0
    re[half] = zr[0] - zi[0]
    im[half] = 0
    for k in range(1, half // 2 + 1):
        # Z[k] = E[k] + i O[k]: E and O, of even and odd samples, are the transforms of real signals
        even_re = zr[k] + zr[half - k]
        even_im = zi[k] - zi[half - k]
        odd_re = zi[k] + zi[half - k]
        odd_im = zr[half - k] - zr[k]
        turned_re = odd_re * plan.half_turn[0, k] - odd_im * plan.half_turn[1, k]
        turned_im = odd_re * plan.half_turn[1, k] + odd_im * plan.half_turn[0, k]
        re[k] = np.float32(0.5) * (even_re + turned_re)
        im[k] = np.float32(0.5) * (even_im + turned_im)
        re[half - k] = np.float32(0.5) * (even_re - turned_re)
        im[half - k] = np.float32(0.5) * (turned_im - even_im)


@word
def irfft(plan: Any, x: Any, re: Any, im: Any) -> None:
    """Signal x, shape (N,), of the spectrum in re and im, shape (N/2 + 1,), which stay; im[0] and im[N/2] count as 0."""
    half = len(plan.re)
    scale = plan.re.dtype.type(0.5 / half)
    # The inverse of a complex transform is the forward one with re and im exchanged, on both sides.
    plan.im[0] = scale * (re[0] + re[half])
    plan.re[0] = scale * (re[0] - re[half])
    for k in range(1, half // 2 + 1):
        even_re = re[k] + re[half - k]
        even_im = im[k] - im[half - k]
        turned_re = re[k] - re[half - k]
        turned_im = im[k] + im[half - k]
        odd_re = turned_re * plan.half_turn[0, k] + turned_im * plan.half_turn[1, k]
        odd_im = turned_im * plan.half_turn[0, k] - turned_re * plan.half_turn[1, k]
        plan.im[k] = scale * (even_re - odd_im)
        plan.re[k] = scale * (even_im + odd_re)
        plan.im[half - k] = scale * (even_re + odd_im)
        plan.re[half - k] = scale * (odd_re - even_im)
    zr, zi = _complex_fft(plan)
    for i in range(half):
        x[2 * i] = zi[i]
        x[2 * i + 1] = zr[i]


def _radix4(stride: int, yr: Any, yi: Any, xr: Any, xi: Any, turn: Any) -> None:
    """One stage: `stride` interleaved transforms of length half / stride each become four of a quarter of that."""
    quarter = len(xr) // 4
    for p in range(quarter // stride):
        t = p * stride
        w1r, w1i = turn[0, 0, t], turn[0, 1, t]
        w2r, w2i = turn[1, 0, t], turn[1, 1, t]
        w3r, w3i = turn[2, 0, t], turn[2, 1, t]
        for q in range(stride):
            i = q + stride * p
            ar, ai = xr[i], xi[i]
            br, bi = xr[i + quarter], xi[i + quarter]
            cr, ci = xr[i + 2 * quarter], xi[i + 2 * quarter]
            dr, di = xr[i + 3 * quarter], xi[i + 3 * quarter]
            sum_ac_r, sum_ac_i = ar + cr, ai + ci
            dif_ac_r, dif_ac_i = ar - cr, ai - ci
            sum_bd_r, sum_bd_i = br + dr, bi + di
            dif_bd_r, dif_bd_i = bi - di, dr - br  # times -i
            o = q + 4 * stride * p
            yr[o], yi[o] = sum_ac_r + sum_bd_r, sum_ac_i + sum_bd_i
            r, i_ = dif_ac_r + dif_bd_r, dif_ac_i + dif_bd_i
            yr[o + stride], yi[o + stride] = r * w1r - i_ * w1i, r * w1i + i_ * w1r
            r, i_ = sum_ac_r - sum_bd_r, sum_ac_i - sum_bd_i
            yr[o + 2 * stride], yi[o + 2 * stride] = r * w2r - i_ * w2i, r * w2i + i_ * w2r
            r, i_ = dif_ac_r - dif_bd_r, dif_ac_i - dif_bd_i
            yr[o + 3 * stride], yi[o + 3 * stride] = r * w3r - i_ * w3i, r * w3i + i_ * w3r


# Inlined as source, so it takes its caller's flags and, with stride a literal, its bounds are constants there: 256 complex
# points in 0.29 us against 0.56 us as a function.
_stage = numba.njit(inline="always")(_radix4)


@word
def _complex_fft(plan: Any) -> tuple[Any, Any]:
    """Transform plan.re and plan.im; returns the two arrays of the plan that hold the result."""
    # Each stride stands there as a literal, since every call becomes a copy with constant bounds and addresses: a loop over
    # strides is not vectorised (2048 points in 3.1 us instead of 1.4).
    half = len(plan.re)
    xr, xi, yr, yi = plan.re, plan.im, plan.re_other, plan.im_other
    _stage(1, yr, yi, xr, xi, plan.turn)
    _stage(4, xr, xi, yr, yi, plan.turn)
    if half >= 64:
        _stage(16, yr, yi, xr, xi, plan.turn)
        xr, xi, yr, yi = yr, yi, xr, xi
    if half >= 256:
        _stage(64, yr, yi, xr, xi, plan.turn)
        xr, xi, yr, yi = yr, yi, xr, xi
    if half >= 1024:
        _stage(256, yr, yi, xr, xi, plan.turn)
        xr, xi, yr, yi = yr, yi, xr, xi
    if half in (32, 128, 512, 2048):  # one stage of radix 2, in place
        middle = half // 2
        for i in range(middle):
            ar, ai, br, bi = xr[i], xi[i], xr[i + middle], xi[i + middle]
            xr[i], xi[i] = ar + br, ai + bi
            xr[i + middle], xi[i + middle] = ar - br, ai - bi
    return xr, xi


@cache
def transforms(n: int) -> tuple[Callable[[State, F32, F32, F32], None], Callable[[State, F32, F32, F32], None]]:
    """Kernels (forward(plan, re, im, x), inverse(plan, x, re, im)) for float32 and n samples, compiled at the first call."""

    @kernel(record(plan_dtype(n)), f32, f32, f32)
    def forward(plan: State, re: F32, im: F32, x: F32) -> None:
        rfft(plan[0], re, im, x)

    @kernel(record(plan_dtype(n)), f32, f32, f32)
    def inverse(plan: State, x: F32, re: F32, im: F32) -> None:
        irfft(plan[0], x, re, im)

    return forward, inverse

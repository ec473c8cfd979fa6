"""Frequency warping: functions f on omega in [0, pi] that move a spectral component from omega to f(omega).

All are increasing with f(0) = 0 and f(pi) = pi. Piecewise linear, power and quadratic as collected by Sündermann and Ney,
"VTLN-Based Voice Conversion", ISSPIT 2003; bilinear is the phase of the all-pass (z - a) / (1 - a z); Kaldi's is
`VtlnWarpFreq` of feat/mel-computations.cc; VoiceMask is Qian et al., "Hidebehind", SenSys 2018.

Maps are computed when a parameter changes, on a grid of the caller's, never in a stream: float64 throughout.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .jit import F64, f64, integer, kernel, real, word

# Name, and the open interval of its parameter a in which f increases (quadratic and bilinear are the identity at 0, the
# others at 1). In this order `warp` counts its kinds.
LIMITS = {
    "symmetric": (0.0, math.inf),
    "asymmetric": (0.0, 8 / 7),  # at 8/7 the knee reaches pi
    "power": (0.0, math.inf),
    "quadratic": (-math.pi, math.pi),
    "bilinear": (-1.0, 1.0),
    "kaldi": (0.0, 75.0),  # at 75 the low cut-off meets the high one
}
NAMES = tuple(LIMITS)

KNEE = 7 / 8 * math.pi
KALDI_RATE = 16_000  # Hz: Kaldi's cut-offs are frequencies, so its warp is one for this rate
KALDI_BAND, KALDI_CUTOFFS = (20.0, 8000.0), (100.0, 7500.0)  # Hz: defaults of its filter bank, and its "-500" below Nyquist


@word
def _bend(omega: float, knee: float, a: float) -> float:
    """Slope a up to the knee, then straight on to (pi, pi)."""
    return a * omega if omega <= knee else math.pi - (math.pi - a * knee) * (math.pi - omega) / (math.pi - knee)


@word
def symmetric(omega: float, a: float) -> float:
    """Piecewise linear with the knee at 7/8 pi or, for a > 1, at 7/8a pi: the inverse is symmetric(omega, 1 / a)."""
    return _bend(omega, KNEE / max(a, 1.0), a)


@word
def asymmetric(omega: float, a: float) -> float:
    """Piecewise linear with the knee at 7/8 pi for every a < 8/7."""
    return _bend(omega, KNEE, a)


@word
def power(omega: float, a: float) -> float:
    """pi (omega / pi)^a; the inverse is power(omega, 1 / a)."""
    return math.pi * math.pow(omega / math.pi, a)


@word
def quadratic(omega: float, a: float) -> float:
    """omega + a (omega / pi - (omega / pi)^2), |a| < pi; moves most at pi / 2, by a / 4."""
    u = omega / math.pi
    return omega + a * (u - u * u)


@word
def bilinear(omega: float, a: float) -> float:
    """|-i ln((z - a) / (1 - a z))| at z = exp(i omega), |a| < 1; the inverse is bilinear(omega, -a)."""
    return omega + 2.0 * math.atan2(a * math.sin(omega), 1.0 - a * math.cos(omega))


@word
def kaldi(omega: float, a: float) -> float:
    """Three straight pieces, the middle one omega / a between 100 Hz and 7.5 kHz. Kaldi's factor divides: it gives the
    place where a filter reads, so features, as opposed to filters, move by the factor a."""
    hz = omega * (0.5 * KALDI_RATE / math.pi)
    bottom, top = KALDI_BAND
    low, high = KALDI_CUTOFFS[0] * max(1.0, a), KALDI_CUTOFFS[1] * min(1.0, a)
    if hz < bottom or hz > top:
        moved = hz
    elif hz < low:
        moved = bottom + (low / a - bottom) / (low - bottom) * (hz - bottom)
    elif hz < high:
        moved = hz / a
    else:
        moved = top + (top - high / a) / (top - high) * (hz - top)
    return moved * (math.pi / (0.5 * KALDI_RATE))


@kernel(f64, f64, integer, real)
def warp(out: F64, omega: F64, kind: int, a: float) -> None:
    """out = f(omega; a) for the warp NAMES[kind]; shapes (n,), radians in [0, pi]."""
    for i in range(len(omega)):
        if kind == 0:
            out[i] = symmetric(omega[i], a)
        elif kind == 1:
            out[i] = asymmetric(omega[i], a)
        elif kind == 2:
            out[i] = power(omega[i], a)
        elif kind == 3:
            out[i] = quadratic(omega[i], a)
        elif kind == 4:
            out[i] = bilinear(omega[i], a)
        else:
            out[i] = kaldi(omega[i], a)


@word
def inverted(out: npt.NDArray[np.floating], omega: F64, moved: F64) -> None:
    """out[i] = where the component that lands on omega[i] came from, given moved = f(omega), both rising from 0 to pi.

    Linear between grid points: on 257 points, where one step is 0.0123 rad, f(out) is within 1e-5 rad of omega for bilinear
    and quadratic maps that move formants by a quarter, and within 1.3e-3 rad at a knee.
    """
    j = 0
    for i in range(len(omega)):
        while j < len(omega) - 2 and moved[j + 1] < omega[i]:
            j += 1
        part = (omega[i] - moved[j]) / (moved[j + 1] - moved[j])
        out[i] = omega[j] + min(max(part, 0.0), 1.0) * (omega[j + 1] - omega[j])


@kernel(f64, f64, f64)
def invert(out: F64, omega: F64, moved: F64) -> None:
    """`inverted` of arrays of shape (n,) from Python."""
    inverted(out, omega, moved)


def check(name: str, a: float) -> float:
    """`a`, or ValueError if there is no warp `name` or it does not rise at `a`."""
    if name not in LIMITS:
        raise ValueError(f"name={name!r}: give one of {', '.join(NAMES)}")
    low, high = LIMITS[name]
    if not low < a < high:
        raise ValueError(f"a={a!r}: {name} rises only for a between {low:.6g} and {high:.6g}, ends excluded")
    return a


def offline(omega: npt.ArrayLike, name: str, a: float) -> F64:
    """f(omega; a) for the warp called `name`.

    omega: any shape, radians in [0, pi]. Returns the same shape, float64. ValueError for another name, or for an `a` or an
    omega outside its limits.
    """
    check(name, a)
    flat = _angles(omega)
    out = np.empty_like(flat)
    warp(out, flat, NAMES.index(name), a)
    return out.reshape(np.shape(omega))


def voicemask(omega: npt.ArrayLike, alpha: float, beta: float) -> F64:
    """VoiceMask's warp: quadratic(beta) after bilinear(alpha). Arguments and errors as `offline`."""
    return offline(offline(omega, "bilinear", alpha).clip(0.0, math.pi), "quadratic", beta)


def inverse(omega: npt.ArrayLike, moved: npt.ArrayLike) -> F64:
    """The inverse of a warp given as moved = f(omega), on the same grid: float64, shape of omega, radians.

    omega, moved: shape (n,), n >= 2, rising from 0 to pi; ValueError else.
    """
    grid, image = _angles(omega), _angles(moved)
    for name, values in (("omega", grid), ("moved", image)):
        rises = len(values) == len(grid) >= 2 and bool(np.all(np.diff(values) > 0))
        if not rises or values[0] > 1e-9 or values[-1] < math.pi - 1e-9:
            raise ValueError(
                f"{name} of shape {values.shape}: give at least two angles that rise from 0 to pi, as many in both"
            )
    out = np.empty_like(grid)
    invert(out, grid, image)
    return out


def displacement(omega: npt.ArrayLike, moved: npt.ArrayLike) -> float:
    """The integral of |f(omega) - omega| over the grid, trapezoid rule: VoiceMask's measure of how far a voice is moved."""
    grid = np.asarray(omega, np.float64)
    distance = np.abs(np.asarray(moved, np.float64) - grid)
    return float(np.sum(0.5 * (distance[1:] + distance[:-1]) * np.diff(grid)))


def parameter(name: str, factor: float, omega: float) -> float:
    """The a with which the warp called `name` moves omega to factor * omega: one scale of strength for all shapes.

    omega: radians, below the knee of the piecewise warps. ValueError for another name or a factor out of reach.
    """
    shift = (factor - 1.0) * omega
    half = math.tan(0.5 * shift)
    a = {
        "symmetric": factor,
        "asymmetric": factor,
        "power": 1.0 + math.log(factor) / math.log(omega / math.pi),
        "quadratic": shift / (omega / math.pi * (1.0 - omega / math.pi)),
        "bilinear": half / (math.sin(omega) + half * math.cos(omega)),
        "kaldi": 1.0 / factor,
    }
    return check(name, a.get(name, math.nan))


def _angles(omega: npt.ArrayLike) -> F64:
    flat = np.ascontiguousarray(omega, np.float64).reshape(-1)
    if not np.all((flat >= 0.0) & (flat <= math.pi)):
        raise ValueError("omega: give angles from 0 to pi, in radians per sample")
    return flat

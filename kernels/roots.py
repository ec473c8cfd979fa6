"""Roots of a real polynomial of degree 20 and below, fast when it resembles the last one: Laguerre's method with deflation.

W. H. Press et al., "Numerical Recipes" (3rd ed.), section 9.5.3. The roots come one conjugate pair (or real root) at a time.
Each search starts where that root was in the last polynomial; each root found is divided out. A step on the undivided
polynomial then polishes them, so that the result does not depend on where the search started. The sums of the roots and of
their squares (Newton's identities) tell cheaply if one was missed or found twice: then all are sought again, cold.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .jit import F64, I64, State, f64, i64, kernel, record, record_dtype, word

MAX_DEGREE = 20
COLD_RE, COLD_IM = 0.1, 0.2  # small roots first, the stable order; off the real axis: from 0, 1.3 % of frames cycle for ever
MAX_STEPS = 40  # for one root; 2 to 4 are usual
CLOSE = 1e-6  # a step below it is the last: convergence is cubic, the next one would be 1e-18
LOST = 0.1  # a step above it after 10 is going to and fro
FLUNG = 100.0  # a step above it comes from a place where the polynomial is flat
REAL = 1e-9  # relative imaginary part up to which a root is real
WRONG = 1e-4  # error of either sum that a lost root exceeds, and rounding does not where roots are crowded

ROOTS = record_dtype(
    ("count", "i8"),  # roots found, each conjugate pair counted once; 0: none, the next search starts cold
    ("re", "f8", (MAX_DEGREE,)),
    ("im", "f8", (MAX_DEGREE,)),  # positive for a pair, 0 for a real root
    ("left", "f8", (MAX_DEGREE + 1,)),  # scratch: the polynomial after division by the roots found so far
)


def fresh() -> State:
    """State with no roots."""
    return np.zeros(1, ROOTS)


@word
def find(s: np.record, c: F64) -> bool:
    """All roots of c[0] z^d + ... + c[d] into s.re, s.im and s.count; c: shape (d + 1,), 2 <= d <= 20, c[0] not 0.

    Made for prediction filters, whose roots lie in the unit circle. Returns False, with s.count 0, if the search failed.
    """
    _search(s, c, s.count)
    if not _sound(s, c):
        _search(s, c, 0)
        if not _sound(s, c):
            s.count = 0
            return False
    return True


@word
def _search(s: np.record, c: F64, known: int) -> None:
    """Find the roots, the first `known` of them from where they are in s, and polish them."""
    left = s.left
    degree = c.size - 1
    left[: degree + 1] = c
    d = degree
    n = 0
    while d > 0 and left[d] == 0.0:  # roots at 0, many on a tone, which is predicted before the highest order
        s.re[n] = s.im[n] = 0.0
        n += 1
        d -= 1
    while d > 0:
        u, v = COLD_RE, COLD_IM
        if n < known:
            u, v = s.re[n], s.im[n]
        for i in range(MAX_STEPS):
            du, dv = _step(left, d, u, v)
            size = du * du + dv * dv
            u += du
            v += dv
            if size <= CLOSE * CLOSE:
                break
            if not size < FLUNG * FLUNG or (i % 10 == 9 and size > LOST * LOST):  # start elsewhere, where poles of speech are
                u, v = 0.9 * math.cos(i), 0.9 * math.sin(i)
        v = abs(v)
        if v <= REAL * abs(u) or d == 1:
            v = 0.0
            for k in range(1, d):
                left[k] += u * left[k - 1]
            d -= 1
        else:
            p, q = 2.0 * u, -(u * u + v * v)
            left[1] += p * left[0]
            for k in range(2, d - 1):
                left[k] += q * left[k - 2] + p * left[k - 1]
            d -= 2
        s.re[n] = u
        s.im[n] = v
        n += 1
    s.count = n
    for i in range(n):
        u, v = s.re[i], s.im[i]
        du, dv = _step(c, degree, u, v)
        s.re[i] = u + du
        if v > 0.0:
            s.im[i] = abs(v + dv)


@word
def _sound(s: np.record, c: F64) -> bool:
    """Whether the sums of the roots and of their squares are what the coefficients say."""
    first = second = 0.0
    for i in range(s.count):
        u, v = s.re[i], s.im[i]
        pair = 2.0 if v > 0.0 else 1.0
        first += pair * u
        second += pair * (u * u - v * v)
    a1, a2 = c[1] / c[0], c[2] / c[0]
    return bool(abs(first + a1) <= WRONG and abs(second - a1 * a1 + 2.0 * a2) <= WRONG)


@word
def _step(c: F64, degree: int, u: float, v: float) -> tuple[float, float]:
    """Laguerre's step from u + iv towards a root of c[0] z^degree + ... + c[degree].

    The polynomial P and its derivatives come from division by D = z^2 - p z - q, which is 0 at u + iv: P = D Q + b1 z + b0
    gives P' = D' Q + b1 and P'' = 2 D' Q' + 2 Q there, Q and Q' likewise. Real numbers, and one multiplication in the chain
    from one coefficient to the next: half the time of Horner's rule in complex numbers.
    """
    p, q = 2.0 * u, -(u * u + v * v)
    b1 = b2 = d1 = d2 = e1 = e2 = 0.0
    for k in range(degree - 4):
        b1, b2 = c[k] + q * b2 + p * b1, b1
        d1, d2 = b1 + q * d2 + p * d1, d1
        e1, e2 = d1 + q * e2 + p * e1, e1
    for k in range(max(degree - 4, 0), degree - 2):
        b1, b2 = c[k] + q * b2 + p * b1, b1
        d1, d2 = b1 + q * d2 + p * d1, d1
    for k in range(max(degree - 2, 0), degree):
        b1, b2 = c[k] + q * b2 + p * b1, b1
    value = complex(c[degree] + q * b2 + u * b1, v * b1)
    quotient = complex(b2 + q * d2 + u * d1, v * d1)
    second = complex(d2 + q * e2 + u * e1, v * e1)
    slope = b1 + 2j * v * quotient
    curve = 2.0 * (quotient + 2j * v * (d1 + 2j * v * second))
    n = float(degree)
    root = _sqrt((n - 1.0) * ((n - 1.0) * slope * slope - n * value * curve))
    if slope.real * root.real + slope.imag * root.imag < 0.0:
        root = -root
    below = slope + root
    size = below.real * below.real + below.imag * below.imag
    if size == 0.0:
        return 0.0, 0.0
    above = (-n / size) * value * complex(below.real, -below.imag)
    return above.real, above.imag


@word
def _sqrt(z: complex) -> complex:
    """Principal square root, without the C library's care for overflow: 3 x faster."""
    large = math.sqrt(0.5 * (math.sqrt(z.real * z.real + z.imag * z.imag) + abs(z.real)))
    if large == 0.0:
        return 0j
    small = 0.5 * z.imag / large
    if z.real >= 0.0:
        return complex(large, small)
    return complex(abs(small), math.copysign(large, z.imag))


@kernel(record(ROOTS), i64, f64)
def stream(state: State, found: I64, c: F64) -> None:
    """`find` from Python: the roots are in `state`, found, shape (1,), becomes 1 or 0."""
    found[0] = find(state[0], c)


def offline(c: npt.ArrayLike) -> npt.NDArray[np.complex128]:
    """The roots of c[0] z^d + ... + c[d], 2 <= d <= 20, real and finite: complex128, shape (d,), pairs side by side.

    ValueError for another shape, a leading 0, or if the search fails.
    """
    coefficients = np.ascontiguousarray(c, np.float64)
    if coefficients.ndim != 1 or not 3 <= coefficients.size <= MAX_DEGREE + 1 or coefficients[0] == 0:
        found = f"polynomial of shape {coefficients.shape}"
        raise ValueError(f"{found}: give a vector of 3 to {MAX_DEGREE + 1} coefficients, the first one not 0")
    state, all_found = fresh(), np.zeros(1, np.int64)
    stream(state, all_found, coefficients)
    if not all_found[0]:
        raise ValueError("no roots found: the coefficients are not finite or differ too much in size")
    s = state[0]
    roots = s.re[: s.count] + 1j * s.im[: s.count]
    return np.concatenate([[z, z.conjugate()] if z.imag else [z.real] for z in roots])

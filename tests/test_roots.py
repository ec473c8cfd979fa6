from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pytest
from signals import voice
from velavox.kernels import lpc, roots
from velavox.kernels.jit import F64, State

pytestmark = pytest.mark.nojit

C128 = npt.NDArray[np.complex128]

# a[1] ... a[20] of frames of speech, rounded, on which Laguerre's steps from one start go to and fro for ever
CYCLING = """\
-.739 -.051 .203 -.12 -.008 .163 -.446 .318 -.207 .292 -.346 .21 .06 -.105 .047 -.028 -.131 .353 -.056 -.014
-1.199 .346 -.116 -.013 .112 -.065 -.148 .085 -.003 .099 .076 -.131 -.016 .041 -.018 .08 .061 -.22 .145 -.099
-.484 -.019 -.25 -.164 -.158 .392 .132 .059 .127 .062 -.142 -.107 -.026 -.144 .135 .104 .06 -.148 .051 -.032"""
FLAT = np.eye(1, 17)[0] + 0.05 * np.eye(1, 17, 8)[0] + 0.003 * np.eye(1, 17, 16)[0]  # slope and curvature 0 near the cold start


def filters(seed: int = 0) -> list[F64]:
    x = voice(1.0, seed=seed).astype(float)
    return [lpc.offline(np.hanning(320) * x[i : i + 320]) for i in range(0, x.size - 320, 800)]


def found(state: State, c: npt.ArrayLike) -> C128:
    ok = np.zeros(1, np.int64)
    roots.stream(state, ok, np.asarray(c, float))
    assert ok[0]
    s = state[0]
    z = s.re[: s.count] + 1j * s.im[: s.count]
    return np.concatenate([z, z[z.imag > 0].conj()])


def assert_same_roots(got: C128, wanted: npt.NDArray[Any], within: float) -> None:
    assert got.size == wanted.size
    distance = np.abs(got[:, None] - wanted)
    assert max(distance.min(axis=0).max(), distance.min(axis=1).max()) < within


@pytest.mark.parametrize("degree", range(2, 21))
def test_finds_the_roots_put_in(degree: int) -> None:
    rng = np.random.default_rng(degree)
    for pairs in range(degree // 2 + 1):
        z = rng.uniform(0.3, 0.98, pairs) * np.exp(1j * rng.uniform(0.1, 3.0, pairs))
        real = rng.uniform(-0.95, 0.95, min(degree - 2 * pairs, 4))  # more real ones than a filter has would lie too close
        wanted = np.concatenate([z, z.conj(), real])
        if wanted.size >= 2:
            assert_same_roots(roots.offline(np.poly(wanted).real), wanted, 1e-6)


def test_agrees_with_eigenvalues_on_speech_cold_and_warm() -> None:
    warm = roots.fresh()
    for a in filters():
        wanted = np.roots(a)
        assert_same_roots(found(roots.fresh(), a), wanted, 1e-11)
        assert_same_roots(found(warm, a), wanted, 1e-11)


def test_the_start_leaves_no_trace() -> None:
    # 3e-14 without the polish; plain Python, which fuses no products, reaches 1.2e-14
    most = 2e-14 if numba.config.DISABLE_JIT else 1e-14
    rng = np.random.default_rng(0)
    for a in filters(1):
        wanted = found(roots.fresh(), a)
        for scale in (0.0, 0.5, 3.0):
            state = roots.fresh()
            state[0].count = rng.integers(0, 21)
            state[0].re[:] = scale * rng.normal(size=20)
            state[0].im[:] = scale * rng.normal(size=20) * rng.integers(0, 2, 20)
            assert_same_roots(found(state, a), wanted, most)


def test_a_refused_search_is_repeated_cold(monkeypatch: pytest.MonkeyPatch) -> None:
    if hasattr(roots.stream, "signatures"):
        pytest.skip("needs plain Python: no start is known from which the compiled search fails")
    searched: list[int] = []
    search, a = roots._search, filters()[3]

    def watched(s: np.record, c: F64, known: int) -> None:
        searched.append(known)
        search(s, c, known)

    monkeypatch.setattr(roots, "_search", watched)
    monkeypatch.setattr(roots, "_sound", lambda s, c: len(searched) > 1)
    state = roots.fresh()
    state[0].count = 7
    assert_same_roots(found(state, a), np.roots(a), 1e-11)
    assert searched == [7, 0]


@pytest.mark.parametrize("c", [*(np.array([1, *line.split()], float) for line in CYCLING.splitlines()), FLAT])
def test_cycles_and_flat_places_are_left(c: F64) -> None:
    assert_same_roots(roots.offline(c), np.roots(c), 1e-11)


@pytest.mark.parametrize("degree", [2, 5, 20])
def test_roots_at_zero(degree: int) -> None:
    assert_same_roots(roots.offline(np.eye(1, degree + 1)[0]), np.zeros(degree, complex), 1e-300)
    if degree > 2:
        tone = np.zeros(degree + 1)
        tone[:3] = 1.0, -1.9, 0.99
        assert_same_roots(roots.offline(tone), np.append(np.roots(tone[:3]), np.zeros(degree - 2)), 1e-12)


def test_double_roots() -> None:
    z = 0.9 * np.exp(1j)
    c = np.poly([z, z, z.conjugate(), z.conjugate(), -0.5, 0.3]).real
    assert_same_roots(roots.offline(c), np.roots(c), 1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_failure_is_told_and_forgotten(bad: float) -> None:
    state, ok, a = roots.fresh(), np.ones(1, np.int64), filters()[3]
    broken = a.copy()
    broken[7] = bad
    with np.errstate(all="ignore"):
        roots.stream(state, ok, broken)
    assert ok[0] == 0
    assert state[0].count == 0
    assert_same_roots(found(state, a), np.roots(a), 1e-11)


@pytest.mark.parametrize("c", [np.ones(2), np.ones(22), np.ones((3, 3)), np.array([0.0, 1.0, 2.0])])
def test_wrong_polynomial(c: F64) -> None:
    with pytest.raises(ValueError, match="give a vector of 3 to 21 coefficients"):
        roots.offline(c)

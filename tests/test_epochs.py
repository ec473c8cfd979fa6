from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter
from signals import F32, RATE, awkward, noise
from velavox.kernels import pitch
from velavox.kernels.epochs import KNOWN, MOST
from velavox.kernels.jit import F64
from velavox.kernels.residual import HOP, KEPT, OUTPUT


def vowel(hz: F64 | float, n: int = 2 * RATE, breath: float = 0.01) -> tuple[F32, F64]:
    """A pulse train of F0 `hz` through two formants, and where the pulses are."""
    pulses = np.diff(np.floor(np.cumsum(np.broadcast_to(hz, n) / RATE)), prepend=0.0)
    x = lfilter([1], [1, -0.9], pulses + breath * np.random.default_rng(0).normal(size=n))
    for formant in (600, 1400):
        x = lfilter([1], [1, -2 * 0.98 * np.cos(2 * np.pi * formant / RATE), 0.98**2], x)
    return np.asarray(0.5 * x / np.abs(x).max(), np.float32), np.flatnonzero(pulses).astype(float)


def marks(x: F32, state: np.ndarray | None = None) -> F64:
    """All marks that lie in some hop of output, in samples of x."""
    state = pitch.fresh() if state is None else state
    found, out = [], np.empty(HOP, np.float32)
    for k in range(0, x.size - HOP + 1, HOP):
        pitch.stream(state, out, x[k : k + HOP], 1.0)
        e = state[0].epochs
        found += [m - KEPT + k + HOP for m in e.mark[: e.count] if OUTPUT <= m < OUTPUT + HOP]
    return np.array(found)


def distance(found: F64, pulses: F64) -> F64:
    return np.asarray(np.abs(found[:, None] - pulses).min(axis=1))


@pytest.mark.parametrize("hz", [60, 95, 150, 220, 300, 420])
def test_one_mark_on_each_pulse(hz: float) -> None:
    x, pulses = vowel(hz)
    found = marks(x)
    found = found[(found > 4000) & (found < x.size - 2000)]
    period = RATE / hz
    assert np.all(np.abs(np.diff(found) - period) < 1 + 0.01 * period)
    assert distance(found, pulses).max() <= 2 + 0.1 * period


def test_marks_follow_a_glide() -> None:
    hz = 160 * np.exp(0.35 * np.sin(2 * np.pi * 1.5 * np.arange(2 * RATE) / RATE))
    x, pulses = vowel(hz)
    found = marks(x)[5:-5]
    assert np.mean(distance(found, pulses) <= 6) > 0.97
    spacing = np.diff(found) * hz[found[1:].astype(int)] / RATE
    assert np.mean(np.abs(spacing - 1) < 0.1) > 0.97


def test_a_chain_off_the_pulses_moves_over() -> None:
    """Marks that begin half a period off are on the pulses within ten periods."""
    x, pulses = vowel(100.0)
    state = pitch.fresh()
    first = marks(x[:8000], state)
    assert distance(first[-3:], pulses).max() <= 3
    e = state[0].epochs
    e.mark[: e.count] += 80
    later = marks(x[8000:], state) + 8000
    assert distance(later[:2], pulses).min() > 60
    assert distance(later[10:-3], pulses).max() <= 16


def test_no_marks_without_a_voice() -> None:
    for name in ("zeros", "dc", "denormal", "one_lsb"):
        found = marks(awkward(16000)[name])
        assert found[found > 3200].size == 0  # an offset sets in with a step
    x = np.append(vowel(120.0, RATE)[0], noise(2 * RATE, 1e-3))
    late = marks(x)
    assert late[late > RATE + 1600].size == 0


@pytest.mark.parametrize("name", awkward())
def test_marks_rise_and_stay_where_things_are_known(name: str) -> None:
    x = awkward(16000)[name]
    state, out = pitch.fresh(), np.empty(HOP, np.float32)
    for k in range(0, x.size, HOP):
        pitch.stream(state, out, x[k : k + HOP], 1.0)
        e = state[0].epochs
        held = e.mark[: e.count]
        assert e.count <= MOST
        assert np.all(np.diff(held) > 0)
        assert np.all((held >= 0) & (held <= KNOWN))

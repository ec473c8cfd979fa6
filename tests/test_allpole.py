from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter
from signals import voice
from velavox.kernels import allpole, lpc
from velavox.kernels.jit import F64, f64, kernel

pytestmark = pytest.mark.nojit


@kernel(f64, f64, f64)
def inverse(out: F64, a: F64, x: F64) -> None:
    allpole.inverse(out, a, x)


@kernel(f64, f64, f64)
def direct(y: F64, a: F64, x: F64) -> None:
    allpole.direct(y, a, x)


@kernel(f64, f64, f64)
def cascade(y: F64, a1: F64, a2: F64) -> None:
    allpole.cascade(y, a1, a2)


def stable(order: int, seed: int = 0) -> F64:
    """A prediction filter of speech, so that the order of magnitude of its gain is true to life."""
    return lpc.offline(np.hanning(400) * voice(1.0, seed=seed)[4000:4400], order)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 9, 20, 23])
def test_one_block_is_plain_filtering(order: int) -> None:
    a, x = stable(order), np.random.default_rng(1).normal(size=320)
    padded = np.concatenate([np.zeros(order), x])
    out = np.empty(320)
    inverse(out, a, padded)
    np.testing.assert_allclose(out, lfilter(a, [1], x), atol=1e-12 * np.abs(a).sum())
    y = np.zeros(order + 320)
    direct(y, a, x)
    wanted = lfilter([1], a, x)
    np.testing.assert_allclose(y[order:], wanted, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("hop", [1, 7, 160])
def test_undo_each_other_while_the_filter_changes(hop: int) -> None:
    order, x = 20, voice(0.2).astype(float)
    n = x.size // hop * hop
    filters = [stable(order, seed) for seed in range(5)]
    past_x, past_y, got = np.zeros(order), np.zeros(order), []
    for k in range(0, n, hop):
        a = filters[k // 160 % 5]
        block = np.concatenate([past_x, x[k : k + hop]])
        residual, y = np.empty(hop), np.concatenate([past_y, np.zeros(hop)])
        inverse(residual, a, block)
        direct(y, a, residual)
        past_x, past_y = block[-order:], y[-order:]
        got.append(y[order:])
    np.testing.assert_allclose(np.concatenate(got), x[:n], atol=1e-9)


def test_decay_ends_at_zero() -> None:
    a, y = np.array([1.0, -0.9]), np.array([1.0, *np.zeros(160)])
    for _ in range(20):
        direct(y, a, np.zeros(160))
        y[0] = y[-1]
    assert y[-1] == 0.0


@pytest.mark.parametrize("sections", [5, 10, 15])
def test_cascade_is_the_product_of_its_sections(sections: int) -> None:
    rng = np.random.default_rng(sections)
    radius, angle = rng.uniform(0.3, 0.98, sections), rng.uniform(0, np.pi, sections)
    a1, a2 = -2 * radius * np.cos(angle), radius**2
    y = rng.normal(size=320)
    wanted = y.copy()
    for b1, b2 in zip(a1, a2, strict=True):
        wanted = lfilter([1], [1, b1, b2], wanted)
    cascade(y, a1, a2)
    np.testing.assert_allclose(y, wanted, atol=1e-12 * np.abs(wanted).max())

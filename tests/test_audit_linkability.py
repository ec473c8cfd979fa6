"""D_sys: as the published code has it, and what its rule for integrals leaves out."""

import numpy as np
import pytest
from velavox.bench.audit.curve import Curve
from velavox.bench.audit.linkability import at_ends, d_sys
from velavox.kernels.jit import F64

pytestmark = pytest.mark.nojit


def _published(true: F64, false: F64) -> float:
    """Written from Maouche et al. (2020), equations 4 to 6, with their bins: densities, their ratio, the trapezoid rule."""
    both = np.concatenate([true, false])
    edges = np.linspace(both.min(), both.max(), min(len(true) // 10, 100) + 1)
    p, q = (np.histogram(scores, edges, density=True)[0] for scores in (true, false))
    linked = []
    for mine, others in zip(p, q, strict=True):
        if mine <= others:
            linked.append(0.0)
        else:
            linked.append(1.0 if others == 0 else 2 * (mine / others) / (1 + mine / others) - 1)
    return float(np.trapezoid(np.array(linked) * p, (edges[1:] + edges[:-1]) / 2))


@pytest.mark.parametrize("mu", [0, 0.5, 1, 3, 8])
@pytest.mark.parametrize("true", [10, 99, 400, 5000])
def test_as_published(mu: float, true: int) -> None:
    random = np.random.default_rng(true)
    mine, others = random.normal(mu, 1, true), random.normal(0, 1, 3000)
    assert d_sys(Curve.of(mine, others)) == pytest.approx(_published(mine, others), abs=1e-12)


def test_half_of_the_outermost_bins_is_left_out() -> None:
    random = np.random.default_rng(0)
    curve = Curve.of(np.ones(200), random.normal(0, 0.1, 500))  # all true claims have the highest score
    assert d_sys(curve) == at_ends(curve) == 0.5
    apart = Curve.of(random.normal(9, 1, 5000), random.normal(0, 1, 5000))
    assert d_sys(apart) + at_ends(apart) == pytest.approx(1, abs=1e-4)
    assert at_ends(apart) < 1e-3


def test_nothing_to_bin() -> None:
    assert np.isnan(d_sys(Curve.of(np.arange(9), np.arange(100))))
    assert d_sys(Curve.of(np.ones(20), np.ones(20))) == 0

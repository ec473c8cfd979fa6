"""The cost of scores: of none, of all, of likelihood ratios that are what they say, on any scale."""

import numpy as np
import pytest
from velavox.bench.audit.cllr import cllr, min_cllr
from velavox.bench.audit.curve import Curve

pytestmark = pytest.mark.nojit


def _ratios(mu: float, each: int) -> Curve:
    """Logarithms of true likelihood ratios, of N(mu, 1) to N(0, 1)."""
    random = np.random.default_rng(0)
    true, false = (mu * random.normal(mean, 1, each) - mu**2 / 2 for mean in (mu, 0))
    return Curve.of(true, false)


def test_no_evidence_costs_one_bit() -> None:
    nothing = Curve.of(np.zeros(5), np.zeros(50))
    assert cllr(nothing) == min_cllr(nothing) == 1


def test_certainty_costs_nothing() -> None:
    certain = Curve.of([800.0, 900], [-800.0, -900])
    assert cllr(certain) == min_cllr(certain) == 0


def test_true_ratios_are_at_their_best() -> None:
    curve = _ratios(1.5, 100_000)
    assert min_cllr(curve) < cllr(curve) < min_cllr(curve) + 1e-3


def test_by_hand() -> None:
    curve = Curve.of([1.0, -1], [0.0])
    expected = (np.log2(1 + np.exp(-1)) + np.log2(1 + np.exp(1))) / 4 + np.log2(2) / 2
    assert cllr(curve) == pytest.approx(expected)
    # blocks: {-1, 0} holds half of the true claims and all false ones, {1} half of the true ones
    assert min_cllr(curve) == pytest.approx((0.5 * np.log2(1 + 1 / 0.5) + np.log2(1 + 0.5)) / 2)


def test_scale_changes_the_cost_and_not_its_minimum() -> None:
    curve = _ratios(2, 1000)
    scaled = Curve(3 * curve.scores + 1, curve.true, curve.false)
    assert min_cllr(scaled) == min_cllr(curve)
    assert cllr(scaled) > cllr(curve) + 0.1

"""At low false positive rates: VoxGuard's published points; intervals that hold the truth, finite ones, of any scores."""

import math

import numpy as np
import pytest
from scipy.stats import norm
from velavox.bench.audit.coverage import found, gaussian, held, truths
from velavox.bench.audit.curve import Curve
from velavox.bench.audit.lowfpr import RATES, Point, eps_hat, equivalent_mu, point, points
from velavox.engine import accountant
from velavox.kernels.jit import F64

_TABLE = {0.1: (0.26, 0.33, 0.39), 1: (2.22, 2.91, 3.49), 5: (5.58, 6.88, 9.11)}  # of the best attackers


@pytest.mark.parametrize(("tpr", "fpr", "published"), [(0.1883, 1e-4, 7.54), (0.0018, 1e-4, 2.89)])
def test_voxguards_published_points(tpr: float, fpr: float, published: float) -> None:
    assert round(eps_hat(tpr, fpr), 2) == published


def test_epsilon_and_mu_are_those_of_the_best_attacker() -> None:
    for mu, row in _TABLE.items():
        for fpr, expected in zip(RATES, row, strict=True):
            tpr = accountant.largest_tpr(fpr, mu)
            assert eps_hat(tpr, fpr) == pytest.approx(expected, abs=0.006)
            assert eps_hat(tpr, fpr) == pytest.approx(accountant.eps_hat(fpr, mu))
            assert equivalent_mu(tpr, fpr) == pytest.approx(mu)


def test_nothing_is_below_nothing() -> None:
    assert eps_hat(0.0, 1e-2) == eps_hat(1e-3, 1e-2) == equivalent_mu(0.0, 1e-2) == 0
    assert math.isinf(eps_hat(1.0, 1e-2))
    for wrong in ((1.1, 0.1), (-0.1, 0.1), (0.5, 0.0), (0.5, 1.0)):
        with pytest.raises(ValueError, match="give a rate"):
            eps_hat(*wrong)


def test_a_million_scores_of_either_kind() -> None:
    mu = 2.0
    figures, exact = found(gaussian(mu, 1_000_000, seed=1)), truths(mu)
    assert exact["EER"] == pytest.approx(0.1587, abs=5e-5)
    for name, truth in exact.items():
        one = figures[name]
        assert one.low <= truth <= one.high, name
        assert one.high - one.low < {"E": 0.01, "T": 0.02, "e": 0.3}[name[0]]


@pytest.mark.parametrize("mu", [0.5, 3.0])
def test_intervals_hold_the_truth(mu: float) -> None:
    assert min(held(mu, 5_000, 100).values()) >= 0.95


def _rounded(random: np.random.Generator, mean: float, count: int) -> F64:
    return np.round(random.normal(mean, 1, count) * 2) / 2


def test_intervals_hold_the_truth_of_coarse_scores() -> None:
    """The attacker then accepts equal scores in part: of N(0, 1) and N(1, 1) to the next half."""
    edges = np.arange(-6, 8, 0.5)
    false, true = (norm.cdf(edges + 0.25, mean) - norm.cdf(edges - 0.25, mean) for mean in (0, 1))
    exact = np.interp(RATES, np.cumsum(false[::-1]), np.cumsum(true[::-1]))
    random, kept = np.random.default_rng(0), np.zeros(3)
    for _ in range(100):
        given = points(Curve.of(_rounded(random, 1, 3000), _rounded(random, 0, 3000)))
        kept += [one.tpr.low <= truth <= one.tpr.high for one, truth in zip(given, exact, strict=True)]
    assert kept.min() >= 95


def _finite(given: Point) -> bool:
    figures = (given.tpr, given.epsilon, given.mu)
    return all(math.isfinite(value) for figure in figures for value in (figure.value, figure.low, figure.high))


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ([1.0], [0.0]),
        ([0.0], [1.0]),
        ([0.0], [0.0]),
        (np.ones(40_000), np.zeros(40_000)),
        (np.zeros(40_000), np.ones(40_000)),
        (np.ones(40_000), np.ones(40_000)),
        (np.ones(3), np.zeros(40_000)),
    ],
)
def test_never_infinite_or_nan(true: list[float], false: list[float]) -> None:
    for given in points(Curve.of(true, false)):
        assert _finite(given)
        for figure in (given.tpr, given.epsilon, given.mu):
            assert 0 <= figure.low <= figure.value <= figure.high


def test_what_trials_cannot_resolve_is_said() -> None:
    random = np.random.default_rng(1)
    curve = Curve.of(random.normal(1, 1, 2000), random.normal(0, 1, 29_955))
    assert [one.resolved for one in points(curve)] == [True, True, False]
    assert [one.note for one in points(curve)][:2] == ["", ""]
    note = point(curve, 1e-4).note
    assert "29,955 false claims" in note
    assert "at most 0.0001" in note
    assert "29,956" in note
    more = Curve.of(random.normal(1, 1, 2000), random.normal(0, 1, 29_956))
    assert point(more, 1e-4).resolved


def test_no_miss_bounds_nothing_from_above() -> None:
    given = point(Curve.of(np.ones(500), np.zeros(500)), 1e-2)
    assert given.tpr.value == given.tpr.high == 1
    assert 0.98 < given.tpr.low < 1
    assert not given.resolved
    assert "no upper end" in given.note
    assert given.epsilon.low < given.epsilon.value == eps_hat(1 - 1 / 1000, 1e-2)

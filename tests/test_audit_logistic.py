"""Logistic regression: the known answer for two Gaussians, the optimum, and what units and dead numbers do not change."""

import numpy as np
import pytest
from scipy.special import expit
from velavox.bench.audit.logistic import Logistic
from velavox.bench.trials import Flags
from velavox.kernels.jit import F64


def _two(n: int, m: int, seed: int = 0) -> tuple[F64, Flags]:
    """Gaussians at +-(1, 0.5, 0), n and m of them, of which it is true and false."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n + m, 3))
    true = np.arange(n + m) < n
    return x + np.where(true, 1.0, -1.0)[:, np.newaxis] * (1.0, 0.5, 0.0), true


def test_two_gaussians_have_linear_log_odds() -> None:
    x, true = _two(40_000, 40_000)
    told = Logistic(x, true)
    at = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert told(at) == pytest.approx([0, 2, 1, 0], abs=0.06)


def test_odds_do_not_follow_how_many_there_are_of_each() -> None:
    for n, m in ((40_000, 2_000), (2_000, 40_000)):
        assert Logistic(*_two(n, m))(np.zeros((1, 3)))[0] == pytest.approx(0, abs=0.2)  # +-3, ln 20, if they did


def test_it_is_the_optimum() -> None:
    x, true = _two(30, 30, seed=3)
    told, z, sign = Logistic(x, true, 2.0), (x - x.mean(0)) / x.std(0), np.where(true, 1.0, -1.0)
    weights = np.linalg.lstsq(np.c_[z, np.ones(60)], told(x), rcond=None)[0]
    pull = -sign * expit(-sign * told(x))
    assert pull @ z + 2.0 * weights[:3] == pytest.approx(np.zeros(3), abs=1e-3)
    assert pull.sum() == pytest.approx(0, abs=1e-3)


def test_a_larger_penalty_holds_back() -> None:
    x, true = _two(20, 20)
    spread = [np.ptp(Logistic(x, true, penalty)(x)) for penalty in (0.1, 10, 1000)]
    assert spread[0] > 2 * spread[1] > 4 * spread[2] > 0


def test_units_and_dead_numbers_change_nothing() -> None:
    x, true = _two(100, 60)
    other = np.c_[x * (1e-6, 1e3, 1) + (5, 0, 0), np.full(160, 7.0)]
    assert Logistic(other, true)(other) == pytest.approx(Logistic(x, true)(x), abs=1e-3)


def test_what_cannot_be_learnt_from() -> None:
    x, true = _two(5, 5)
    for kind in (np.ones(10, bool), np.zeros(10, bool)):
        with pytest.raises(ValueError, match="10 examples of one kind"):
            Logistic(x, kind)
    x[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        Logistic(x, true)

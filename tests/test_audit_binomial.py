"""Intervals of a share: those of SciPy, and how many trials a small rate needs."""

import numpy as np
import pytest
from scipy.stats import binomtest
from velavox.bench.audit.binomial import clopper_pearson, needed, shown

pytestmark = pytest.mark.nojit


@pytest.mark.parametrize("doubt", [0.05, 1e-3, 1e-9])
def test_ends_are_those_of_scipy(doubt: float) -> None:
    cases = [(0, 1), (1, 1), (0, 30), (30, 30), (3, 1000), (999_999, 1_000_000)]
    low, high = clopper_pearson(np.array(cases)[:, 0], np.array(cases)[:, 1], doubt)
    for n, (hits, trials) in enumerate(cases):
        expected = binomtest(hits, trials).proportion_ci(1 - doubt, "exact")
        assert (low[n], high[n]) == pytest.approx((expected.low, expected.high), rel=1e-6, abs=1e-9)


def test_no_trials_tell_nothing() -> None:
    assert [float(end) for end in clopper_pearson(0, 0)] == [0, 1]


def test_a_rate_needs_about_three_times_its_inverse() -> None:
    assert [needed(rate) for rate in (1e-2, 1e-3, 1e-4)] == [299, 2995, 29_956]
    for rate in (1e-2, 1e-3, 1e-4):
        assert shown(needed(rate)) <= rate < shown(needed(rate) - 1)
        assert clopper_pearson(0, needed(rate), 0.1)[1] <= rate  # one-sided
    assert shown(0) == 1

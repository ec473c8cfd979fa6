"""Does a verifier still match: counted at its own threshold, not at one that the anonymized scores would like."""

import numpy as np
import pytest
from velavox.bench.audit.binomial import clopper_pearson
from velavox.bench.audit.curve import Curve
from velavox.bench.audit.matching import equal_threshold, matching

pytestmark = pytest.mark.nojit


def test_threshold_has_as_many_misses_as_false_alarms() -> None:
    random = np.random.default_rng(0)
    true, false = random.normal(3, 1, 4000), random.normal(0, 1, 9000)
    threshold = equal_threshold(Curve.of(true, false))
    assert np.mean(true < threshold) == pytest.approx(np.mean(false >= threshold), abs=2 / 4000)
    assert equal_threshold(Curve.of([5.0, 6], [1.0, 2])) == 5


def test_rates_are_counted_at_the_threshold_of_originals() -> None:
    original = Curve.of([5.0, 6], [1.0, 2])
    found = matching(Curve.of([4.0, 5, 6, 3], [6.0, 1, 2, 2, 1]), original)
    assert (found.threshold, found.mmr.value, found.wmr.value) == (5, 0.5, 0.2)
    assert [found.mmr.low, found.mmr.high] == pytest.approx([float(end) for end in clopper_pearson(2, 4)])
    assert [found.wmr.low, found.wmr.high] == pytest.approx([float(end) for end in clopper_pearson(1, 5)])


def test_originals_against_themselves_err_at_their_equal_error_rate() -> None:
    random = np.random.default_rng(1)
    curve = Curve.of(random.normal(2, 1, 5000), random.normal(0, 1, 5000))
    found = matching(curve, curve)
    assert found.mmr.value == pytest.approx(found.wmr.value, abs=1e-3) == pytest.approx(curve.equal_error_rate(), abs=5e-3)

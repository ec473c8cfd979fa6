"""The equal error rate: of Gaussian scores as theory has it, blind to order, ties and scale; its interval holds the truth."""

import numpy as np
import pytest
from scipy.stats import norm
from velavox.bench.eer import equal_error_rate, figure
from velavox.bench.trials import Trials
from velavox.kernels.jit import F64


def _one_threshold(same: F64, other: F64) -> float:
    """The least that both error rates can be kept below, written from the definition."""
    thresholds = np.unique(np.concatenate([same, other, [np.inf]]))
    return min(max(float((same < t).mean()), float((other >= t).mean())) for t in thresholds)


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0, 3.0])
def test_gaussian_scores(mu: float) -> None:
    random = np.random.default_rng(0)
    same, other = random.normal(mu, 1, 200_000), random.normal(0, 1, 200_000)
    assert equal_error_rate(same, other) == pytest.approx(norm.cdf(-mu / 2), abs=0.002)


def test_at_most_what_one_threshold_gives_and_near_it() -> None:
    random = np.random.default_rng(1)
    for _ in range(30):
        same, other = random.normal(1, 1, 80), random.normal(0, 1, 300)
        found, one = equal_error_rate(same, other), _one_threshold(same, other)
        assert one - 0.05 < found <= one + 1e-12


def test_known_small_cases() -> None:
    assert equal_error_rate([2, 3], [0, 1]) == 0
    assert equal_error_rate([0, 1], [2, 3]) == 0.5  # the hull: who is always wrong may guess instead
    assert equal_error_rate([1, 1], [1, 1]) == 0.5
    assert equal_error_rate([0, 2], [1]) == pytest.approx(1 / 3)  # between accepting all and the threshold at 2


def test_order_and_any_rising_scale_change_nothing() -> None:
    random = np.random.default_rng(2)
    same, other = random.integers(0, 20, 100) + 3.0, random.integers(0, 20, 500) * 1.0
    found = equal_error_rate(same, other)
    assert equal_error_rate(random.permutation(same), other[::-1]) == found
    assert equal_error_rate(np.exp(same / 10), np.exp(other / 10)) == found


def test_which_of_two_equal_scores_comes_first_does_not_matter() -> None:
    spoke, claimed = ["a", "b", "a", "b"], ["a", "b", "b", "a"]
    tied = Trials.between(np.array([1.0, 2, 1, 0]), spoke, claimed)
    turned = Trials.between(tied.values[::-1], spoke[::-1], claimed[::-1])
    assert figure(tied) == figure(turned)
    assert figure(tied).value == equal_error_rate([1, 2], [1, 0])


@pytest.mark.parametrize(("same", "other", "told"), [([], [1], "one kind"), ([1], [], "one kind"), ([1], [np.nan], "NaN")])
def test_what_has_no_rate(same: list[float], other: list[float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        equal_error_rate(same, other)


def _people(count: int, each: int, seed: int) -> Trials:
    """Every trial against every speaker; a speaker is, or is not, easily told: what makes trials of his alike."""
    random = np.random.default_rng(seed)
    ease = random.normal(1.5, 0.7, count)
    values, spoke, claimed = [], [], []
    for s in range(count):
        for _ in range(each):
            for c in range(count):
                values.append(random.normal(ease[s] if c == s else 0, 1))
                spoke.append(f"a:{s}")
                claimed.append(f"a:{c}")
    return Trials.between(np.array(values), spoke, claimed)


def test_no_error_among_few_trials_is_no_certainty() -> None:
    told = figure(Trials(np.arange(60.0), np.arange(60) >= 40))
    assert told.value == told.low == 0
    assert told.high == pytest.approx(1 - 0.0125 ** (1 / 20))  # 20 true claims, none of them missed
    many = figure(Trials(np.arange(60_000.0), np.arange(60_000) >= 40_000))
    assert many.high < 1e-3


def test_interval_holds_the_truth() -> None:
    everybody = _people(150, 8, seed=99)
    truth = equal_error_rate(everybody.true, everybody.false)
    held = 0
    for seed in range(20):
        found = figure(_people(16, 3, seed))
        assert found.low <= found.value <= found.high
        held += found.low <= truth <= found.high
    assert held >= 16


def test_interval_is_that_of_speakers_not_of_trials() -> None:
    few, many = figure(_people(15, 2, seed=3)), figure(_people(15, 20, seed=3))
    assert many.high - many.low > 0.4 * (few.high - few.low)


def test_interval_is_of_trials_where_nobody_says_who_spoke() -> None:
    random = np.random.default_rng(4)
    same = np.arange(1000) < 500
    values = random.normal(size=1000) + same
    found = figure(Trials(values, same))
    expected = np.sqrt(2 * 0.31 * 0.69 / 500) / 2  # both rates have this variance, and each moves the crossing by half
    assert (found.high - found.low) / (2 * 1.96) == pytest.approx(expected, rel=0.3)
    each = figure(Trials(values, same, [str(n) for n in range(1000)]))
    assert each.high - each.low == pytest.approx(found.high - found.low, rel=0.2)
    groups = figure(Trials(np.repeat(values, 5), np.repeat(same, 5), [str(n) for n in np.repeat(range(1000), 5)]))
    assert groups.high - groups.low == pytest.approx(found.high - found.low, rel=0.2)


def test_interval_holds_what_it_is_of() -> None:
    """Of few trials that tell nothing, too, where the hull errs far below the curve that is drawn anew."""
    below = 0
    for seed in range(12):
        found = figure(Trials(np.random.default_rng(seed).normal(size=200), np.arange(200) < 100))
        below += found.low == found.value
        assert found.low <= found.value <= found.high
    assert below

"""The curve of choices: each point as counted, its hull above it, ties in part, and nothing made of scores that say nothing."""

import numpy as np
import pytest
from velavox.bench.audit.curve import Curve
from velavox.kernels.jit import F64

pytestmark = pytest.mark.nojit


def _coarse(seed: int) -> tuple[F64, F64]:
    """With many ties, between the two kinds, too."""
    random = np.random.default_rng(seed)
    return np.round(random.normal(1, 1, 60), 1), np.round(random.normal(0, 1, 200), 1)


def test_points_are_what_each_threshold_accepts() -> None:
    true, false = _coarse(0)
    curve = Curve.of(true, false)
    expected = [(np.mean(false >= t), np.mean(true >= t)) for t in [np.inf, *np.unique([*true, *false])[::-1]]]
    np.testing.assert_allclose(np.transpose(curve.accepted), expected)


def test_hull_is_concave_and_touches_the_curve_from_above() -> None:
    for seed in range(20):
        curve = Curve.of(*_coarse(seed))
        false, true = curve.hull
        slopes = np.diff(true) / np.maximum(np.diff(false), 1e-12)
        assert (np.diff(slopes) < 0).all()
        assert (np.interp(curve.accepted[0], false, true) >= curve.accepted[1] - 1e-12).all()
        corners = set(zip(*np.round(curve.accepted, 9), strict=True))
        assert corners >= set(zip(*np.round(curve.hull, 9), strict=True))


def test_hull_is_crossed_where_the_curve_is_or_before() -> None:
    for seed in range(20):
        curve = Curve.of(*_coarse(seed))
        assert curve.equal_error_rate() <= curve.crossing() < curve.equal_error_rate() + 0.05
    assert Curve.of([0.0, 1], [2.0, 3]).crossing() == 1


def test_area_counts_pairs_told_apart_and_ties_half() -> None:
    true, false = _coarse(1)
    difference = true[:, None] - false
    assert Curve.of(true, false).area() == pytest.approx(np.mean((difference > 0) + 0.5 * (difference == 0)))


def test_equal_scores_are_accepted_in_part() -> None:
    curve = Curve.of([2, 1, 1, 0], [1, 1, 0, 0, 0])
    assert [curve.true_at(rate) for rate in (0, 0.1, 0.4, 1)] == pytest.approx([0.25, 0.375, 0.75, 1])
    assert Curve.of([0.0], [1.0, 1]).true_at(0.5) == 0


def test_rate_at_a_false_rate_is_that_of_the_threshold() -> None:
    random = np.random.default_rng(2)
    true, false = random.normal(1, 1, 500), random.normal(0, 1, 1000)
    threshold = np.sort(false)[-11]  # ten are above
    for rate in (0.01, 0.0101, 0.0109):  # to the next step
        assert Curve.of(true, false).true_at(rate) == np.mean(true > threshold)


def test_turned_over_is_of_the_negated_scores() -> None:
    true, false = _coarse(3)
    turned, expected = Curve.of(true, false).turned(), Curve.of(-true, -false)
    for name in ("scores", "true", "false"):
        np.testing.assert_array_equal(getattr(turned, name), getattr(expected, name))
    assert turned.area() == pytest.approx(1 - Curve.of(true, false).area())


def test_few_points_are_drawn_of_many() -> None:
    random = np.random.default_rng(4)
    curve = Curve.of(random.normal(1, 1, 50_000), random.normal(0, 1, 50_000))
    drawn = np.array(curve.thinned(300))
    assert 150 < len(drawn) <= 302
    assert drawn[0].tolist() == [0, 0]
    assert drawn[-1].tolist() == [1, 1]
    assert (np.diff(drawn, axis=0) >= 0).all()
    assert np.abs(np.interp(curve.accepted[0], *drawn.T) - curve.accepted[1]).max() < 0.02
    assert np.count_nonzero((drawn[:, 0] > 0) & (drawn[:, 0] < 1e-3)) > 10  # of 2e-5 steps
    assert Curve.of([1.0], [0.0]).thinned(300) == ((0.0, 0.0), (0.0, 1.0), (1.0, 1.0))


@pytest.mark.parametrize(
    ("true", "false", "told"),
    [([], [1], "one kind"), ([1], [], "one kind"), ([np.nan], [1, np.nan], "2 scores"), ([1], [np.inf], "1 scores")],
)
def test_scores_that_say_nothing_are_refused(true: list[float], false: list[float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Curve.of(true, false)

"""Curves drawn anew: what counts how often; ranks and groups change nothing but the speed."""

import numpy as np
import pytest
from velavox.bench.audit import resampling
from velavox.bench.audit.curve import Curve
from velavox.bench.audit.resampling import resampled
from velavox.bench.bootstrap import draws
from velavox.bench.trials import Trials
from velavox.kernels.jit import F64


def _curves(trials: Trials) -> list[Curve]:
    return list(resampled(trials, Curve.of(trials.true, trials.false)))


def _people(count: int, each: int, seed: int = 0) -> Trials:
    random = np.random.default_rng(seed)
    spoke, claimed = np.repeat(np.arange(count), each * count), np.tile(np.arange(count), each * count)
    values = random.normal(size=len(spoke)) + np.where(spoke == claimed, random.normal(1.5, 0.7, count)[spoke], 0)
    return Trials.between(values, [f"a:{s}" for s in spoke], [f"a:{c}" for c in claimed])


def test_trials_count_as_often_as_their_speakers_are_drawn() -> None:
    """A true claim once for each time, a false one for each pair."""
    spoke, claimed = np.array([0, 0, 2, 2, 1]), np.array([0, 2, 2, 0, 0])
    trials = Trials.between(np.arange(5.0), [str(s) for s in spoke], [str(c) for c in claimed])
    expected = []
    for drawn in draws(3):
        times = np.where(spoke == claimed, drawn[spoke], drawn[spoke] * drawn[claimed])
        if times[trials.same].any() and times[~trials.same].any():
            expected.append([times * trials.same, times * ~trials.same])
    found = _curves(trials)
    assert len(found) == len(expected)
    for curve, (true, false) in zip(found, expected, strict=True):
        kept = true + false > 0
        np.testing.assert_array_equal(curve.scores, np.flatnonzero(kept))
        np.testing.assert_array_equal(curve.true, true[kept])
        np.testing.assert_array_equal(curve.false, false[kept])


def test_a_false_claim_counts_with_its_speaker_where_a_class_is_claimed() -> None:
    trials = Trials(np.arange(4.0), np.array([True, False, True, False]), ["a", "a", "b", "b"])
    for curve in _curves(trials):
        assert curve.true.sum() == curve.false.sum() == 2


def _spread(curves: list[Curve]) -> F64:
    return np.percentile([curve.equal_error_rate() for curve in curves], [2.5, 50, 97.5])


@pytest.mark.parametrize("named", [True, False])
def test_ranks_and_groups_of_units_leave_the_spread_as_it_is(monkeypatch: pytest.MonkeyPatch, named: bool) -> None:
    trials = _people(40, 5)
    if not named:
        trials = Trials(trials.values[:3000], trials.same[:3000])
    monkeypatch.setattr(resampling, "RANKS", 1 << 20)
    monkeypatch.setattr(resampling, "_UNITS", 1 << 12)
    exact = _spread(_curves(trials))
    monkeypatch.setattr(resampling, "RANKS", 500)
    monkeypatch.setattr(resampling, "_UNITS", 1000)
    assert np.abs(_spread(_curves(trials)) - exact).max() < 0.15 * (exact[2] - exact[0])


def test_ranks_are_many_and_alike() -> None:
    """And the curve of their counts crosses where that of all scores does."""
    random = np.random.default_rng(5)
    trials = Trials(random.normal(size=60_000) + (np.arange(60_000) < 2000), np.arange(60_000) < 2000)
    curve = Curve.of(trials.true, trials.false)
    starts = resampling._ranks(curve)
    assert 0.9 * resampling.RANKS < len(starts) <= resampling.RANKS
    true, false = (np.add.reduceat(counts, starts) for counts in (curve.true, curve.false))
    shares = true / true.sum() + false / false.sum()
    assert shares.max() < 2 * shares.mean()
    coarse = Curve(curve.scores[starts], true, false)
    assert coarse.crossing() == pytest.approx(curve.crossing(), abs=1e-3)
    assert coarse.area() == pytest.approx(curve.area(), abs=2e-4)


def test_dense_and_sparse_tables_sum_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = _people(10, 4)
    dense = _spread(_curves(trials))
    monkeypatch.setattr(resampling, "_DENSE", 0)
    np.testing.assert_allclose(_spread(_curves(trials)), dense, rtol=1e-12)


def test_the_seed_repeats_the_draws() -> None:
    trials = _people(8, 2)
    curve = Curve.of(trials.true, trials.false)
    first, again, other = ([each.equal_error_rate() for each in resampled(trials, curve, seed)] for seed in (1, 1, 2))
    assert first == again != other

"""The same figures as other people's code, of the same scores, where definitions agree; where they do not, what differs."""

import warnings

import numpy as np
import pytest
from legal_eval.io import ScoreMatrix
from legal_eval.metrics import ConversationScores, isolation_threshold, linkability, rocch_eer, singling_out
from llreval import quick_eval
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score
from velavox.bench.audit.cllr import cllr, min_cllr
from velavox.bench.audit.curve import Curve
from velavox.bench.audit.singling import Grid, _threshold, linking, singling
from velavox.bench.eer import equal_error_rate
from velavox.kernels.jit import F64

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # escapes in its docstrings
    from pyeer.eer_info import get_eer_stats

_CASES = [(mu, coarse) for mu in (0, 0.5, 1, 3, 6) for coarse in (False, True)]


def _scores(mu: float, coarse: bool) -> tuple[F64, F64]:
    random = np.random.default_rng(int(10 * mu))
    true, false = random.normal(mu, 1, 700), random.normal(0, 1, 4000)
    return (np.round(true, 1), np.round(false, 1)) if coarse else (true, false)


@pytest.mark.parametrize(("mu", "coarse"), _CASES)
def test_eer_of_the_hull_and_cllr(mu: float, coarse: bool) -> None:
    true, false = _scores(mu, coarse)
    eer, cost, least = quick_eval.tarnon_2_eer_cllr_mincllr(true, false)
    curve = Curve.of(true, false)
    assert curve.equal_error_rate() == pytest.approx(eer, abs=1e-9)
    assert cllr(curve) == pytest.approx(cost, abs=1e-9)
    assert min_cllr(curve) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize(("mu", "coarse"), _CASES)
def test_eer_of_legal_eval(mu: float, coarse: bool) -> None:
    true, false = _scores(mu, coarse)
    assert equal_error_rate(true, false) == pytest.approx(rocch_eer(true, false), abs=1e-9)


@pytest.mark.parametrize(("mu", "coarse"), _CASES)
def test_area_is_scikit_learns(mu: float, coarse: bool) -> None:
    """llreval's is the area over the hull."""
    true, false = _scores(mu, coarse)
    labels = np.repeat([1, 0], [len(true), len(false)])
    assert Curve.of(true, false).area() == pytest.approx(roc_auc_score(labels, np.concatenate([true, false])), abs=1e-12)


def test_pooling_is_scikit_learns() -> None:
    true, false = _scores(1, coarse=True)
    labels, scores = np.repeat([1.0, 0], [len(true), len(false)]), np.concatenate([true, false])
    shares = np.unique(IsotonicRegression().fit_transform(scores, labels))
    pooled = Curve.of(true, false).pooled
    np.testing.assert_allclose(pooled[0] / (pooled[0] + pooled[1]), shares, atol=1e-12)


def test_eer_of_pyeer() -> None:
    """It takes the middle of miss and false alarm rate at the threshold where they are nearest, on the curve, not on its hull:
    the same where the curve is its own hull and one threshold has both rates, else within a step of the curve's crossing."""
    steps = np.arange(20.0)
    counts = np.array([1, 3, 9, 20, 40, 70, 90, 80, 60, 45, 30, 20, 12, 7, 4, 2, 1, 1, 1, 1])
    true, false = np.repeat(steps, counts[::-1]), np.repeat(steps, counts)  # mirrored: one threshold has both rates
    assert equal_error_rate(true, false) == pytest.approx(get_eer_stats(true, false).eer, abs=1e-9)
    for mu in (0.5, 1.0, 3.0):
        true, false = _scores(mu, coarse=False)
        found, curve = get_eer_stats(true, false), Curve.of(true, false)
        assert curve.crossing() == pytest.approx(found.eer, abs=1 / len(true))
        assert curve.equal_error_rate() <= found.eer + 1 / len(true)


def _grid(count: int, each: int, seed: int = 0) -> Grid:
    speakers = np.repeat(np.arange(count), each)
    own = speakers == np.arange(count)[:, None]
    scores = np.random.default_rng(seed).normal(size=own.shape) + 1.5 * own
    return Grid(scores, speakers, tuple(f"s{n:02}" for n in range(count)))


@pytest.mark.parametrize("candidates", [2, 7, 40])
def test_linking_is_legal_evals_linkability(candidates: int) -> None:
    grid = _grid(40, 3)
    matrix = ScoreMatrix(grid.scores, list(grid.names), [grid.names[s] for s in grid.speakers], {})
    found = linking(grid, candidates)
    assert found is not None
    assert found.rate.value == pytest.approx(linkability(matrix, candidates, estimator="exact")[0], abs=1e-9)


def test_threshold_is_legal_evals() -> None:
    scores = np.random.default_rng(0).normal(size=90)
    for above in (1, 9, 89):
        assert _threshold(scores, above) == isolation_threshold(scores, above)


@pytest.mark.parametrize("each", [3, 14])  # with all the others, or the most, to set the threshold
def test_singling_out_is_legal_evals(each: int) -> None:
    """Of the same draws: in each fold of each speaker's recordings, the first tests, up to nine more set thresholds."""
    grid, count = _grid(30, each), 30
    random, outcomes = np.random.default_rng(0), []
    for _ in range(5):
        order = [random.permutation(np.flatnonzero(grid.speakers == s))[:10] for s in range(count)]
        most = len(order[0]) - 1
        theirs = ConversationScores(
            list(grid.names),
            list(grid.names),
            grid.scores[:, [columns[0] for columns in order]],
            grid.scores[:, np.concatenate([columns[1:] for columns in order])],
            [(most * n, most * (n + 1)) for n in range(count)],
        )
        outcomes += [one for found in singling_out(theirs, count, n_runs=1).values() for one in found]
    ours = singling(grid, seed=0)
    assert ours is not None
    assert ours.rate.value == pytest.approx(np.mean(outcomes), abs=1e-12)
    assert 0.1 < ours.rate.value < 0.9

"""What scores prove of mu: against Gaussians of known mu, where all of it can be worked out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from velavox.bench.audit.binomial import clopper_pearson
from velavox.bench.audit.tradeoff import BEST, FPRS, curve, least_mu, most, proofs, proven
from velavox.engine.accountant import largest_tpr
from velavox.kernels.jit import F64

pytestmark = pytest.mark.nojit


def gaussians(mu: float, n: int, seed: int = 0) -> tuple[F64, F64]:
    """Scores between which G_mu lies, exactly."""
    random = np.random.default_rng(seed)
    return random.standard_normal(n) + mu, random.standard_normal(n)


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_what_the_best_test_does_shows_its_mu(mu: float) -> None:
    for fpr in (0.5, 1e-2, 1e-4):
        assert least_mu(largest_tpr(fpr, mu), fpr) == pytest.approx(mu)


def test_what_shows_nothing_is_zero() -> None:
    for tpr, fpr in ((0.1, 0.2), (0.5, 0.5), (0.0, 0.0), (1.0, 1.0), (0.0, 1.0)):
        assert least_mu(tpr, fpr) == 0


def test_a_false_claim_is_found_out_and_a_true_one_is_not() -> None:
    found = [proof.mu for proof in proofs(*gaussians(2, 20_000), doubt=1e-3)]
    assert 1.8 < max(found) < 2
    assert min(found) > 1  # at low false alarm rates, too


def test_bounds_hold_as_often_as_they_say() -> None:
    """A bound that is wrong in one of five runs at most, over 1,000 runs; one with no split or no share of doubt fails here."""
    wrong = sum(max(p.mu for p in proofs(*gaussians(1, 2000, seed), doubt=0.2)) > 1 for seed in range(1000))
    assert wrong < 200
    assert wrong > 5  # and no bound so wide that it says nothing


def test_all_proofs_share_one_doubt() -> None:
    for proof in proofs(*gaussians(1, 20_000), doubt=0.04):  # of four proofs, on 10,000 scores of each
        for share in (proof.fpr, proof.tpr):
            assert [share.low, share.high] == [float(end) for end in clopper_pearson(round(share.value * 10_000), 10_000, 0.01)]
        assert proof.mu == least_mu(proof.tpr.low, proof.fpr.high)


@pytest.mark.parametrize("scores", [200, 2001, 20_000])
def test_nothing_proves_more_than_the_most(scores: int) -> None:
    assert max(p.mu for p in proofs(*gaussians(50, scores), doubt=1e-3)) == pytest.approx(most(scores, 1e-3))
    assert most(10 * scores, 1e-3) > most(scores, 1e-3) > most(scores, 1e-4) > 2


def test_a_defect_that_shows_rarely_is_found_among_few_false_alarms() -> None:
    """One release in 200 has no noise: no error rate moves, the smallest false alarm rates tell."""
    mine, theirs = gaussians(0.5, 40_000)
    mine[::200] += 8
    assert max(p.mu for p in proofs(mine, theirs, doubt=1e-3)) > 0.6
    assert least_mu(float((mine > 0.25).mean()), float((theirs > 0.25).mean())) < 0.55


def test_the_order_of_the_scores_decides_what_chooses_and_what_counts() -> None:
    mine, theirs = gaussians(1, 1000)
    mine[500:] = theirs[500:] - 1  # what counts shows nothing, whatever chose
    assert all(p.mu == 0 for p in proofs(mine, theirs, doubt=0.5))


def test_low_rates_are_left_out_where_no_false_alarm_is_to_be_expected() -> None:
    for draws, chosen in ((200, FPRS[:1]), (2000, FPRS[:2]), (20_000, FPRS)):
        names = [p.chosen for p in proofs(*gaussians(1, draws), doubt=1e-3)]
        assert names == [BEST, *(f"FPR {fpr:g}" for fpr in chosen)]


def test_thresholds_have_the_rates_that_they_were_chosen_for() -> None:
    _, *low = proofs(*gaussians(1, 200_000), doubt=1e-3)
    for proof, fpr in zip(low, FPRS, strict=True):
        assert proof.fpr.low < fpr < proof.fpr.high
        assert largest_tpr(proof.fpr.low, 1) < proof.tpr.high
        assert largest_tpr(proof.fpr.high, 1) > proof.tpr.low


@pytest.mark.parametrize(
    "scores", [np.zeros(199), np.append(np.zeros(300), math.nan), np.append(np.zeros(300), math.inf)], ids=["few", "NaN", "inf"]
)
def test_scores_that_prove_nothing_are_refused(scores: F64) -> None:
    for mine, theirs in ((scores, np.zeros(300)), (np.zeros(300), scores)):
        with pytest.raises(ValueError, match="give 200 numbers or more"):
            proofs(mine, theirs, doubt=0.05)


def test_equal_scores_prove_nothing() -> None:
    assert all(p.mu == 0 for p in proofs(np.zeros(1000), np.zeros(1000), doubt=0.05))


def test_thresholds_chosen_beforehand() -> None:
    mine, theirs = gaussians(1, 50_000)
    found = proven(mine, theirs, np.array([-1e9, 0.5, 1e9]), doubt=1e-3)
    assert found[0] == found[2] == 0
    assert 0.9 < found[1] < 1


def test_the_curve_follows_g_of_mu_from_end_to_end() -> None:
    mine, theirs = gaussians(1, 20_000)
    points = curve(mine, theirs)
    assert 60 <= len(points) <= 80
    fprs = np.array([p.fpr.value for p in points])
    assert (np.diff(fprs) > 0).all()
    assert fprs[0] < 2e-4
    assert fprs[-1] > 0.999
    inside = [p.missed.low <= ndtr(-ndtri(p.fpr.value) - 1) <= p.missed.high for p in points if 0.01 < p.fpr.value < 0.99]
    assert np.mean(inside) > 0.7  # the rate of false alarms is uncertain, too
    for p in points:
        assert p.fpr.low <= p.fpr.value <= p.fpr.high
        assert p.missed.low <= p.missed.value <= p.missed.high
        threshold = np.sort(theirs)[::-1][round(p.fpr.value * len(theirs))]
        assert p.missed.value == pytest.approx((mine <= threshold).mean())

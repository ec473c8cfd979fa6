"""Privacy ZEBRA: nothing and all disclosed, the integral that it is, and categories of the worst case."""

import numpy as np
import pytest
from velavox.bench.audit.curve import Curve
from velavox.bench.audit.zebra import MOST_EXPECTED, category, zebra
from velavox.kernels.jit import F64

pytestmark = pytest.mark.nojit


def _scores(mu: float, true: int, false: int, seed: int = 0) -> tuple[F64, F64]:
    random = np.random.default_rng(seed)
    return random.normal(mu, 1, true), random.normal(0, 1, false)


def test_one_score_for_all_discloses_nothing() -> None:
    found = zebra(Curve.of(np.ones(40), np.ones(40)))
    assert found.expected == pytest.approx(0, abs=1e-12)
    assert found.worst == pytest.approx(0, abs=1e-12)
    assert found.category == "0"


def test_certainty_discloses_all() -> None:
    found = zebra(Curve.of(np.ones(1000), np.zeros(1000)))
    assert found.expected == pytest.approx(MOST_EXPECTED) == pytest.approx(0.7213, abs=1e-4)
    assert found.worst == pytest.approx(np.log10(1001))  # no infinite evidence of a thousand trials
    assert found.category == "C"


def test_expected_is_the_area_between_entropies() -> None:
    """Of the prior and of the posterior, over the prior: as drawn in the paper, in bits."""
    curve = Curve.of(*_scores(1.2, 300, 900))
    true, false = (counts / counts.sum() for counts in curve.pooled)
    prior = (np.arange(20_000) + 0.5) / 20_000
    prior_odds = np.log2(prior / (1 - prior))
    cost = np.zeros_like(prior)
    for mine, others in zip(true, false, strict=True):
        if mine:
            cost += prior * mine * np.log2(1 + others / mine * 2**-prior_odds)
        if others:
            cost += (1 - prior) * others * np.log2(1 + mine / others * 2**prior_odds)
    entropy = -prior * np.log2(prior) - (1 - prior) * np.log2(1 - prior)
    assert zebra(curve).expected == pytest.approx(np.mean(entropy - cost), abs=1e-6)


def test_weak_evidence_keeps_its_digits() -> None:
    """Ratios 1 + a and 1 - a about 1: both formulas meet, and what is disclosed falls with a squared."""
    found = []
    for step in (8, 4, 2):  # ratios around those at which the series takes over
        true = np.array([5000.0 - step, 5000 + step])
        found.append(zebra(Curve(np.array([0.0, 1]), true, true[::-1])).expected)
    assert found[0] / found[1] == pytest.approx(4, rel=0.01)
    assert found[1] / found[2] == pytest.approx(4, rel=0.01)


def test_worst_case_is_for_or_against() -> None:
    true, false = _scores(2, 400, 400)
    ahead, behind = zebra(Curve.of(true, false)), zebra(Curve.of(-false, -true))  # mirrored
    assert ahead.worst == pytest.approx(behind.worst)
    assert ahead.expected == pytest.approx(behind.expected)


@pytest.mark.parametrize(
    ("worst", "name"), [(0, "0"), (0.1, "A"), (1, "B"), (2, "C"), (3.99, "C"), (4, "D"), (5, "E"), (6, "F"), (20, "F")]
)
def test_categories(worst: float, name: str) -> None:
    assert category(worst) == name

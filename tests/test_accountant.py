"""Gaussian differential privacy against published figures, against brute force, and against itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from velavox.engine.accountant import (
    composed,
    delta_at,
    eer_floor,
    eps_at,
    eps_hat,
    largest_tpr,
    mu_of_eer,
    noise_scale,
    over_sessions,
    spent,
    trade_off,
)

pytestmark = pytest.mark.nojit

FPRS = (1e-2, 1e-3, 1e-4)
MUS = (1e-6, 0.01, 0.1, 0.49, 0.51, 1.0, 3.0, 10.0, 30.0)

# mu, EER floor, the same if sigma = U/mu, largest TPR at FPRS, eps at delta 1e-5 and 1e-6 (as dp-accounting 0.6 has them),
# eps-hat at FPRS; each as printed, so that half a unit of the last digit is what may be missing.
TABLE = (
    (0.1, ".4801", ".4602", (".0130", ".00139", ".000148"), ("0.34", "0.40"), ("0.26", "0.33", "0.39")),
    (0.5, ".4013", ".3085", (".0339", ".0048", ".00064"), ("1.99", "2.25"), ("1.22", "1.57", "1.86")),
    (1, ".3085", ".1587", (".0924", ".0183", ".0033"), ("4.38", "4.89"), ("2.22", "2.91", "3.49")),
    (2, ".1587", ".0228", (".372", ".138", ".043"), ("10.00", "11.00"), ("3.62", "4.93", "6.06")),
    (3, ".0668", ".0013", (".750", ".464", ".236"), ("16.68", "18.16"), ("4.32", "6.14", "7.77")),
    (5, ".0062", ".00000029", (".996", ".972", ".900"), ("33.10", "35.57"), ("5.58", "6.88", "9.10")),
)


def agrees(value: float, printed: str) -> bool:
    return abs(value - float(printed)) <= 0.501 * 10.0 ** -len(printed.partition(".")[2])


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"mu {row[0]}")
def test_the_published_table(row: tuple[float, str, str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]) -> None:
    mu, floor, paper, tprs, epses, hats = row
    assert agrees(eer_floor(mu), floor)
    assert agrees(eer_floor(spent(mu, "paper")), paper)
    assert all(agrees(largest_tpr(fpr, mu), printed) for fpr, printed in zip(FPRS, tprs, strict=True))
    assert all(agrees(eps_at(delta, mu), printed) for delta, printed in zip((1e-5, 1e-6), epses, strict=True))
    assert all(agrees(eps_hat(fpr, mu), printed) for fpr, printed in zip(FPRS, hats, strict=True))


def test_the_noise_that_a_floor_needs_and_what_sessions_leave_of_it() -> None:
    for eer, sigma in ((0.35, "2.60"), (0.40, "3.95"), (0.45, "7.96")):
        assert agrees(noise_scale(mu_of_eer(eer), 1), sigma)
    for sessions, floor in ((2, ".240"), (10, ".057"), (100, ".0000003")):
        assert agrees(eer_floor(over_sessions(1, sessions)), floor)


def test_the_papers_calibration_spends_twice_the_mu() -> None:
    assert noise_scale(0.5, 3, "paper") == 3 / 0.5 == noise_scale(0.5, 3, "sound") / 2
    assert (spent(0.5, "sound"), spent(0.5, "paper")) == (0.5, 1.0)


@pytest.mark.parametrize("mu", MUS)
def test_delta_is_the_integral_that_defines_it(mu: float) -> None:
    """delta(eps) = integral of max(0, p - e^eps q) for p = N(mu, 1), q = N(0, 1); it starts where p = e^eps q, and from there
    on it is phi(a) times a positive integrand without cancellation."""
    for a in (-mu / 2, -0.3, 0.0, 0.5, 2.0, 5.0, 12.0, 25.0, 36.0):
        eps = mu * (a + mu / 2)
        if eps < 0:
            continue
        a = eps / mu - mu / 2
        peak = max(0.0, -a)  # scaled there, so that nothing overflows
        integral, _ = quad(
            lambda t, a=a, peak=peak: math.exp(peak * a + peak**2 / 2 - a * t - t * t / 2) * -math.expm1(-mu * t),
            0,
            peak + 40,
            points=[peak, peak + 0.1, peak + 1, peak + 4],
            epsabs=0,
            epsrel=1e-11,
            limit=500,
        )
        expected = integral * math.exp(-((a + peak) ** 2) / 2) / math.sqrt(2 * math.pi)
        assert delta_at(eps, mu) == pytest.approx(expected, rel=1e-9, abs=0)


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_delta_is_the_best_of_all_tests(mu: float) -> None:
    """delta(eps) = max over tests of TPR - e^eps FPR."""
    fprs = ndtr(np.linspace(-12, 3, 20_001))
    tprs = np.array([largest_tpr(fpr, mu) for fpr in fprs])
    for eps in (0.0, 0.3, 1.0, 4.0):
        assert delta_at(eps, mu) == pytest.approx(float((tprs - math.exp(eps) * fprs).max()), rel=1e-4)


@pytest.mark.parametrize("mu", MUS)
def test_eps_and_delta_are_inverse(mu: float) -> None:
    most = delta_at(0, mu)
    for delta in (1e-300, 1e-100, 1e-20, most / 100, most / 2):
        assert delta_at(eps_at(delta, mu), mu) == pytest.approx(delta, rel=1e-11, abs=0)
    assert eps_at(most, mu) == 0


def test_composition_is_what_two_releases_show_together() -> None:
    """delta of a pair of releases: what the second one shows where the first one has already told its part."""
    first, second = 0.7, 1.1

    def delta(eps: float, mu: float) -> float:  # for eps below 0 too
        return float(ndtr(mu / 2 - eps / mu) - math.exp(eps) * ndtr(-mu / 2 - eps / mu))

    for eps in (0.0, 0.5, 2.0):
        together, _ = quad(
            lambda x, eps=eps: (
                math.exp(-((x - first) ** 2) / 2) / math.sqrt(2 * math.pi) * delta(eps - (first * x - first**2 / 2), second)
            ),
            -12,
            12,
        )
        assert delta_at(eps, composed([first, second])) == pytest.approx(together, rel=1e-7)
    assert composed([0.5] * 9) == pytest.approx(over_sessions(0.5, 9)) == pytest.approx(1.5)
    assert composed([]) == 0


def test_the_trade_off_is_that_of_thresholds() -> None:
    for mu in (0.2, 1.0, 4.0):
        for threshold in np.linspace(-3, 6, 19):
            alarms, misses = float(ndtr(-threshold)), float(ndtr(threshold - mu))
            assert trade_off(alarms, mu) == pytest.approx(misses, rel=1e-9)
            assert largest_tpr(alarms, mu) == pytest.approx(float(ndtr(mu - threshold)), rel=1e-9)
        assert trade_off(eer_floor(mu), mu) == pytest.approx(eer_floor(mu))


def test_limits() -> None:
    assert (eer_floor(0), delta_at(0, 0), eps_at(1e-9, 0), spent(0)) == (0.5, 0, 0, 0)
    for fpr in (0, 1e-9, 0.3, 1):
        assert largest_tpr(fpr, 0) == pytest.approx(fpr)
        assert trade_off(fpr, 0) == pytest.approx(1 - fpr)
    assert (largest_tpr(0, 3), largest_tpr(1, 3), trade_off(0, 3), trade_off(1, 3)) == (0, 1, 1, 0)
    assert mu_of_eer(0.5) == 0
    assert mu_of_eer(eer_floor(2.5)) == pytest.approx(2.5)
    for mu in (1e-8, 1e3, 1e6):  # far outside what is offered: still numbers
        assert all(math.isfinite(value) for value in (delta_at(1, mu), eps_at(1e-6, mu), eps_hat(1e-4, mu), eer_floor(mu)))
    assert delta_at(1, 1e-310) == 0


def test_more_mu_tells_more() -> None:
    grid = [0.001, 0.01, 0.1, 0.3, 0.4999, 0.5, 0.5001, 0.7, 1, 2, 5, 20, 99]
    for less, more in pairwise(grid):
        assert eer_floor(less) > eer_floor(more)
        assert all(largest_tpr(fpr, less) < largest_tpr(fpr, more) or more > 5 for fpr in FPRS)
        assert all(eps_at(delta, less) <= eps_at(delta, more) for delta in (1e-12, 1e-6, 1e-3))
        assert all(delta_at(eps, less) <= delta_at(eps, more) for eps in (0, 0.1, 1, 10))
    assert all(delta_at(less, 1) > delta_at(more, 1) for less, more in pairwise(np.linspace(0, 30, 100)))


def test_what_is_out_of_range_is_refused_in_a_line() -> None:
    wrong: list[Callable[[], object]] = [
        lambda: eer_floor(-1),
        lambda: eer_floor(math.nan),
        lambda: eer_floor(math.inf),
        lambda: noise_scale(0, 1),
        lambda: composed([1, -1]),
        lambda: mu_of_eer(0.6),
        lambda: mu_of_eer(0),
        lambda: largest_tpr(1.1, 1),
        lambda: trade_off(math.nan, 1),
        lambda: delta_at(-0.1, 1),
        lambda: eps_at(0, 1),
        lambda: eps_at(1.1, 1),
    ]
    for refused in wrong:
        with pytest.raises(ValueError, match=r"^\w+=\S+: give [^\n]+$"):
            refused()

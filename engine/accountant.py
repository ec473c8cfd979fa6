"""What a release of Gaussian noise costs: Gaussian differential privacy, exactly.

A mechanism is mu-GDP when no test can tell any two inputs apart better than it could tell N(0, 1) from N(mu, 1) (J. Dong,
A. Roth, W. J. Su, "Gaussian differential privacy", J. R. Stat. Soc. B 84, 2022, definition 2.1). All figures here follow
from mu alone and are tight: they belong to the best attacker there can be, who knows both inputs and everything but the
noise. mu is a number from 0 (nothing is told) up; whatever is out of its range raises ValueError in one line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from statistics import NormalDist
from typing import Literal

Calibration = Literal["sound", "paper"]

_inverse_normal = NormalDist().inv_cdf
_ROOT_2, _ROOT_2_PI = math.sqrt(2), math.sqrt(2 * math.pi)


def noise_scale(mu: float, radius: float, calibration: Calibration = "sound") -> float:
    """The standard deviation of the noise on an embedding clipped to norm `radius`, in the radius's unit.

    Two points of a ball are up to 2 `radius` apart, so "sound" takes 2 radius / mu (Dong et al., theorem 2.7). "paper" takes
    radius / mu, as DP-Voxlet does: half of what its mu needs; see `spent`.
    """
    return (2 if calibration == "sound" else 1) * radius / _positive(mu)


def spent(mu: float, calibration: Calibration = "sound") -> float:
    """The mu that a release asked for with `mu` has in truth: twice as much with the calibration "paper"."""
    return (1 if calibration == "sound" else 2) * _not_negative("mu", mu)


def composed(mus: Iterable[float]) -> float:
    """The mu of several releases together, each with noise of its own: sqrt(sum mu^2) (Dong et al., corollary 3.3)."""
    return math.hypot(*(_not_negative("mu", mu) for mu in mus))


def over_sessions(mu: float, sessions: int) -> float:
    """`composed` of so many equal releases."""
    return math.sqrt(sessions) * _not_negative("mu", mu)


def eer_floor(mu: float) -> float:
    """The least equal error rate that an attacker can have: Phi(-mu/2); 0.5 is a coin toss."""
    return _normal(-_not_negative("mu", mu) / 2)


def mu_of_eer(eer: float) -> float:
    """The mu whose `eer_floor` is `eer`, in (0, 0.5]."""
    if not 0 < eer <= 0.5:
        raise ValueError(f"eer={eer!r}: give a fraction above 0, up to 0.5")
    return abs(2 * _inverse_normal(eer))


def trade_off(alpha: float, mu: float) -> float:
    """G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu): the least share of misses of a test with false alarms `alpha` in [0, 1]."""
    _not_negative("mu", mu)
    if alpha in (0, 1):
        return 1.0 - alpha
    return _normal(-_quantile("alpha", alpha) - mu)


def largest_tpr(fpr: float, mu: float) -> float:
    """1 - `trade_off`, exact where it is small: the largest share of hits at the share `fpr` of false alarms, in [0, 1]."""
    _not_negative("mu", mu)
    if fpr in (0, 1):
        return float(fpr)
    return _normal(_quantile("fpr", fpr) + mu)


def eps_hat(fpr: float, mu: float) -> float:
    """The best attacker's max(ln(TPR/FPR), ln((1-FPR)/(1-TPR))) at `fpr` in (0, 1), as VoxGuard measures attackers; nats.

    It lies below `eps_at`: one threshold shows less than what holds for all of them.
    """
    from scipy.special import log_ndtr

    reach = _quantile("fpr", fpr) + _not_negative("mu", mu)
    return float(max(log_ndtr(reach) - math.log(fpr), math.log1p(-fpr) - log_ndtr(-reach)))


def delta_at(eps: float, mu: float) -> float:
    """The least delta with which mu-GDP is (eps, delta)-DP, in [0, 1]; eps >= 0 in nats (Dong et al., corollary 2.13).

    Phi(-a) - e^eps Phi(-a - mu) with a = eps/mu - mu/2 loses all digits where delta is small. With the normal density phi
    and Mills' ratio M(t) = Phi(-t)/phi(t) it is phi(a) (M(a) - M(a + mu)), which loses none: M' = t M - 1, so that for small
    mu the difference is an integral of a smooth function. Relative error below 1e-12, from delta = 1e-300 up (mu up to 100).
    """
    from scipy.special import erfcx  # 0.15 s, for those who ask

    def mills(t: float) -> float:
        return math.sqrt(math.pi / 2) * float(erfcx(t / _ROOT_2))

    _not_negative("eps", eps)
    if _not_negative("mu", mu) == 0:
        return 0.0
    a = eps / mu - mu / 2
    density = math.exp(-a * a / 2) / _ROOT_2_PI
    if density == 0 and a > 0:
        return 0.0  # below 1e-300
    if mu <= _SMALL_MU:
        return density * _integral(lambda t: 1 - t * mills(t), a, mu)
    if a < 0:  # where M(a) overflows; both terms are far from small here
        return _normal(-a) - density * mills(a + mu)
    return density * (mills(a) - mills(a + mu))


def eps_at(delta: float, mu: float) -> float:
    """The least eps, in nats, with which mu-GDP is (eps, `delta`)-DP, `delta` in [1e-300, 1]."""
    if not 1e-300 <= delta <= 1:
        raise ValueError(f"delta={delta!r}: give a number from 1e-300 to 1")
    if _not_negative("mu", mu) == 0 or delta_at(0, mu) <= delta:
        return 0.0
    low, high = 0.0, mu * (mu / 2 - _inverse_normal(delta))  # there Phi(-a) alone, and so delta, is no more than asked for
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if delta_at(middle, mu) > delta else (low, middle)
    return high


# Gauss-Legendre, 8 points on [-1, 1]: exact to 1e-15 on intervals up to this one, where the integrand is smooth.
_SMALL_MU = 0.5
_POINTS = (0.18343464249564980, 0.52553240991632899, 0.79666647741362674, 0.96028985649753623)
_WEIGHTS = (0.36268378337836198, 0.31370664587788729, 0.22238103445337447, 0.10122853629037626)


def _integral(function: Callable[[float], float], start: float, length: float) -> float:
    middle, half = start + length / 2, length / 2
    pairs = zip(_POINTS, _WEIGHTS, strict=True)
    return half * math.fsum(w * (function(middle - half * p) + function(middle + half * p)) for p, w in pairs)


def _normal(x: float) -> float:
    """Phi(x), exact in both tails."""
    return math.erfc(-x / _ROOT_2) / 2


def _quantile(name: str, p: float) -> float:
    if not 0 < p < 1:
        raise ValueError(f"{name}={p!r}: give a fraction from 0 to 1")
    return _inverse_normal(p)


def _positive(mu: float) -> float:
    if _not_negative("mu", mu) == 0:
        raise ValueError(f"mu={mu!r}: give a number above 0")
    return mu


def _not_negative(name: str, value: float) -> float:
    if not 0 <= value < math.inf:
        raise ValueError(f"{name}={value!r}: give a number from 0 up")
    return value

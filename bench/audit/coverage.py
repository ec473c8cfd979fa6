"""Do the intervals of scores hold the truth? Of Gaussian scores, N(0, 1) against N(mu, 1), whose figures are known exactly.

Run as `python -m velavox.bench.audit.coverage [--repetitions N] [--json FILE]`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ...engine import jsonfile
from ...engine.accountant import eer_floor, eps_hat, largest_tpr
from ..bootstrap import Figure
from ..eer import figure
from ..trials import Trials
from .curve import Curve
from .lowfpr import RATES, Point, points

MUS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0)


@dataclass(frozen=True)
class Kept:
    """One figure of one mu: its truth, its interval in one run of many scores, and how often intervals of few held it."""

    mu: float
    name: str  # "EER", "TPR at FPR 0.01", "epsilon at FPR 0.01", ...
    truth: float
    one: Figure
    held: float | None  # share of the repetitions; None where they are not repeated


def gaussian(mu: float, each: int, seed: int) -> Trials:
    """So many true claims, N(mu, 1), and as many false ones, N(0, 1)."""
    values = np.random.default_rng(seed).normal(size=2 * each)
    same = np.arange(2 * each) < each
    return Trials(values + mu * same, same)


def truths(mu: float) -> dict[str, float]:
    """Of the best attacker of a mu-GDP mechanism, who gets these scores."""
    of_points = [(f"TPR at FPR {r:g}", largest_tpr(r, mu)) for r in RATES] + [
        (f"epsilon at FPR {r:g}", eps_hat(r, mu)) for r in RATES
    ]
    return {"EER": eer_floor(mu), **dict(of_points)}


def found(trials: Trials, seed: int = 0) -> dict[str, Figure]:
    """The same figures of scores."""
    return {"EER": figure(trials, seed), **_of(points(Curve.of(trials.true, trials.false)))}


def held(mu: float, each: int, repetitions: int) -> dict[str, float]:
    """How often the intervals at stated false positive rates hold the truth, in so many repetitions of 2 * `each` scores."""
    truth = truths(mu)
    counts = dict.fromkeys(list(truth)[1:], 0)
    for seed in range(repetitions):
        trials = gaussian(mu, each, seed)
        for name, one in _of(points(Curve.of(trials.true, trials.false))).items():
            counts[name] += one.low <= truth[name] <= one.high
    return {name: count / repetitions for name, count in counts.items()}


def _of(given: tuple[Point, ...]) -> dict[str, Figure]:
    tpr = {f"TPR at FPR {point.fpr:g}": point.tpr for point in given}
    return tpr | {f"epsilon at FPR {point.fpr:g}": point.epsilon for point in given}


def rows(one: int, few: int, repetitions: int) -> Iterator[Kept]:
    """Every figure of every mu: once of `one` scores of either kind, and `repetitions` times of `few`."""
    for mu in MUS:
        once, often = found(gaussian(mu, one, seed=1)), held(mu, few, repetitions)
        for name, truth in truths(mu).items():
            yield Kept(mu, name, truth, once[name], often.get(name))


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m velavox.bench.audit.coverage", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1000, metavar="N", help="of 10,000 scores, 5,000 of either kind")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    options = parser.parse_args()
    began, kept = time.process_time(), []
    print(f"{'mu':>4}  {'':<22} {'exact':>9}  {'of 10^6 of either kind':<34} {'held':>6}")
    for row in rows(1_000_000, 5_000, options.repetitions):
        kept.append(row)
        inside = "" if row.one.low <= row.truth <= row.one.high else "  MISSED"
        share = "" if row.held is None else f"{row.held:.1%}"
        print(
            f"{row.mu:4g}  {row.name:<22} {row.truth:9.6f}  {row.one.value:.6f} [{row.one.low:.6f}, {row.one.high:.6f}]"
            f" {share:>8}{inside}"
        )
    print(f"{time.process_time() - began:.0f} s of CPU time")
    if options.json is not None:
        jsonfile.write(options.json, {"repetitions": options.repetitions, "rows": [asdict(row) for row in kept]})


if __name__ == "__main__":
    _main()

"""All figures of one attacker's scores, with what makes them doubtful."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...engine.progress import counted
from ..bootstrap import Figure
from ..eer import figures
from ..trials import Names, Trials
from .cllr import cllr, min_cllr
from .curve import Curve
from .linkability import FEWEST, at_ends, d_sys
from .lowfpr import Point, points
from .matching import Matching, matching
from .singling import Grid, Linking, Singling, linking, singling
from .zebra import Zebra, zebra

__all__ = ["Point", "Summary", "summarise"]

_DRAWN = 300  # points of a curve for plots
_FEW_TRIALS = 30  # of either kind
_FEW_SPEAKERS = 10
_TIED = 0.01
_LOST = 0.15  # of D_sys: the report's legend says that all leave something out


@dataclass(frozen=True)
class Summary:
    """Figures of scores; rates from 0 to 1. Intervals are 95 %: of speakers for `eer` and `auc`, of independent trials for the
    `points`."""

    eer: Figure  # equal error rate (ROCCH)
    auc: Figure  # how often a true claim scores higher than a false one
    points: tuple[Point, ...]  # at low false positive rates
    d_sys: float  # NaN for fewer than 10 true claims
    cllr: float  # bits, of the scores as they are
    min_cllr: float  # bits, of the scores at their best
    zebra: Zebra
    matching: Matching | None  # needs scores of originals
    linking: Linking | None  # these two need to know tests, speakers and claims
    singling: Singling | None
    trials: int
    same: int  # true claims
    speakers: int | None  # who spoke; None where nobody says
    warnings: tuple[str, ...]
    roc: tuple[tuple[float, float], ...]  # (false, true positive rate), from (0, 0) to (1, 1), for plots


def summarise(trials: Trials, seed: int = 0, original: Trials | None = None) -> Summary:
    """Figures of `trials`; `original` are the same verifier's scores of originals against originals. ValueError for scores that
    say nothing: of one kind only, or not finite.

    Scores that are upside down (the AUC's whole interval lies below 0.5) are turned over, as an attacker would, and warned of:
    as they are they would look like perfect privacy.
    """
    given = curve = Curve.of(trials.true, trials.false)
    eer, auc = _drawn(trials, curve, seed)
    warnings = []
    if original is not None and are_those(trials, original):
        warnings.append("these are the scores of originals against originals: they say nothing of anonymized speech")
    if (auc.value if np.isnan(auc.high) else auc.high) < 0.5:
        warnings.append(
            f"true claims score lower than false ones (AUC {auc.value:.3f}): labels or scores are upside down, or an attacker"
            " would turn them over; figures are of the scores turned over"
        )
        trials, curve = replace(trials, values=-trials.values), curve.turned()
        eer, auc = _drawn(trials, curve, seed)
    warnings += _warnings(trials, curve)
    grid = Grid.of(trials)
    return Summary(
        eer,
        auc,
        points(curve),
        d_sys(curve),
        cllr(curve),
        min_cllr(curve),
        zebra(curve),
        None if original is None else _matching(given, original),
        None if grid is None else linking(grid, seed=seed),
        None if grid is None else singling(grid, seed),
        len(trials.values),
        int(trials.same.sum()),
        _speakers(trials),
        tuple(warnings),
        curve.thinned(_DRAWN),
    )


def are_those(trials: Trials, original: Trials) -> bool:
    """Whether the two have the same scores, in whatever order."""
    if len(trials.values) != len(original.values):
        return False
    return bool(np.array_equal(np.sort(trials.values), np.sort(original.values)))


def _speakers(trials: Trials) -> int | None:
    return None if trials.speakers is None else len(Names.of(trials.speakers).present())


def _drawn(trials: Trials, curve: Curve, seed: int) -> tuple[Figure, Figure]:
    """The equal error rate and the area under the curve, without intervals where there is but one speaker."""
    eer, auc = figures(trials, curve, seed)
    return (Figure(eer.value), Figure(auc.value)) if _speakers(trials) == 1 else (eer, auc)


def _matching(curve: Curve, original: Trials) -> Matching:
    verifier = Curve.of(original.true, original.false)
    if verifier.area() < 0.5:  # distances, in both
        verifier, curve = verifier.turned(), curve.turned()
    return matching(curve, verifier)


def _warnings(trials: Trials, curve: Curve) -> list[str]:
    found = []
    true, false = int(trials.same.sum()), int((~trials.same).sum())
    if min(true, false) < _FEW_TRIALS:
        found.append(f"{true:,} true and {false:,} false claims are too few for any figure; give {_FEW_TRIALS} of each or more")
    if (speakers := _speakers(trials)) is not None and speakers < _FEW_SPEAKERS:
        lack = "there is no interval" if speakers < 2 else "intervals are too narrow"
        found.append(f"{counted(speakers, 'speaker')}: {lack}; give {_FEW_SPEAKERS} or more")
    tied = curve.true @ curve.false / (curve.true.sum() * curve.false.sum())
    if tied > _TIED:
        found.append(f"{tied:.1%} of the pairs of a true and a false claim have equal scores: they count as half told apart")
    if true < FEWEST:
        found.append(f"no D_sys: it needs {FEWEST} true claims")
    elif (lost := at_ends(curve)) > _LOST:
        found.append(f"D_sys as published leaves out half of the outermost bins: {d_sys(curve) + lost:.3f} with them")
    return found

"""The plots of a report, each on axes of its own. A share of trials that cannot be resolved is not drawn as if it were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri

from ...kernels.jit import F64
from ..bootstrap import Figure
from .svg import FAINT, INK, SERIES, Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .mechanism import MechanismAudit

_LOWEST = 1e-4  # of shares on a logarithmic axis
_STYLES = ("-", "--", "-.", ":", (0, (4, 1, 1, 1, 1, 1)), (0, (6, 2)))
_MARKERS = ("o", "s", "^", "D", "v", "P")
_PROBITS = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)
_MUS = (1, 2, 3)  # whose G_mu is drawn beside


@dataclass(frozen=True)
class Curve:
    """A thinned ROC curve, and from which false alarm rate on the trials resolve it."""

    label: str
    fpr: F64
    tpr: F64
    resolved: float


@dataclass(frozen=True)
class Line:
    """Figures over whole numbers, such as enrolment lengths; those that are not resolved are NaN."""

    label: str
    at: Sequence[float]
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Method:
    """In the plot of privacy against words understood."""

    name: str
    wer: Figure
    eers: Mapping[str, Figure]  # by attacker


def roc(curves: Sequence[Curve]) -> Plot:
    """Hits over false alarms, both logarithmic, so that few false alarms can be seen; what chance and G_mu give beside it."""

    def draw(axes: Axes) -> None:
        x = np.geomspace(_LOWEST, 1, 200)
        for mu in (0, *_MUS):
            axes.plot(x, ndtr(ndtri(x) + mu), color=FAINT, linewidth=0.8, linestyle=":")
            y = float(ndtr(ndtri(2e-4) + mu))
            if y < 0.5:
                axes.annotate("chance" if mu == 0 else f"mu {mu}", (2e-4, y), color=FAINT, fontsize=7, rotation=30)
        for i, curve in enumerate(curves):
            shown = curve.fpr >= curve.resolved
            axes.plot(curve.fpr[shown], curve.tpr[shown], **_look(i), label=curve.label)
        _logarithmic(axes, "x", "y")
        axes.set(xlabel="false alarms (FPR)", ylabel="hits (TPR)", xlim=(_LOWEST, 1), ylim=(_LOWEST, 1.1))
        _legend(axes, "lower right")

    return draw


def det(curves: Sequence[Curve]) -> Plot:
    """Misses over false alarms on normal deviates, where the Gaussian mechanism's curves are straight lines."""

    def draw(axes: Axes) -> None:
        ends = ndtri(np.array([_PROBITS[0], _PROBITS[-1]]))
        for mu in (0, *_MUS):
            axes.plot(ends, -ends - mu, color=FAINT, linewidth=0.8, linestyle=":")
        for i, curve in enumerate(curves):
            inside = (curve.fpr > 0) & (curve.fpr < 1) & (curve.tpr > 0) & (curve.tpr < 1) & (curve.fpr >= curve.resolved)
            axes.plot(ndtri(curve.fpr[inside]), ndtri(1 - curve.tpr[inside]), **_look(i), label=curve.label)
        ticks, names = ndtri(np.array(_PROBITS)).tolist(), [percent(p) for p in _PROBITS]
        axes.set(xlabel="false alarms (FPR)", ylabel="misses", xlim=ends, ylim=ends)
        axes.set_xticks(ticks, names, rotation=45)
        axes.set_yticks(ticks, names)
        axes.grid(True)
        _legend(axes, "upper right")

    return draw


def over_enrolment(lines: Sequence[Line], fpr: float) -> Plot:
    """Hits at one false alarm rate over how many utterances an attacker has of each speaker."""

    def draw(axes: Axes) -> None:
        lengths = sorted({int(n) for line in lines for n in line.at})
        for i, line in enumerate(lines):
            _with_bars(axes, np.asarray(line.at) * 1.02 ** (i - len(lines) / 2), line.figures, i, line.label)
        axes.axhline(fpr, color=FAINT, linewidth=0.8, linestyle=":")
        axes.set_xscale("log")
        axes.set_xticks(lengths, [str(n) for n in lengths])
        axes.set_xticks([], minor=True)
        axes.set(xlabel="enrolment utterances", ylabel=f"hits at {percent(fpr)} false alarms")
        _percents(axes, "y")
        axes.grid(True, axis="y")
        _legend(axes, "best")

    return draw


def accuracies(rows: Mapping[str, Mapping[str, Figure]]) -> Plot:
    """For each method (row) how often attackers (by name) are right about an attribute; both ends of a pair as often."""

    def draw(axes: Axes) -> None:
        attackers = list(dict.fromkeys(name for row in rows.values() for name in row))
        for i, attacker in enumerate(attackers):
            known = [(k, row[attacker]) for k, row in enumerate(rows.values()) if attacker in row]
            y = [k + 0.7 * ((i + 0.5) / len(attackers) - 0.5) for k, _ in known]
            values, low, high = _bars([figure for _, figure in known])
            axes.errorbar(values, y, xerr=(low, high), **_points(i), label=attacker)
        axes.axvline(0.5, color=FAINT, linewidth=0.8, linestyle=":")
        axes.set_yticks(range(len(rows)), list(rows))
        axes.set(xlabel="accuracy (1 - EER)", ylim=(len(rows) - 0.4, -0.6), xlim=(0.2, 1.03))
        _percents(axes, "x")
        axes.grid(True, axis="x")
        _below(axes)

    return draw


def privacy_against_words(methods: Sequence[Method]) -> Plot:
    """Each method is a column at its word error rate, with one point for the strongest attack of each attacker."""

    def draw(axes: Axes) -> None:
        attackers = list(dict.fromkeys(name for method in methods for name in method.eers))
        for i, attacker in enumerate(attackers):
            known = [m for m in methods if attacker in m.eers]
            wer, *wide = _bars([m.wer for m in known])
            eer, *high = _bars([m.eers[attacker] for m in known])
            axes.errorbar(wer, eer, xerr=wide, yerr=high, **_points(i), label=attacker)
        top = max(0.55, *(figure.value for m in methods for figure in m.eers.values()))
        widest = max(m.wer.high if m.wer.high == m.wer.high else m.wer.value for m in methods)
        _names(axes, methods, 1.1 * widest, top)
        axes.axhline(0.5, color=FAINT, linewidth=0.8, linestyle=":")
        axes.set(xlabel="words not understood (WER)", ylabel="errors of the attacker (EER)")
        axes.set(ylim=(0, 1.02 * top), xlim=(0, 1.1 * widest))
        _percents(axes, "x", "y")
        axes.grid(True)
        _below(axes)

    return draw


def trade_off(found: MechanismAudit, logarithmic: bool = False) -> Plot:
    """Misses over false alarms of the attack on the mechanism, beside what its claim allows: below that is a breach.

    logarithmic: hits instead of misses, where there are few false alarms.
    """

    def draw(axes: Axes) -> None:
        x = np.geomspace(_LOWEST, 1, 300) if logarithmic else ndtr(np.linspace(-6, 6, 300))

        def allowed(mu: float) -> F64:
            hits = ndtr(ndtri(x) + mu)
            return np.asarray(hits if logarithmic else 1 - hits)

        axes.plot(x, allowed(found.claim), color=SERIES[0], label=f"G of the claim, mu {found.claim:g}")
        axes.plot(x, allowed(found.lower), color=SERIES[1], linestyle="--", label=f"proven: mu {found.lower:.3f}")
        shares = [point.missed for point in found.curve]
        if logarithmic:
            shares = [Figure(1 - m.value, 1 - m.high, 1 - m.low) for m in shares]
        (at, *wide), (values, *high) = _bars([point.fpr for point in found.curve]), _bars(shares)
        dots: dict[str, Any] = {"fmt": ".", "markersize": 3, "elinewidth": 0.6, "color": INK, "zorder": 3}
        axes.errorbar(at, values, xerr=wide, yerr=high, label="attack, 95 %", **dots)
        axes.plot(x, x if logarithmic else 1 - x, color=FAINT, linewidth=0.8, linestyle=":", label="chance")
        if logarithmic:
            _logarithmic(axes, "x", "y")
            axes.set(xlabel="false alarms (FPR)", ylabel="hits (TPR)", xlim=(_LOWEST, 1), ylim=(_LOWEST, 1.1))
        else:
            _percents(axes, "x", "y")
            axes.grid(True)
            axes.set(xlabel="false alarms", ylabel="misses", xlim=(0, 1), ylim=(0, 1))
        _legend(axes, "lower right" if logarithmic else "upper right")

    return draw


def percent(share: float) -> str:
    """As short as its digits allow: 0.01 %, 5 %, 99.9 %."""
    return f"{100 * share:.6g} %"


def _look(i: int) -> dict[str, Any]:
    return {"color": SERIES[i % len(SERIES)], "linestyle": _STYLES[(i + i // len(SERIES)) % len(_STYLES)]}


def _points(i: int) -> dict[str, Any]:
    return {"color": SERIES[i % len(SERIES)], "fmt": _marker(i), "markersize": 4.5, "elinewidth": 1}


def _marker(i: int) -> str:
    return _MARKERS[(i + i // len(SERIES)) % len(_MARKERS)]


def _bars(figures: Sequence[Figure]) -> tuple[F64, F64, F64]:
    """Values, and how far their intervals reach below and above; 0 where there is none."""
    values, low, high = np.array([(f.value, f.low, f.high) for f in figures], np.float64).reshape(-1, 3).T
    return values, np.nan_to_num(np.maximum(values - low, 0)), np.nan_to_num(np.maximum(high - values, 0))


def _with_bars(axes: Axes, at: F64, figures: Sequence[Figure], i: int, label: str) -> None:
    values, low, high = _bars(figures)
    axes.errorbar(at, values, yerr=(low, high), **{**_points(i), "fmt": f"{_marker(i)}-"}, label=label)


def _names(axes: Axes, methods: Sequence[Method], widest: float, top: float) -> None:
    """Of the methods, upright over their columns, moved apart where columns are close."""
    ordered = sorted(methods, key=lambda m: m.wer.value)
    room, place = widest / 22, -np.inf
    for method in ordered:
        place = max(method.wer.value, place + room)
        axes.axvline(method.wer.value, color=FAINT, linewidth=0.6)
        at: dict[str, Any] = {"annotation_clip": False, "rotation": 45, "fontsize": 7.5, "va": "bottom"}
        axes.annotate(method.name, (method.wer.value, 1.02 * top), (place, 1.05 * top), **at)


def _legend(axes: Axes, where: Literal["best", "lower right", "upper right"]) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc=where)


def _below(axes: Axes) -> None:
    """The legend beneath the plot, where marks are everywhere in it."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)


def _logarithmic(axes: Axes, *which: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis in (getattr(axes, f"{name}axis") for name in which):
        getattr(axes, f"set_{axis.axis_name}scale")("log")
        axis.set_major_locator(LogLocator(10))
        axis.set_major_formatter(FuncFormatter(lambda value, _: percent(value)))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(True)


def _percents(axes: Axes, *which: str) -> None:
    from matplotlib.ticker import FuncFormatter

    for name in which:
        getattr(axes, f"{name}axis").set_major_formatter(FuncFormatter(lambda value, _: percent(value)))

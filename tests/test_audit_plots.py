"""The plots of a report: what is drawn is what was found, and no more than the trials resolve."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from audits import attack, audit, audits
from matplotlib.figure import Figure as Sheet
from scipy.special import ndtr, ndtri
from test_audit_report import mechanism
from velavox.bench.audit import pictures, plots
from velavox.bench.audit.plots import Curve, Line, Method
from velavox.bench.audit.strongest import strongest
from velavox.bench.audit.svg import SERIES, Plot, inline, write
from velavox.bench.bootstrap import Figure
from velavox.kernels.jit import F64

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

pytestmark = pytest.mark.nojit


def drawn(plot: Plot) -> Axes:
    axes = Sheet().subplots()
    plot(axes)
    return axes


def named(axes: Axes, label: str) -> Line2D:
    handles, labels = axes.get_legend_handles_labels()
    found: Any = handles[labels.index(label)]
    line: Line2D = found[0] if isinstance(found, tuple) else found  # of error bars, the markers
    return line


def misses(fpr: F64, mu: float) -> F64:
    return np.asarray(ndtr(-ndtri(fpr) - mu))


def curve(label: str = "attacker", resolved: float = 0.01) -> Curve:
    fpr = np.concatenate([[0.0], np.geomspace(1e-4, 1, 50)])
    return Curve(label, fpr, fpr**0.5, resolved)


def test_a_roc_curve_begins_where_the_trials_resolve_it() -> None:
    axes = drawn(plots.roc([curve()]))
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_xlim()[0] == 1e-4
    x, y = named(axes, "attacker").get_data()
    assert np.min(x) >= 0.01
    assert np.max(x) == 1
    assert np.allclose(y, np.asarray(x) ** 0.5)


def test_a_gaussian_is_a_straight_line_of_a_det_plot() -> None:
    fpr = np.linspace(0.01, 0.99, 50)
    axes = drawn(plots.det([Curve("gaussian", fpr, 1 - misses(fpr, 2.0), 0.0)]))
    x, y = named(axes, "gaussian").get_data()
    assert np.allclose(np.asarray(x) + np.asarray(y), -2)
    guides = [line for line in axes.lines if str(line.get_label()).startswith("_")]
    sums = [float(np.asarray(line.get_xdata())[0] + np.asarray(line.get_ydata())[0]) for line in guides]
    assert np.allclose(sorted(sums), [-3, -2, -1, 0])


def test_many_attackers_can_be_told_apart() -> None:
    axes = drawn(plots.roc([curve(str(i)) for i in range(9)]))
    lines = [named(axes, str(i)) for i in range(9)]
    assert len({line.get_color() for line in lines}) == 6
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 9


def test_hits_grow_over_enrolment() -> None:
    figures = [Figure(0.1, 0.05, 0.2), Figure(0.3, 0.2, 0.4), Figure(math.nan)]
    axes = drawn(plots.over_enrolment([Line("ignorant, average", (1, 5, 20), figures)], 0.01))
    x, y = named(axes, "ignorant, average").get_data()
    assert np.allclose(x, [1, 5, 20], rtol=0.05)
    assert np.allclose(y, [0.1, 0.3, math.nan], equal_nan=True)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "5", "20"]
    assert "1 % false alarms" in axes.get_ylabel()


def test_methods_stand_at_their_words() -> None:
    methods = [
        Method("mcadams", Figure(0.1, 0.08, 0.12), {"ignorant": Figure(0.3, 0.25, 0.35), "semi": Figure(0.05, 0.0, 0.1)}),
        Method("dp", Figure(0.11), {"ignorant": Figure(0.4)}),
    ]
    axes = drawn(plots.privacy_against_words(methods))
    assert np.allclose(named(axes, "ignorant").get_xydata(), [(0.1, 0.3), (0.11, 0.4)])
    assert np.allclose(named(axes, "semi").get_xydata(), [(0.1, 0.05)])
    names = {text.get_text(): text.get_position()[0] for text in axes.texts}
    assert names["dp"] - names["mcadams"] > 0.004  # moved apart, where words are not


def test_accuracies_are_one_minus_the_error_rate_of_the_strongest() -> None:
    both = (
        attack("cosine", 1, privacy="gender", pooling=""),
        attack("cosine", 2, privacy="gender", pooling="", encoder="dvector"),
    )
    one = audit("dp", 1, 1, 1, 0.1)
    picture = pictures.accuracies([type(one)("dp", 1.0, "", both)], "gender", "relaxed")
    assert picture is not None
    axes = drawn(picture.plot)
    best = strongest(both)
    assert best.encoder == "dvector"
    (x,) = np.asarray(named(axes, "cosine").get_xdata())
    assert x == pytest.approx(1 - best.summary.eer.value)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["dp"]


def test_the_trade_off_shows_claim_proof_and_attack() -> None:
    found = mechanism()
    axes = drawn(plots.trade_off(found))
    x, y = (np.asarray(values, np.float64) for values in named(axes, "G of the claim, mu 1").get_data())
    assert np.allclose(y, misses(x, 1.0))
    assert np.allclose(named(axes, "attack, 95 %").get_xydata(), [(p.fpr.value, p.missed.value) for p in found.curve])
    few = drawn(plots.trade_off(found, logarithmic=True))
    assert (few.get_xscale(), few.get_yscale()) == ("log", "log")
    assert np.allclose(named(few, "attack, 95 %").get_xydata(), [(p.fpr.value, 1 - p.missed.value) for p in found.curve])


def test_pictures_show_the_strongest_of_each_attacker() -> None:
    one = audits()[1]
    found = pictures.of_speaker(one, "relaxed")
    assert found is not None
    roc, _, growth = found.pictures
    labels = drawn(roc.plot).get_legend_handles_labels()[1]
    assert labels == ["ignorant (ge2e)", "semi-informed (ge2e)"]
    assert "at 0.4 % false alarms at the latest" in roc.about  # of 792 false claims
    assert len(drawn(growth.plot).get_legend_handles_labels()[1]) == 4  # by two poolings
    assert pictures.of_speaker(one, "no such form") is None
    assert pictures.privacy_against_words([audits()[3]]) is None  # no words were recognised


@pytest.mark.parametrize(("share", "text"), [(1e-4, "0.01 %"), (0.05, "5 %"), (0.999, "99.9 %"), (1.0, "100 %"), (0.0, "0 %")])
def test_shares_are_short(share: float, text: str) -> None:
    assert plots.percent(share) == text


def test_pictures_are_the_same_in_every_run() -> None:
    plot = plots.roc([curve()])
    one = inline(plot, "a", "a curve")
    assert one == inline(plot, "a", "a curve")
    assert 'aria-label="a curve"' in one
    assert "var(--series0)" in one
    assert SERIES[0] not in one
    assert "<style" not in one
    assert "<metadata" not in one


@pytest.mark.parametrize(("name", "magic"), [("x.png", b"\x89PNG"), ("x.svg", b"<?xml"), ("x.pdf", b"%PDF")])
def test_files_by_their_ending(tmp_path: Path, name: str, magic: bytes) -> None:
    write(tmp_path / name, [plots.trade_off(mechanism()), plots.trade_off(mechanism(), logarithmic=True)])
    assert (tmp_path / name).read_bytes().startswith(magic)
    assert len(list(tmp_path.iterdir())) == 1

"""Profiles as a picture: for each run a histogram of block times, their time line, and what blocks are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .atomic import atomically
from .profile_run import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 1200  # of a time line, more than it has pixels
_STACKED = 200  # blocks; more would be narrower than 2 pixels
_BLOCK, _DEADLINE = "#3b6fb6", "#c0392b"
_STAGES = ("#e08e2b", "#c9587f", "#7a5fb0", "#8f9c35")
_COLOURS = {  # neighbours in the signal flow can be told apart; greys are copying, blues resampling
    "input": "#8794a3",
    "mix": "#5f6b78",
    "resample_in": "#5b9bd0",
    "reblock": "#b4bec9",
    "judge": "#6f7d8c",
    "level": "#5aa88f",
    "limiter": "#9ad0bd",
    "resample_out": "#8fbde3",
    "deliver": "#c9d0d8",
}


def write(path: Path, rows: Sequence[Row]) -> None:
    """A PNG, whole or not at all; OSError when it cannot be written. Needs matplotlib."""
    with _figure(len(rows)) as (figure, axes), atomically(path) as part:
        for row, (left, middle, right) in zip(rows, axes, strict=True):
            _histogram(left, row)
            _time_line(middle, row)
            _stack(right, row)
        figure.savefig(part, format="png", dpi=110)


@contextmanager
def _figure(rows: int) -> Iterator[tuple[Figure, np.ndarray]]:
    """Three panels a row."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(rows, 3, figsize=(15, 3.6 * rows + 0.2), layout="constrained", squeeze=False)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    try:
        yield figure, axes
    finally:
        pyplot.close(figure)


def _histogram(axis: Axes, row: Row) -> None:
    us, deadline = row.report.trace.spent * 1e6, row.block_ms * 1e3
    title = f"{row.work.method}, {row.work.sound.rate} Hz, blocks of {row.work.block}"
    axis.set_title(title, loc="left", fontsize=11, fontweight="bold", pad=22)  # above the legend
    if not us.size:
        return
    low, high = us.min() / 1.3, max(us.max(), deadline) * 1.3
    axis.hist(us, bins=np.geomspace(low, high, 100).tolist(), color=_BLOCK)
    axis.set(xscale="log", yscale="log", xlim=(low, high), ylim=(0.7, None), xlabel="time of a block, us", ylabel="blocks")
    for name, line in (("p50", "-"), ("p99", "--")):
        time = row.report.times_us[name]
        if time is not None:
            axis.axvline(time, color="black", linestyle=line, linewidth=1, label=f"{name} {time:.0f} us")
    axis.axvline(deadline, color=_DEADLINE, linewidth=1.5, label=f"it lasts {row.block_ms:.4g} ms")
    axis.legend(loc="lower left", bbox_to_anchor=(-0.02, 0.98), ncols=3, frameon=False, fontsize=9)  # no line crosses it there
    _plain(axis, "x", "y")


def _time_line(axis: Axes, row: Row) -> None:
    """By the time of the sound. Where there are more blocks than pixels, the longest of neighbours: a miss must not vanish."""
    trace = row.report.trace
    missed = f"{row.report.misses} of {max(0, row.report.blocks - 1)} took longer than they last"
    axis.set_title(f"Each block: {missed}", loc="left", fontsize=11)
    if not trace.spent.size:
        return
    us, seconds = trace.spent * 1e6, np.cumsum(trace.frames) / row.work.sound.rate
    late = trace.spent * row.work.sound.rate > trace.frames
    starts = np.arange(0, us.size, -(-us.size // _POINTS))
    axis.vlines(seconds[starts], us.min() / 1.2, np.maximum.reduceat(us, starts), color=_BLOCK, linewidth=0.8)
    axis.plot(seconds[late], us[late], "x", color=_DEADLINE, markersize=5)
    axis.axhline(row.block_ms * 1e3, color=_DEADLINE, linewidth=1.5)
    axis.set(yscale="log", xlabel="time of the sound, s", ylabel="time of a block, us")
    axis.locator_params(axis="x", nbins=6)
    _plain(axis, "y")


def _stack(axis: Axes, row: Row) -> None:
    """The last blocks that were looked into, side by side; cut where few are much higher than all others."""
    r = row.report
    axis.set_title("What a block is made of", loc="left", fontsize=11)
    shown = min(_STACKED, r.looked_into)
    which = "" if shown == r.looked_into else f"last {shown} of the "
    axis.set(xlabel=f"the {which}{r.looked_into} blocks whose parts were timed", ylabel="us")
    if not r.parts:
        return
    times = [np.repeat(r.trace.parts[part.name][-_STACKED:], 2) * 1e6 for part in r.parts]
    borders = np.repeat(np.arange(times[0].size // 2 + 1), 2)[1:-1]
    stages = iter(_STAGES * len(r.parts))
    colours = [_COLOURS.get(part.name) or next(stages) for part in r.parts]
    labels = [f"{part.name} {part.share:.0%}" for part in r.parts]
    axis.stackplot(borders, times, labels=labels, colors=colours, linewidth=0, antialiased=False)
    axis.set(xlim=(0, borders[-1]), ylim=(0, 1.3 * np.percentile(np.sum(times, axis=0), 97)))
    handles, names = axis.get_legend_handles_labels()
    axis.legend(handles[::-1], names[::-1], loc="upper left", bbox_to_anchor=(1.0, 1.03), frameon=False, fontsize=9)


def _plain(axis: Axes, *names: str) -> None:
    """Logarithmic axes with whole numbers instead of powers."""
    for name in names:
        scale = axis.xaxis if name == "x" else axis.yaxis
        scale.set_major_formatter(lambda value, _: f"{value:,.0f}")

"""Plots as pictures: files, and SVG that stands in a page, takes its colours from it and needs no script."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...engine.atomic import atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Plot = Callable[["Axes"], None]

INK, FAINT = "#24292f", "#8c959f"
SERIES = ("#1f66b5", "#c2510c", "#1d7f56", "#8548a8", "#a3720a", "#b8335f")
COLOURS = {INK: "--ink", FAINT: "--faint", **{colour: f"--series{i}" for i, colour in enumerate(SERIES)}}

_SIZE = (4.7, 3.7)  # inches, of one plot: 338 px wide, as a phone is, so that its text is not shrunk there
_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: it can be searched, and takes the page's font
    "font.size": 10,
    "axes.labelsize": 10,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "lines.linewidth": 1.6,
    "grid.color": FAINT,
    "grid.alpha": 0.35,
    "grid.linewidth": 0.6,
    **{f"{part}.color": INK for part in ("text", "xtick", "ytick")},
    **{f"axes.{part}color": INK for part in ("edge", "label")},
}


def write(path: Path, plots: Sequence[Plot]) -> None:
    """A picture of plots side by side, as the ending of `path` says; whole or not at all. OSError when it cannot be written."""
    with _drawn(plots, f"velavox {path.stem}") as figure, atomically(path) as part:
        figure.savefig(part, dpi=150)


def inline(plot: Plot, name: str, described: str) -> str:
    """An `<svg>` element with a `role` and a description. `name`: another one for each plot of a page."""
    with _drawn([plot], name) as figure:
        figure.patch.set_alpha(0)
        for axes in figure.axes:
            axes.patch.set_alpha(0)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _embedded(file.getvalue(), described)


@contextmanager
def _drawn(plots: Sequence[Plot], name: str) -> Iterator[Figure]:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE | {"svg.hashsalt": name}):
        figure = Figure(figsize=(_SIZE[0] * len(plots), _SIZE[1]), layout="constrained")
        for plot, axes in zip(plots, figure.subplots(1, len(plots), squeeze=False)[0], strict=True):
            plot(axes)
        yield figure


def _embedded(svg: str, described: str) -> str:
    """What stands in a file of its own, for the inside of a page: colours by name, ids that are unique, no size."""
    svg = svg[svg.index("<svg") :]
    used = set(re.findall(r'(?:url\(|href=")#([^")]+)', svg))
    svg = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", svg)
    svg = re.sub(r"<(metadata|style).*?</\1>\s*", "", svg, flags=re.DOTALL)  # the style would be that of the whole page
    svg = re.sub(r"#[0-9a-f]{6}\b", lambda found: f"var({COLOURS[found[0]]})" if found[0] in COLOURS else found[0], svg)
    svg = re.sub(r"font-family: [^;\"]+", "font-family: inherit", svg)
    box = re.search(r'viewBox="[^"]+"', svg)
    head = (
        f'<svg {box[0] if box else ""} role="img" aria-label="{escape(described)}" xmlns:xlink="http://www.w3.org/1999/xlink">'
    )
    return head + svg[svg.index(">") + 1 :].strip()

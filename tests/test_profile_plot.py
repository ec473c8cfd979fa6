"""The picture of a profile: what its panels show and say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from velavox.engine import profile_plot
from velavox.engine.host import Engine
from velavox.engine.identity import Identity
from velavox.engine.profile_run import Allocations, Row, Work
from velavox.engine.profile_sound import generated


def drawn(blocks: int) -> Iterator[Any]:
    """The panels for a run of so many blocks of 10 ms, before they are a file."""
    engine, sound = Engine(Identity(), sample_rate=16_000), generated(16_000, 0)
    with engine.profile(every=1) as profiler:
        for _ in range(blocks):
            engine.process(sound.x[:160, 0])
    row = Row(Work("identity", {}, sound, 160), "fast", blocks / 100, "each", profiler.report(), Allocations(0, 0))
    with profile_plot._figure(1) as (figure, axes):
        for draw, axis in zip((profile_plot._histogram, profile_plot._time_line, profile_plot._stack), axes[0], strict=True):
            draw(axis, row)
        figure.canvas.draw()
        yield axes[0]


@pytest.mark.parametrize(
    ("blocks", "words"),
    [(74, "the 73 blocks whose parts were timed"), (301, "the last 200 of the 300 blocks whose parts were timed")],
)
def test_picture_says_what_it_shows(blocks: int, words: str) -> None:
    for histogram, line, stack in drawn(blocks):
        assert stack.get_xlabel() == words
        assert stack.get_xlim() == (0, min(200, blocks - 1))
        assert line.get_xlabel() == "time of the sound, s"
        (times,) = line.collections  # one line a block
        last = times.get_segments()[-1][0][0]
        assert last == pytest.approx((blocks - 1) / 100)  # the sound's own, not the 2 ms that this took
        legend, panel = histogram.get_legend().get_window_extent(), histogram.get_window_extent()
        assert legend.y0 >= panel.y1 - 5  # above: no line runs through it
        assert [text.get_text().split()[0] for text in histogram.get_legend().get_texts()] == (
            ["p50", "it"] if blocks < 101 else ["p50", "p99", "it"]
        )


def test_picture_of_nothing() -> None:
    for panels in drawn(1):
        assert all(panel.get_title(loc="left") for panel in panels)

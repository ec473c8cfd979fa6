"""The figures of a profile, from blocks whose times are known."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from velavox.engine.pauses import Pauses
from velavox.engine.profile_figures import percentile, rounded
from velavox.engine.profile_report import Report
from velavox.engine.resample import Plan
from velavox.engine.trace import Trace

pytestmark = pytest.mark.nojit

PLAN = Plan(16_000, 160, 163)
BLOCKS = 100
HOPS = (np.arange(BLOCKS) % 4 == 0).astype(np.int64)  # 40 frames a block: every fourth completes a hop


def trace(looked_into: list[int]) -> Trace:
    """Blocks of 10 us, with a hop of 110; its stage takes 80 of the 100 more."""
    spent = 10e-6 + 100e-6 * HOPS
    at = np.array(looked_into, np.int64)
    return Trace(
        blocks=BLOCKS + 1,
        misses=3,
        first=5e-3,
        longest=110e-6,
        began=np.linspace(0, 2.5e-3 * BLOCKS, BLOCKS),
        spent=spent,
        frames=np.full(BLOCKS, 40),
        hops=HOPS,
        looked_into=at,
        parts={"input": 10e-6 + 0 * spent[at], "mix": 0 * spent[at], "a": 80e-6 * HOPS[at], "level": 20e-6 * HOPS[at]},
        cpu_share=0.5,
        pauses=Pauses(),
    )


def test_percentiles_ratios_and_misses() -> None:
    report = Report.of(trace([0, 1]), PLAN)
    assert (report.blocks, report.misses) == (101, 3)
    assert report.first_us == pytest.approx(5000)
    expected = {"mean": 35, "p50": 10, "p95": 110, "p99": 110, "p99_9": None, "max": 110}
    assert report.times_us == pytest.approx(expected)
    assert report.deadline["p50"] == pytest.approx(10 / 2500)
    assert report.deadline["max"] == pytest.approx(110 / 2500)
    assert report.rtc == pytest.approx(35 / 2500)


def test_use_of_the_deadline_goes_block_by_block() -> None:
    """A long block that takes long is no miss, a short one that takes half of that is."""
    seen = replace(trace([]), spent=np.tile([4e-3, 2e-3], 50), frames=np.tile([160, 16], 50))
    expected = {"p50": 1.2, "p95": 2, "p99": 2, "p99_9": None, "max": 2}
    assert Report.of(seen, PLAN).deadline == pytest.approx(expected)


@pytest.mark.parametrize("looked_into", [[0, 1], [0, 4, 8, 9], [1, 2, 3, 4, 5, 6, 7], list(range(BLOCKS))])
def test_parts_are_those_of_all_blocks_whatever_the_sample(looked_into: list[int]) -> None:
    report = Report.of(trace(looked_into), PLAN)
    assert {part.name: part.mean_us for part in report.parts} == pytest.approx({"input": 10, "a": 20, "level": 5})
    assert {part.name: part.share * 35 for part in report.parts} == pytest.approx({"input": 10, "a": 20, "level": 5})
    assert report.parts_to_whole == pytest.approx(1)
    assert report.looked_into == len(looked_into)


def test_time_that_is_lost_shows() -> None:
    """Parts that miss a fifth of the time of each block do not add up; a single outlier among the blocks changes nothing."""
    seen = trace(list(range(0, BLOCKS, 3)))
    seen.spent[17] = 1.0
    lossy = replace(seen, parts={name: 0.8 * time for name, time in seen.parts.items()})
    assert Report.of(seen, PLAN).parts_to_whole == pytest.approx(1)
    assert Report.of(lossy, PLAN).parts_to_whole == pytest.approx(0.8)


def test_a_kind_of_block_that_was_never_looked_into_is_left_out() -> None:
    report = Report.of(trace([1, 2, 3]), PLAN)
    assert [part.name for part in report.parts] == ["input"]
    assert report.parts_to_whole == pytest.approx(1)


def test_delay() -> None:
    delay = Report.of(trace([0]), PLAN).delay
    assert delay.buffering == {"block": pytest.approx(2.5), "reblock": pytest.approx(159 / 16)}
    assert sum(delay.algorithmic.values()) == pytest.approx(163 / 16)
    assert delay.compute == pytest.approx(0.01)
    told = delay.as_json()
    assert told["latency_ms"] == pytest.approx(told["algorithmic_ms"] + told["buffering_ms"] + told["compute_ms"])


def test_json_is_plain_with_units_in_the_keys() -> None:
    told = Report.of(trace([0, 1]), PLAN).as_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert {"first_us", "mean_us", "p50_us", "p95_us", "p99_us", "p99_9_us", "max_us", "rtc"} < told.keys()
    assert told["cpu_share_of_a_core"] == 0.5
    assert told["deadline_share"]["p50"] == 0.004
    assert set(told["parts"][0]) == {"name", "p50_us", "p99_us", "mean_us", "share"}
    assert told["gc"] == {"runs": [0, 0, 0], "runs_per_block": 0.0, "pause_us": 0.0, "longest_pause_us": 0.0}


def first(seen: Trace, blocks: int) -> Trace:
    """Only so many blocks of it, one looked into."""
    cut = replace(seen, blocks=blocks + 1, looked_into=seen.looked_into[:1], parts={k: v[:1] for k, v in seen.parts.items()})
    return replace(cut, **{name: getattr(seen, name)[:blocks] for name in ("began", "spent", "frames", "hops")})


@pytest.mark.parametrize(
    ("blocks", "known"),
    [(1, []), (2, ["p50"]), (19, ["p50"]), (20, ["p50", "p95"]), (99, ["p50", "p95"]), (100, ["p50", "p95", "p99"])],
)
def test_too_few_blocks_have_no_such_percentile(blocks: int, known: list[str]) -> None:
    """p99 of 20 blocks would be the longest one under another name."""
    report = Report.of(first(trace([0]), blocks), PLAN)
    assert report.times_us.keys() == report.deadline.keys() | {"mean"}
    for figures in (report.times_us, report.deadline):
        assert [name for name in ("p50", "p95", "p99", "p99_9") if figures[name] is not None] == known
        assert figures["max"] is not None
    for part in report.parts:  # of one block
        assert (part.p50_us, part.p99_us) == (None, None)
    assert sum(part.mean_us for part in report.parts) == pytest.approx(report.times_us["mean"])


@pytest.mark.parametrize(("n", "expected"), [(999, None), (1000, 0.999)])
def test_one_block_in_a_thousand(n: int, expected: float | None) -> None:
    assert percentile(np.linspace(0, 1, n), "p99_9") == (expected and pytest.approx(expected))


@pytest.mark.parametrize("seen", [0, 1])
def test_nothing_measured_is_no_zero(seen: int) -> None:
    report = Report.of(replace(first(trace([]), 0), blocks=seen, misses=0, cpu_share=None), PLAN)
    told = report.as_json()
    assert (told["first_us"] is None) == (seen == 0)
    unknown = ["mean_us", "p50_us", "p99_us", "max_us", "rtc", "cpu_share_of_a_core", "parts_to_whole_ratio"]
    assert [told[name] for name in unknown] == [None] * len(unknown)
    assert set(told["deadline_share"].values()) == {None}
    assert told["delay"]["compute_ms"] is None
    assert told["delay"]["latency_ms"] == pytest.approx(20.125)  # of the engine, without a block
    assert "p50 -, p99 -, max -" in str(report)
    assert "RTC -" in str(report)


def test_no_digits_that_mean_nothing() -> None:
    assert rounded({"us": 12.3456789, "ms": [34.9375001], "n": 48_000, "no": None, "on": True, "s": "1.23456789"}) == {
        "us": 12.346,
        "ms": [34.938],
        "n": 48_000,
        "no": None,
        "on": True,
        "s": "1.23456789",
    }
    text = json.dumps(Report.of(replace(trace([0, 1, 4]), first=np.pi / 1000, cpu_share=1 / 3), PLAN).as_json())
    assert max(len(digits.lstrip("0.")) for digits in re.findall(r"[\d.]+", text)) <= 6


def test_one_is_not_many() -> None:
    report = replace(Report.of(trace([]), PLAN), blocks=1, collections=(1, 0, 0))
    assert str(report).startswith("1 block,")
    assert str(report).endswith("; 1 garbage collection")


def test_in_words() -> None:
    lines = str(Report.of(trace([0, 1]), PLAN)).splitlines()
    assert lines[0] == "101 blocks, us: p50 10, p99 110, max 110, first 5000"
    assert lines[1] == "4.4% of a block's duration at p99, 3 took longer than it; RTC 0.0140"
    assert lines[2] == "parts: input 29%, a 57%, level 14%"
    assert lines[3] == "delay 22.6 ms, a block included; 0 garbage collections"

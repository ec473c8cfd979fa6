"""The smallest safe block: which ones are tried, what counts as safe, and how it is told."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from velavox.engine import profile_safe
from velavox.engine.profile_run import Pace, Work
from velavox.engine.profile_safe import Ladder, Tried, climb_down
from velavox.engine.profile_sound import generated
from velavox.engine.profile_text import _meaning, _safe


def tried(p99: float | None, longest: float = 0.9, misses: int = 0, xruns: int | None = None, blocks: int = 1000) -> Tried:
    return Tried(blocks, p99, longest, misses, xruns)


def ladder(p99: dict[int, float]) -> Ladder:
    return Ladder("m", 48_000, {block: tried(use) for block, use in p99.items()})


def outcome(p99: float, misses: int = 0) -> Any:
    return SimpleNamespace(blocks=1001, misses=misses, deadline={"p99": p99, "max": 0.9})


def test_safe_means_all_larger_ones_too() -> None:
    assert ladder({64: 0.6, 128: 0.4, 256: 0.3}).safe == 128
    assert ladder({64: 0.1, 128: 0.5, 256: 0.3}).safe == 256
    assert ladder({64: 0.1, 256: 0.7}).safe is None
    assert ladder({64: 0.1, 256: 0.7}).as_json()["block_ms"] is None


@pytest.mark.parametrize(
    ("run", "safe"),
    [
        (tried(0.1), True),
        (tried(0.1, misses=1), False),
        (tried(0.1, xruns=0), True),
        (tried(0.1, xruns=1), False),
        (tried(None, 0.4, blocks=20), True),
        (tried(None, 0.6, blocks=20), False),
        (tried(None, 0.4, blocks=19), False),
        (Tried(0, None, None, 0, 0), False),
    ],
)
def test_late_blocks_or_too_few_are_not_safe(run: Tried, safe: bool) -> None:
    assert run.safe == safe


def test_verdict_in_words() -> None:
    """What was not tried is not ruled out; one frame is no frames; below 128 the sound server has a say."""

    def said(found: Ladder, pace: Pace = "fast") -> str:
        return "\n".join([*_safe(found, pace), *_meaning([found], pace)])

    smallest = ladder({64: 0.1, 256: 0.05})
    assert said(smallest).startswith(
        "smallest safe block for m at 48000 Hz on this machine: 64 frames, 1.3 ms, the smallest tried\n"
    )
    assert "  64     1.33    1000      10.0%      90.0%       0   yes\n" in said(smallest)
    assert "below about 128 frames depend on the sound server" in said(smallest)
    between = ladder({64: 0.6, 128: 0.1})
    assert said(between).startswith("smallest safe block for m at 48000 Hz on this machine: 128 frames, 2.7 ms\n")
    assert "depend on the sound server" not in said(between)
    assert ": 1 frame, 0.0 ms" in said(ladder({1: 0.1}))
    assert said(ladder({64: 0.9})).startswith("no safe block for m at 48000 Hz on this machine\n")
    assert "nor is\nwaking up" in said(between)
    live = Ladder("m", 48_000, {480: tried(None, 0.1, xruns=2, blocks=20)})
    assert re.search(r"^  480    10\.00      20          -      10\.0%       0      2    no$", said(live, "real"), re.M)
    assert "waking up" not in said(live, "real")


def test_tries_from_the_largest_block_that_anybody_would_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Down to the first one that is not safe, and none of those that the rows have tried again."""
    seen, told = [], []

    def measure(work: Work, pace: str, seconds: float) -> tuple[Any, None]:
        seen.append(work.block)
        return outcome(60 / work.block), None

    class Row:
        work = Work("mcadams", {}, generated(8000, 0), 160)
        pace, live = "fast", None
        report = outcome(0.3)

    monkeypatch.setattr(profile_safe, "SIZES", (32, 64, 128, 160, 256, 512, 1024))
    monkeypatch.setattr(profile_safe, "measure", measure)
    found = climb_down([Row()], lambda work: told.append(work.block))  # type: ignore[list-item]
    assert seen == told == [512, 256, 128, 64]  # 1024 would last 128 ms
    assert found.safe == 128


def test_nothing_smaller_is_tried_than_what_a_row_has_shown_to_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    class Row:
        work = Work("mcadams", {}, generated(8000, 0), 400)
        pace, live = "fast", None
        report = outcome(0.1, misses=1)

    monkeypatch.setattr(profile_safe, "SIZES", (256, 512))
    monkeypatch.setattr(profile_safe, "measure", lambda work, pace, seconds: (outcome(0.1), None))
    found = climb_down([Row()], lambda work: None)  # type: ignore[list-item]
    assert sorted(found.tried) == [400, 512]
    assert found.safe == 512

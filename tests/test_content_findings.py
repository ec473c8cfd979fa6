from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from eavesdrop import RATE
from velavox.engine.content.detector import Look
from velavox.engine.content.events import Event, Log
from velavox.engine.content.findings import Clips, Findings, checked
from velavox.engine.content.hit import Hit
from velavox.engine.content.raw import Raw
from velavox.kernels.jit import F32


def findings(clips: Clips | None = None, level: float = 0.0, rate: int = RATE, on_event: Any = None) -> Findings:
    return Findings(rate, Raw(rate, 1, RATE), Log(), lambda: level, clips, on_event)


def hit(start: int, end: int, term: str = "aa") -> Hit:
    return Hit(start, end, "word", term, "ear")


def test_nothing_beyond_what_was_looked_at_is_passed() -> None:
    assert checked(Look((), 10**12), 1000, 5000) == ([], 5000)
    assert checked(Look((), 3000), 1000, 5000) == ([], 3000)


def test_hits_end_where_the_look_does_and_may_begin_before_it() -> None:
    """C18: times are clipped to the window; what began before it is hidden from there."""
    hits, _ = checked(Look((hit(900, 1200), hit(4900, 9000)), 0), 1000, 5000)
    assert hits == [hit(900, 1200), hit(4900, 5000)]


def test_numbers_of_numpy_are_numbers() -> None:
    hits, passed = checked(Look((hit(np.int64(5), np.int32(9)),), np.int64(7)), 0, 10)  # type: ignore[arg-type]
    assert (hits, passed) == ([hit(5, 9)], 7)


@pytest.mark.parametrize("bad", [hit(5, 5), hit(9, 5), hit(-1, 5), hit(10, 12), Hit(1, 2, "", "", ""), None, hit(1.5, 3)])  # type: ignore[arg-type]
def test_one_hit_that_makes_no_sense_makes_the_look_fail(bad: Any) -> None:
    """C21: dropped alone, it would be a word that is heard."""
    with pytest.raises((ValueError, TypeError, AttributeError)):
        checked(Look((hit(2, 4), bad), 10), 0, 10)


def test_what_was_missed_is_hidden_and_counted() -> None:
    found = findings()
    found.take(found.raw.generation, [], (8000, 16_000), 20_000)
    assert found.missed == 0.5
    (row,) = found.spans.shown.spans
    assert (row["start"], row["end"]) == (4800, 19_200)


class Constant:
    """A clip of 0.2 s."""

    def clip(self, term: str, samples: int) -> F32 | None:
        return np.full(3200, 0.5, np.float32)

    def take_voice(self, engine: Any) -> None: ...


@pytest.mark.parametrize(("level", "loud"), [(0.0, 0.5), (0.25, 0.25), (0.01, 0.125), (0.9, 0.9)])
@pytest.mark.parametrize("rate", [16_000, 48_000])
def test_clips_are_as_loud_as_the_voice_within_limits_with_soft_ends(level: float, loud: float, rate: int) -> None:
    found = findings(Constant(), level, rate)
    found.take(found.raw.generation, [hit(16_000, 20_000)], None, 30_000)
    pool = found.spans.shown.pool
    assert pool.size == 3200 * rate // RATE
    assert np.median(pool) == pytest.approx(loud, rel=0.02)
    assert abs(pool[0]) < 0.05 * loud
    assert abs(pool[-1]) < 0.05 * loud


def test_a_class_has_no_clip() -> None:
    found = findings(Constant())
    found.take(found.raw.generation, [hit(16_000, 20_000, "")], None, 30_000)
    assert len(found.spans.shown.spans) == 1
    assert len(found.spans.shown.clips) == 0


def test_events_are_told_outside_the_lock() -> None:
    told: list[tuple[Event, bool]] = []
    found: Findings = findings(on_event=lambda event: told.append((event, found.lock.locked())))
    found.tell(found.take(found.raw.generation, [hit(100, 200)], None, 500))
    assert [locked for _, locked in told] == [False]

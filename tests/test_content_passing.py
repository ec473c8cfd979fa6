"""What leaves a line, by hand: a hit hides what has not left, joins what is near, and what nobody has passed stays hidden."""

from __future__ import annotations

import numpy as np
import pytest
from velavox.bench.content.passing import TICK, Looked, hidden, unpassed, watched
from velavox.engine.content.detector import Look
from velavox.engine.content.hit import Hit
from velavox.kernels.jit import F32

RATE = 16_000
LENGTH = 10 * RATE
TICKS = LENGTH // TICK


def looked(known: float, *hits: tuple[float, float], passed: float = 0.0, kind: str = "word") -> Looked:
    found = tuple(Hit(round(start * RATE), round(end * RATE), kind, "", "x") for start, end in hits)
    return Looked(found, round(passed * RATE), known, 0.0)


def seconds(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[tuple[float, float]]:
    edges = np.flatnonzero(np.diff(mask, prepend=False, append=False)) * TICK / RATE
    return [(float(start), float(end)) for start, end in edges.reshape(-1, 2)]


def test_a_hit_in_time_is_hidden_with_its_pads() -> None:
    assert seconds(hidden([looked(4.0, (3.0, 3.5))], LENGTH, 2.0)) == [(2.8, 3.7)]


def test_a_late_one_hides_what_has_not_left() -> None:
    assert seconds(hidden([looked(5.2, (3.0, 3.5))], LENGTH, 2.0)) == [(3.2, 3.7)]
    assert not hidden([looked(6.0, (3.0, 3.5))], LENGTH, 2.0).any()


def test_near_ones_are_joined_and_far_ones_are_not() -> None:
    near = [looked(4.0, (3.0, 3.2)), looked(4.0, (3.8, 4.0))]
    assert seconds(hidden(near, LENGTH, 2.0)) == [(2.8, 4.2)]
    far = [looked(4.0, (3.0, 3.2)), looked(4.0, (3.9, 4.1))]
    assert seconds(hidden(far, LENGTH, 2.0)) == [(2.8, 3.4), (3.7, 4.3)]


def test_kinds_are_chosen() -> None:
    assert not hidden([looked(4.0, (3.0, 3.5), kind="doubt")], LENGTH, 2.0, ["word"]).any()


def test_what_is_not_passed_in_time() -> None:
    looks = [looked(1.0, passed=0.5), looked(3.2, passed=10.0)]
    assert seconds(unpassed(looks, LENGTH, 2.0)) == [(0.3, 1.2)]  # a pad before 0.5
    assert not unpassed(looks, LENGTH, 3.0).any()
    assert unpassed(looks[:1], LENGTH, 2.0).sum() == TICKS - 30


class Every:
    """Passes all that it sees, and remembers when it looked."""

    name, hop, window = "x", RATE, 2 * RATE

    def __init__(self) -> None:
        self.looks: list[tuple[int, int, bool]] = []

    def look(self, samples: F32, start: int, last: bool = False) -> Look:
        self.looks.append((start, start + len(samples), last))
        return Look((), start + len(samples))

    def reset(self) -> None:
        self.looks = []


def test_a_detector_looks_every_hop_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("velavox.bench.content.passing.time.process_time", lambda: 0.0)
    detector = Every()
    found = watched(detector, np.zeros(round(3.5 * RATE), np.float32))
    ends = [(0, RATE, False), (0, 2 * RATE, False), (RATE, 3 * RATE, False), (round(1.5 * RATE), round(3.5 * RATE), True)]
    assert detector.looks == ends
    assert [look.known for look in found] == [1.0, 2.0, 3.0, 3.5]


def test_a_slow_one_looks_later(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(np.arange(100) * 1.5)  # each look takes 1.5 s
    monkeypatch.setattr("velavox.bench.content.passing.time.process_time", lambda: float(next(clock)))
    found = watched(Every(), np.zeros(5 * RATE, np.float32))
    assert [look.passed / RATE for look in found] == [1.0, 2.5, 4.0, 5.0]
    assert [look.known for look in found] == [2.5, 4.0, 5.5, 6.5]

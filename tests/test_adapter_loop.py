"""Calls do not hold the event loop up that serves them."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from signals import F32
from velavox import DpVoice, Identity, McAdams, VoiceMask
from velavox.bench.heartbeat import measured
from velavox.engine.stage import Stage

LIMIT = 30.0  # ms


def late(stages: list[Stage]) -> dict[str, float]:
    return measured(stages, 2.0)


def test_a_heartbeat_is_not_delayed(few_nodes: Any) -> None:
    """By what the loop works itself never; by the clock in one of a few runs, or else the machine does not get to it anyway."""
    for _ in range(5):
        found = late([McAdams(), VoiceMask(), DpVoice()])
        assert found["worked_max_ms"] < LIMIT
        if found["late_max_ms"] < LIMIT:
            return
    assert late([])["late_max_ms"] > LIMIT / 2


class Slow(Identity):
    """Computes for 40 ms, on purpose."""

    method = "slow"

    def step(self, x: F32, y: F32) -> None:
        end = perf_counter() + 0.040
        while perf_counter() < end:
            pass
        y[:] = x


def test_work_on_the_loop_would_be_seen() -> None:
    assert late([Slow()])["late_max_ms"] > LIMIT

"""Fair timing on a busy machine: CPU time, not wall time; cases interleaved; ratios rather than absolutes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import process_time_ns
from typing import Any

import numpy as np

_ROUND = 25  # blocks of one case before the next has its turn: short against a change of clock or load
_FEWEST = 3  # calls of a case that does a whole signal at once


@dataclass(frozen=True)
class Case:
    """Work to be timed: one call does the next `blocks` blocks of its own stream (more than 1: what cannot be streamed)."""

    run: Callable[[], Any]
    blocks: int = 1


@dataclass(frozen=True)
class Timing:
    """CPU time of one case for a block."""

    mean_us: float
    p50_us: float
    p99_us: float
    rtc: float  # mean over the block's duration

    def times_cheaper(self, other: Timing) -> float:
        """Than `other`, by medians."""
        return other.p50_us / self.p50_us


def interleave(cases: Mapping[str, Case], *, seconds: float, blocks: int = 2000, warm: int = 50) -> dict[str, Timing]:
    """Time each case over `blocks` blocks, a few at a time in turn. `seconds`: the duration of one block."""
    for case in cases.values():
        for _ in range(-(-warm // case.blocks)):
            case.run()
    overhead = _clock_overhead()
    rounds = -(-blocks // _ROUND)
    calls = {name: rounds * _ROUND if case.blocks == 1 else max(_FEWEST, blocks // case.blocks) for name, case in cases.items()}
    spent: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(1, rounds + 1):
        for name, case in cases.items():
            times, run = spent[name], case.run
            for _ in range(turn * calls[name] // rounds - len(times)):
                start = process_time_ns()
                run()
                times.append((process_time_ns() - start - overhead) / case.blocks)
    return {name: _timing(np.asarray(times) / 1e3, seconds) for name, times in spent.items()}


def _clock_overhead() -> int:
    """What reading the clock twice costs, ns."""
    reads = []
    for _ in range(1000):
        start = process_time_ns()
        reads.append(process_time_ns() - start)
    return int(np.median(reads))


def _timing(us: np.ndarray, seconds: float) -> Timing:
    return Timing(
        mean_us=float(us.mean()),
        p50_us=float(np.median(us)),
        p99_us=float(np.percentile(us, 99)),
        rtc=float(us.mean() / 1e6 / seconds),
    )

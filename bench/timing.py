"""Fair timing on a busy machine: CPU time, not wall time; cases interleaved; ratios rather than absolutes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import process_time_ns

import numpy as np

Block = Callable[[], object]  # processes the next block of its own stream

_ROUND = 25  # blocks of one case before the next has its turn: short against a change of clock or load


@dataclass(frozen=True)
class Timing:
    """CPU time of one case, over its blocks."""

    mean_us: float
    p50_us: float
    p99_us: float
    rtc: float  # mean over the block's duration

    def ratio(self, other: Timing) -> float:
        """How many times cheaper this is than `other`, by medians."""
        return other.p50_us / self.p50_us


def interleave(cases: Mapping[str, Block], *, seconds: float, blocks: int = 2000, warm: int = 50) -> dict[str, Timing]:
    """Time each case over `blocks` calls, a few at a time in turn. `seconds`: the duration of audio in one call."""
    spent: dict[str, list[int]] = {name: [] for name in cases}
    for block in cases.values():
        for _ in range(warm):
            block()
    overhead = _clock_overhead()
    for _ in range(-(-blocks // _ROUND)):
        for name, block in cases.items():
            times = spent[name]
            for _ in range(_ROUND):
                start = process_time_ns()
                block()
                times.append(process_time_ns() - start - overhead)
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

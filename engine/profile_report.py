"""The figures of a profile: how long blocks take, what in them takes it, and how late the voice comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..kernels.jit import F64
from .resample import Plan
from .trace import Trace

PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9}


@dataclass(frozen=True)
class Part:
    """What a part of the engine takes of a block, over the blocks that were looked into."""

    name: str  # "resample_in", "mcadams", "level", ...: see `laps`
    p50_us: float
    p99_us: float
    mean_us: float  # `share` of the mean time of all blocks
    share: float  # of the time of the blocks looked into; all shares add up to 1


@dataclass(frozen=True)
class Delay:
    """From a sample at the input to the same sample at the output, ms, by cause."""

    algorithmic: Mapping[str, float]  # filters and stages look that far ahead
    buffering: Mapping[str, float]  # sound waits for the rest of its block, of its hop, for its turn
    compute: float  # median time of a block

    @property
    def total(self) -> float:
        return sum(self.algorithmic.values()) + sum(self.buffering.values()) + self.compute

    def as_json(self) -> dict[str, Any]:
        return {
            "algorithmic_ms": sum(self.algorithmic.values()),
            "buffering_ms": sum(self.buffering.values()),
            "compute_ms": self.compute,
            "latency_ms": self.total,
            "parts_ms": {**self.algorithmic, **self.buffering},
        }


@dataclass(frozen=True)
class Report:
    """Of the blocks that a `Profiler` has seen; those with no frames are left out. All zero before the second block.

    Percentiles, parts and ratios are those of the blocks kept (the last 65,536), without the first one, which is apart.
    """

    blocks: int  # all that were seen
    first_us: float
    times_us: Mapping[str, float]  # mean, p50, p95, p99, p99_9, max
    deadline: Mapping[str, float]  # p50, p95, p99, p99_9, max of time over duration, block by block
    misses: int  # of all blocks but the first: took longer than they last
    rtc: float  # time over duration, all blocks together
    cpu_share: float  # of a core, by the thread that processes, with all else that it does
    looked_into: int  # blocks whose parts were timed
    parts: tuple[Part, ...]  # in the order of the signal flow; those that have no work are left out
    parts_to_whole: (
        float  # all parts of the blocks looked into over the time of all blocks, medians of blocks of one kind: about 1
    )
    delay: Delay
    collections: tuple[int, int, int]  # garbage collections of the whole process, by generation
    pause_us: float  # by all of them
    longest_pause_us: float
    trace: Trace = field(repr=False)  # what this was made from

    @classmethod
    def of(cls, trace: Trace, plan: Plan) -> Report:
        seconds = trace.frames / plan.rate
        empty = not trace.spent.size
        us = np.zeros(1) if empty else trace.spent * 1e6
        use = np.zeros(1) if empty else trace.spent / seconds
        parts, parts_to_whole = _parts(trace)
        return cls(
            blocks=trace.blocks,
            first_us=trace.first * 1e6,
            times_us={"mean": float(us.mean()), **_percentiles(us), "max": trace.longest * 1e6},
            deadline={**_percentiles(use), "max": float(use.max())},
            misses=trace.misses,
            rtc=0.0 if empty else float(trace.spent.sum() / seconds.sum()),
            cpu_share=trace.cpu_share,
            looked_into=trace.looked_into.size,
            parts=parts,
            parts_to_whole=parts_to_whole,
            delay=_delay(plan, 0.0 if empty else float(np.median(trace.frames)), float(np.median(us))),
            collections=trace.pauses.runs,
            pause_us=trace.pauses.seconds * 1e6,
            longest_pause_us=trace.pauses.longest * 1e6,
            trace=trace,
        )

    def __str__(self) -> str:
        """Four lines for a person."""
        t = self.times_us
        shares = ", ".join(f"{part.name} {part.share:.0%}" for part in self.parts)
        return (
            f"{self.blocks} blocks, us: p50 {t['p50']:.0f}, p99 {t['p99']:.0f}, max {t['max']:.0f}, first {self.first_us:.0f}\n"
            f"{self.deadline['p99']:.1%} of a block's duration at p99, {self.misses} took longer than it; RTC {self.rtc:.4f}\n"
            f"parts: {shares or 'none was looked into yet'}\n"
            f"delay {self.delay.total:.1f} ms, a block included; {sum(self.collections)} garbage collections"
        )

    def as_json(self) -> dict[str, Any]:
        """Plain numbers: units stand in the keys, shares and uses are ratios."""
        return {
            "blocks": self.blocks,
            "first_us": self.first_us,
            **{f"{name}_us": value for name, value in self.times_us.items()},
            "deadline": dict(self.deadline),
            "misses": self.misses,
            "rtc": self.rtc,
            "cpu_share": self.cpu_share,
            "looked_into": self.looked_into,
            "parts": [vars(part) for part in self.parts],
            "parts_to_whole": self.parts_to_whole,
            "delay": self.delay.as_json(),
            "gc": {
                "runs": list(self.collections),
                "runs_per_block": sum(self.collections) / max(1, self.blocks),
                "pause_us": self.pause_us,
                "longest_pause_us": self.longest_pause_us,
            },
        }


def _percentiles(x: F64) -> dict[str, float]:
    return dict(zip(PERCENTILES, np.percentile(x, list(PERCENTILES.values())).tolist(), strict=True))


def _parts(trace: Trace) -> tuple[tuple[Part, ...], float]:
    """The parts, and how well they agree with the whole.

    Each block looked into stands for all blocks of its kind, of its size and with as many hops: by chance there are more of a
    kind that takes long than there should be.
    """
    if not trace.looked_into.size:
        return (), 0.0
    kinds, kind = np.unique(np.stack([trace.frames, trace.hops]), axis=1, return_inverse=True)
    look = kind[trace.looked_into]
    looked, blocks = (np.bincount(k, minlength=kinds.shape[1]) for k in (look, kind))
    weights = blocks[look] / looked[look]
    added = np.sum(list(trace.parts.values()), axis=0)
    whole_us, total = float(trace.spent.mean()) * 1e6, float(weights @ added)
    found = []
    for name, time in trace.parts.items():
        if time.any():
            p50, p99 = np.percentile(time, (50, 99)) * 1e6
            share = float(weights @ time) / total
            found.append(Part(name, float(p50), float(p99), share * whole_us, share))
    medians = [(n, np.median(added[look == k]), np.median(trace.spent[kind == k])) for k, n in enumerate(blocks) if looked[k]]
    agreement = sum(n * ours for n, ours, _ in medians) / sum(n * all_ for n, _, all_ in medians)
    return tuple(found), float(agreement)


def _delay(plan: Plan, block: float, compute_us: float) -> Delay:
    """`block`: frames that come at a time."""
    ms = {name: frames / plan.rate * 1e3 for name, frames in plan.latency_parts.items()}
    reblock = ms.pop("reblock")
    return Delay(algorithmic=ms, buffering={"block": block / plan.rate * 1e3, "reblock": reblock}, compute=compute_us / 1e3)

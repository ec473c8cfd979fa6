"""The figures of a profile: how long blocks take, what in them takes it, and how late the voice comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .profile_figures import percent, percentile, percentiles, rounded, shown
from .progress import counted
from .resample import Plan
from .trace import Trace


@dataclass(frozen=True)
class Part:
    """What a part of the engine takes of a block, over the blocks that were looked into."""

    name: str  # "resample_in", "mcadams", "level", ...: see `laps`
    p50_us: float | None
    p99_us: float | None
    mean_us: float  # `share` of the mean time of all blocks
    share: float  # of the time of the blocks looked into; all shares add up to 1


@dataclass(frozen=True)
class Delay:
    """From a sample at the input to the same sample at the output, ms, by cause."""

    algorithmic: Mapping[str, float]  # filters and stages look that far ahead
    buffering: Mapping[str, float]  # sound waits for the rest of its block, of its hop, for its turn
    compute: float | None  # median time of a block; None while not known

    @property
    def total(self) -> float:
        return sum(self.algorithmic.values()) + sum(self.buffering.values()) + (self.compute or 0.0)

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
    """Of the blocks that a `Profiler` has seen; those with no frames are left out.

    Percentiles, parts and ratios are those of the blocks kept (the last 65,536), without the first one, which is apart. None:
    not known, since there were too few blocks: a percentile needs as many as have one above it (p99: 100, p99.9: 1000).
    """

    blocks: int  # all that were seen
    first_us: float | None
    times_us: Mapping[str, float | None]  # mean, p50, p95, p99, p99_9, max
    deadline: Mapping[str, float | None]  # p50, p95, p99, p99_9, max of time over duration, block by block
    misses: int  # of all blocks but the first: took longer than they last
    rtc: float | None  # time over duration, all blocks together
    cpu_share: float | None  # of a core, by the thread that processes, with all else that it does
    looked_into: int  # blocks whose parts were timed
    parts: tuple[Part, ...]  # in the order of the signal flow; those that have no work are left out
    # All parts of the blocks looked into over the time of all blocks, medians of blocks of one kind: 0.9 to 1.1 is expected.
    parts_to_whole: float | None
    delay: Delay
    collections: tuple[int, int, int]  # garbage collections of the whole process, by generation
    pause_us: float  # by all of them
    longest_pause_us: float
    trace: Trace = field(repr=False)  # what this was made from

    @classmethod
    def of(cls, trace: Trace, plan: Plan) -> Report:
        seconds = trace.frames / plan.rate
        empty = not trace.spent.size
        us = trace.spent * 1e6
        parts, parts_to_whole = _parts(trace)
        return cls(
            blocks=trace.blocks,
            first_us=trace.first * 1e6 if trace.blocks else None,
            times_us={
                "mean": None if empty else float(us.mean()),
                **percentiles(us),
                "max": None if empty else trace.longest * 1e6,
            },
            deadline=percentiles(trace.spent / seconds),
            misses=trace.misses,
            rtc=None if empty else float(trace.spent.sum() / seconds.sum()),
            cpu_share=trace.cpu_share,
            looked_into=trace.looked_into.size,
            parts=parts,
            parts_to_whole=parts_to_whole,
            delay=_delay(plan, 0.0, None) if empty else _delay(plan, float(np.median(trace.frames)), float(np.median(us))),
            collections=trace.pauses.runs,
            pause_us=trace.pauses.seconds * 1e6,
            longest_pause_us=trace.pauses.longest * 1e6,
            trace=trace,
        )

    def __str__(self) -> str:
        """Four lines for a person."""
        t = self.times_us
        shares = ", ".join(f"{part.name} {part.share:.0%}" for part in self.parts)
        times = ", ".join(f"{name} {shown(t[name])}" for name in ("p50", "p99", "max"))
        use = f"{percent(self.deadline['p99'])} of a block's duration at p99, {self.misses} took longer than it"
        return (
            f"{counted(self.blocks, 'block')}, us: {times}, first {shown(self.first_us)}\n"
            f"{use}; RTC {shown(self.rtc, '.4f')}\n"
            f"parts: {shares or 'none was looked into yet'}\n"
            f"delay {self.delay.total:.1f} ms, a block included; {counted(sum(self.collections), 'garbage collection')}"
        )

    def as_json(self) -> dict[str, Any]:
        """Plain numbers to 5 digits: units stand in the keys, shares and ratios have none; null is what is not known."""
        found = {
            "blocks": self.blocks,
            "first_us": self.first_us,
            **{f"{name}_us": value for name, value in self.times_us.items()},
            "deadline_share": dict(self.deadline),
            "misses": self.misses,
            "rtc": self.rtc,
            "cpu_share_of_a_core": self.cpu_share,
            "blocks_looked_into": self.looked_into,
            "parts": [vars(part) for part in self.parts],
            "parts_to_whole_ratio": self.parts_to_whole,
            "delay": self.delay.as_json(),
            "gc": {
                "runs": list(self.collections),
                "runs_per_block": sum(self.collections) / max(1, self.blocks),
                "pause_us": self.pause_us,
                "longest_pause_us": self.longest_pause_us,
            },
        }
        return dict(rounded(found))


def _parts(trace: Trace) -> tuple[tuple[Part, ...], float | None]:
    """The parts, and how well they agree with the whole.

    Each block looked into stands for all blocks of its kind, of its size and with as many hops: by chance there are more of a
    kind that takes long than there should be.
    """
    if not trace.looked_into.size:
        return (), None
    kinds, kind = np.unique(np.stack([trace.frames, trace.hops]), axis=1, return_inverse=True)
    look = kind[trace.looked_into]
    looked, blocks = (np.bincount(k, minlength=kinds.shape[1]) for k in (look, kind))
    weights = blocks[look] / looked[look]
    added = np.sum(list(trace.parts.values()), axis=0)
    whole_us, total = float(trace.spent.mean()) * 1e6, float(weights @ added)
    found = []
    for name, time in trace.parts.items():
        if time.any():
            p50, p99 = (percentile(time * 1e6, at) for at in ("p50", "p99"))
            share = float(weights @ time) / total
            found.append(Part(name, p50, p99, share * whole_us, share))
    medians = [(n, np.median(added[look == k]), np.median(trace.spent[kind == k])) for k, n in enumerate(blocks) if looked[k]]
    agreement = sum(n * ours for n, ours, _ in medians) / sum(n * all_ for n, _, all_ in medians)
    return tuple(found), float(agreement)


def _delay(plan: Plan, block: float, compute_us: float | None) -> Delay:
    """`block`: frames that come at a time."""
    ms = {name: frames / plan.rate * 1e3 for name, frames in plan.latency_parts.items()}
    reblock = ms.pop("reblock")
    compute = None if compute_us is None else compute_us / 1e3
    return Delay(algorithmic=ms, buffering={"block": block / plan.rate * 1e3, "reblock": reblock}, compute=compute)

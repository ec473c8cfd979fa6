"""Runs of the real engine to be profiled: as fast as possible, or in real time through `Live` and a card without a device."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..kernels.jit import F32
from .host import Engine
from .methods import make
from .profile_figures import rounded
from .profile_report import Delay, Report
from .profile_sound import Sound

if TYPE_CHECKING:
    from .host import Policy
    from .parameter import Value
    from .stage import Stage
    from .status import Status

Pace = Literal["fast", "real"]

EVERY = 4  # blocks to one that is looked into
FEWEST: Mapping[Pace, int] = {"fast": 100, "real": 20}  # blocks besides the first: for p99, and for p95 in bearable time
SHORTEST, LONGEST = 0.3e-3, 1.0  # s of a block in real time: the worker of `Live` looks every 0.2 ms, and keeps 2 s of sound
_TRACED = 200  # blocks in the pass that counts allocations


@dataclass(frozen=True)
class Work:
    """What is run."""

    method: str
    settings: Mapping[str, Value]
    sound: Sound  # at the rate of the run
    block: int  # frames
    seed: int | None = None

    @property
    def channels(self) -> int:
        return int(self.sound.x.shape[1])

    @property
    def block_seconds(self) -> float:
        return self.block / self.sound.rate

    def lengthened(self, pace: Pace, seconds: float) -> float:
        """s of sound: `seconds`, or as many as the fewest blocks take that say something."""
        return max(seconds, FEWEST[pace] * self.block_seconds)


@dataclass(frozen=True)
class Allocations:
    """What Python and numpy allocate in process(), bytes a block."""

    net: float  # that stay
    peak: float  # at one time, the array that is returned included; median


@dataclass(frozen=True)
class Row:
    """One run."""

    work: Work
    pace: Pace
    seconds: float  # of sound, as asked or `lengthened`
    policy: Policy
    report: Report
    allocations: Allocations
    live: Status | None = None  # at the end of a run in real time

    @property
    def block_ms(self) -> float:
        return self.work.block_seconds * 1e3

    def as_json(self) -> dict[str, Any]:
        """Plain numbers to 5 digits, with units in the keys."""
        live = self.live
        found = {
            "method": self.work.method,
            "rate_hz": self.work.sound.rate,
            "block_frames": self.work.block,
            "block_ms": self.block_ms,
            "channels": self.work.channels,
            "policy": self.policy,
            "seconds": self.seconds,
            **self.report.as_json(),
            "allocations": {
                "net_bytes_per_block": self.allocations.net,
                "peak_bytes_per_block": self.allocations.peak,
            },
            "live": live
            and {
                "xruns": live.xruns,
                "starved_ms": live.starved_ms,
                "dropped_ms": live.dropped_ms,
                "worker_priority": live.worker,
            },
        }
        return dict(rounded(found))


def run(work: Work, pace: Pace, seconds: float) -> Row:
    """Profile `seconds` of sound, or more. ValueError for a method, a parameter or a rate that cannot be."""
    policy: Policy = "each" if pace == "fast" else "mix"
    seconds = work.lengthened(pace, seconds)
    allocations = _allocations(work, policy)
    report, live = measure(work, pace, seconds)
    return Row(work, pace, seconds, policy, report, allocations, live)


def measure(work: Work, pace: Pace, seconds: float) -> tuple[Report, Status | None]:
    """The times alone and, in real time, what the stream said at its end."""
    seconds = work.lengthened(pace, seconds)
    return (_fast(work, seconds), None) if pace == "fast" else _real(work, seconds)


def _fast(work: Work, seconds: float) -> Report:
    engine = _engine(work, "each")
    blocks = _blocks(work)
    with engine.profile(EVERY) as profiler:
        for _ in range(1 + round(seconds / work.block_seconds)):  # the first one is apart
            engine.process(next(blocks))
    return profiler.report()


def _real(work: Work, seconds: float) -> tuple[Report, Status]:
    from .dummy import DummyCard
    from .live import Live
    from .session import SETTLE

    card = DummyCard(work.sound.x, rate_in=work.sound.rate, block_in=work.block, block_out=work.block, real_time=True)
    with Live(_stage(work), card=card, seed=work.seed) as live:
        with live.engine.profile(EVERY) as profiler:
            live.wait(SETTLE + seconds)
            late = time.monotonic() + 1.0 + seconds / 4  # the card is late, the worker holds some back
            while profiler.blocks <= seconds / work.block_seconds and time.monotonic() < late:
                live.wait(0.05)
        status = live.status()
    report = profiler.report()
    return replace(report, delay=_live_delay(report.delay, status)), status


def _live_delay(delay: Delay, status: Status) -> Delay:
    """Of a live stream: a block waits in the rings, and is processed while it does."""
    ms = status.delay_parts_ms
    return Delay(
        algorithmic={**delay.algorithmic, "match": ms["match"]},
        buffering={
            "device_in": ms["device_in"],
            "reblock": delay.buffering["reblock"],
            "handover": ms["handover"] - (delay.compute or 0.0),
            "device_out": ms["device_out"],
        },
        compute=delay.compute,
    )


def _allocations(work: Work, policy: Policy) -> Allocations:
    """A run of its own, since tracing makes all of it slower."""
    engine = _engine(work, policy)
    blocks = _blocks(work)
    peaks = np.zeros(_TRACED)
    for _ in range(_TRACED // 4):
        engine.process(next(blocks))
    tracemalloc.start()
    try:
        engine.process(next(blocks))
        before = tracemalloc.get_traced_memory()[0]
        for k in range(_TRACED):
            tracemalloc.reset_peak()
            now = tracemalloc.get_traced_memory()[0]
            engine.process(next(blocks))
            peaks[k] = tracemalloc.get_traced_memory()[1] - now
        net = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    return Allocations(net / _TRACED, float(np.median(peaks)))


def _engine(work: Work, policy: Policy) -> Engine:
    return Engine(_stage(work), sample_rate=work.sound.rate, channels=work.channels, policy=policy, seed=work.seed)


def _stage(work: Work) -> Stage:
    return make(work.method, work.settings)


def _blocks(work: Work) -> Iterator[F32]:
    """The sound in whole blocks, over and over; round its end if it is shorter than one."""
    x, size = work.sound.x, work.block
    x = x if len(x) >= size else np.resize(x, (size, x.shape[1]))
    x = x if work.channels > 1 else x[:, 0]
    while True:
        for start in range(0, len(x) - size + 1, size):
            yield x[start : start + size]

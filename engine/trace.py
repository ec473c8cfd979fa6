"""What a profiler has seen, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..kernels.jit import F64, I64
from .pauses import Pauses


@dataclass(frozen=True)
class Trace:
    """Blocks that a profiler has seen, oldest first; times in s. The first one is apart: it finds memory and caches cold."""

    blocks: int  # since it was attached, the first one and those no longer kept included, empty ones not
    misses: int  # of these, the first one apart: took longer than they last
    first: float  # time of the first one
    longest: float  # of all others
    began: F64  # shape (n,), of the blocks kept: by time.perf_counter
    spent: F64
    frames: I64
    hops: I64  # that each completed
    looked_into: I64  # shape (m,): which of these had their parts timed
    parts: Mapping[str, F64]  # shape (m,) each, in the order of the signal flow
    cpu_share: float | None  # of a core, by the thread that processes, with all else that it does; None while not known
    pauses: Pauses

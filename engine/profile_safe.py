"""The smallest block that is safe on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from .profile_figures import rounded
from .profile_report import Report
from .profile_run import FEWEST, Pace, Row, Work, measure

if TYPE_CHECKING:
    from .status import Status

SIZES = (64, 128, 256, 512, 1024, 2048)  # frames that programs ask for
LONGEST = 0.1  # s of a block: nobody talks through more
SECONDS: Mapping[Pace, float] = {"fast": 2.0, "real": 1.0}  # for which each is tried at the least
SAFE = 0.5  # of the duration of a block, for the time to process it
SERVER = 128  # frames, of a block that any sound server can be expected to keep up with


@dataclass(frozen=True)
class Tried:
    """How a run with one block size went."""

    blocks: int  # besides the first
    p99: float | None  # of time over duration; None with too few blocks
    longest: float | None
    misses: int
    xruns: int | None = None  # of a run in real time

    @classmethod
    def of(cls, report: Report, live: Status | None) -> Self:
        use = report.deadline
        return cls(report.blocks - 1, use["p99"], use["max"], report.misses, None if live is None else live.xruns)

    @property
    def safe(self) -> bool:
        """No block was late and, by p99 or with few blocks by the longest, there is as much time again in reserve."""
        use = self.longest if self.p99 is None else self.p99
        late = self.misses + (self.xruns or 0)
        return use is not None and use < SAFE and late == 0 and self.blocks >= min(FEWEST.values())


@dataclass(frozen=True)
class Ladder:
    """The block sizes tried with one method at one rate."""

    method: str
    rate: int  # Hz
    tried: Mapping[int, Tried]  # by frames

    @property
    def safe(self) -> int | None:
        """Frames of the smallest block that is safe, as all larger ones are that were tried."""
        found = None
        for block in sorted(self.tried, reverse=True):
            if not self.tried[block].safe:
                break
            found = block
        return found

    @property
    def smallest_tried(self) -> bool:
        """The smallest size tried is safe too: smaller ones may be."""
        return self.safe == min(self.tried)

    def as_json(self) -> dict[str, Any]:
        safe = self.safe
        tried = [
            {
                "block_frames": block,
                "block_ms": block / self.rate * 1e3,
                "blocks": t.blocks,
                "deadline_share": {"p99": t.p99, "max": t.longest},
                "misses": t.misses,
                "xruns": t.xruns,
                "safe": t.safe,
            }
            for block, t in sorted(self.tried.items())
        ]
        found = {
            "method": self.method,
            "rate_hz": self.rate,
            "block_frames": safe,
            "block_ms": safe and safe / self.rate * 1e3,
            "smallest_tried": self.smallest_tried,
            "tried": tried,
        }
        return dict(rounded(found))


def sizes(works: Sequence[Work]) -> list[int]:
    """Frames to be tried besides those of `works`, of one rate; the largest first."""
    rate, own = works[0].sound.rate, {work.block for work in works}
    return sorted((size for size in SIZES if size <= LONGEST * rate and size not in own), reverse=True)


def climb_down(rows: Sequence[Row], on_block: Callable[[Work], object]) -> Ladder:
    """Try sizes from the largest on, until one is not safe. `rows`, of one method and rate, count as tried; `on_block` is told
    each before it is tried."""
    first = rows[0]
    tried = {row.work.block: Tried.of(row.report, row.live) for row in rows}
    for block in sizes([row.work for row in rows]):
        if not all(t.safe for size, t in tried.items() if size > block):
            break
        work = replace(first.work, block=block)
        on_block(work)
        tried[block] = Tried.of(*measure(work, first.pace, SECONDS[first.pace]))
    return Ladder(first.work.method, first.work.sound.rate, tried)

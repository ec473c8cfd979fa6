"""The smallest block that is safe on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .profile_run import Row, Work, measure

SIZES = (64, 128, 160, 256, 480, 512, 960, 1024, 1920, 2048, 3840, 4096)  # frames that drivers and programs ask for
LONGEST = 0.1  # s of a block: nobody talks through more
SECONDS = 2.0  # for which each is tried ...
FEWEST = 200  # ... as fast as possible with so many blocks at least
SAFE = 0.5  # of the duration of a block, for the 99th percentile of the time to process it


@dataclass(frozen=True)
class Ladder:
    """The block sizes tried with one method at one rate."""

    method: str
    rate: int  # Hz
    use: Mapping[int, float]  # by frames: 99th percentile of time over duration

    @property
    def safe(self) -> int | None:
        """Frames of the smallest block below `SAFE` for which all larger ones are, too."""
        found = None
        for block in sorted(self.use, reverse=True):
            if self.use[block] >= SAFE:
                break
            found = block
        return found

    def as_json(self) -> dict[str, Any]:
        safe = self.safe
        tried = [
            {"block_frames": block, "block_ms": block / self.rate * 1e3, "deadline_p99": use}
            for block, use in sorted(self.use.items())
        ]
        return {
            "method": self.method,
            "rate_hz": self.rate,
            "block_frames": safe,
            "block_ms": safe and safe / self.rate * 1e3,
            "tried": tried,
        }


def climb_down(rows: Sequence[Row], on_block: Callable[[Work, int], object]) -> Ladder:
    """Try sizes from the largest on, until one is not safe. `rows`, of one method and rate, count as tried; `on_block` is told
    each size before it is tried."""
    first = rows[0]
    rate = first.work.sound.rate
    use = {row.work.block: row.report.deadline["p99"] for row in rows}
    for block in sorted((size for size in SIZES if size <= LONGEST * rate), reverse=True):
        if block not in use:
            on_block(first.work, block)
            seconds = SECONDS if first.pace == "real" else max(SECONDS, FEWEST * block / rate)
            use[block] = measure(replace(first.work, block=block), first.pace, seconds)[0].deadline["p99"]
        if use[block] >= SAFE:
            break
    return Ladder(first.work.method, rate, use)

"""What the server counts, as Prometheus reads it. No names, no addresses, nothing of one call alone."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from time import process_time

BUCKETS = (0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)  # s


class Metrics:
    """Counters since the server's start."""

    def __init__(self) -> None:
        self.calls = 0
        self.refused: Counter[str] = Counter()
        self.frames = self.muted = self.dropped = self.failed = 0
        self.seconds = 0.0
        self._within = [0] * (len(BUCKETS) + 1)

    def frame(self, seconds: float) -> None:
        """A frame has been anonymized, in so much time."""
        self.frames += 1
        self.seconds += seconds
        self._within[bisect_left(BUCKETS, seconds)] += 1

    def text(self, gauges: dict[str, tuple[str, float]]) -> str:
        """Everything, with `gauges`: by name, what they mean and what they are now."""
        return "\n".join([*self._lines(gauges), ""])

    def _lines(self, gauges: dict[str, tuple[str, float]]) -> Iterator[str]:
        for name, (meaning, value) in gauges.items():
            yield from _head(name, "gauge", meaning)
            yield f"{name} {value:g}"
        counters = {
            "velavox_calls_total": ("Calls that were let in.", self.calls),
            "velavox_muted_hops_total": (
                "Blocks of 10 ms, of ended calls, that failed: silence.",
                self.muted,
            ),
            "velavox_dropped_frames_total": (
                "Frames and packets, of ended calls, that came too late.",
                self.dropped,
            ),
            "velavox_failed_frames_total": (
                "Frames that failed outside the engine: silence.",
                self.failed,
            ),
            "process_cpu_seconds_total": ("CPU time of the server.", process_time()),
        }
        for name, (meaning, count) in counters.items():
            yield from _head(name, "counter", meaning)
            yield f"{name} {count}"
        yield from _head("velavox_refused_total", "counter", "Requests that were refused, by cause.")
        for cause, count in sorted(self.refused.items()):
            yield f'velavox_refused_total{{cause="{cause}"}} {count}'
        yield from _head("velavox_frame_seconds", "histogram", "Time from a frame's way in to its anonymized sound.")
        total = 0
        for bound, count in zip((*map(str, BUCKETS), "+Inf"), self._within, strict=True):
            total += count
            yield f'velavox_frame_seconds_bucket{{le="{bound}"}} {total}'
        yield f"velavox_frame_seconds_sum {self.seconds:.6f}"
        yield f"velavox_frame_seconds_count {self.frames}"


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"

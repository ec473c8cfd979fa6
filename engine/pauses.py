"""Garbage collections of the process, and for how long they stop it."""

from __future__ import annotations

import gc
from time import perf_counter


class Pauses:
    """Counts from `watch` to `leave`."""

    def __init__(self) -> None:
        self.runs = [0, 0, 0]  # by generation
        self.seconds = 0.0
        self.longest = 0.0
        self._since = 0.0

    def watch(self) -> None:
        gc.callbacks.append(self._collected)

    def leave(self) -> None:
        if self._collected in gc.callbacks:
            gc.callbacks.remove(self._collected)

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        now = perf_counter()
        if phase == "start":
            self._since = now
            return
        self.runs[info["generation"]] += 1
        self.seconds += now - self._since
        self.longest = max(self.longest, now - self._since)

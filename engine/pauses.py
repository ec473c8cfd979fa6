"""Garbage collections of the process, and for how long they stop it."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True)
class Pauses:
    runs: tuple[int, int, int] = (0, 0, 0)  # by generation, the youngest first
    seconds: float = 0.0
    longest: float = 0.0


class PauseCounter:
    """Counts from its making to `leave`; `pauses` are those so far."""

    def __init__(self) -> None:
        self._runs = [0, 0, 0]
        self._seconds = self._longest = self._since = 0.0
        gc.callbacks.append(self._collected)

    def leave(self) -> None:
        if self._collected in gc.callbacks:
            gc.callbacks.remove(self._collected)

    @property
    def pauses(self) -> Pauses:
        young, middle, old = self._runs
        return Pauses((young, middle, old), self._seconds, self._longest)

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        now = perf_counter()
        if phase == "start":
            self._since = now
            return
        self._runs[info["generation"]] += 1
        self._seconds += now - self._since
        self._longest = max(self._longest, now - self._since)

"""The profiler of an engine: the time of every block and, now and then, of its parts, while the stream goes on."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from threading import get_ident
from time import perf_counter, thread_time
from types import TracebackType
from typing import Self

import numpy as np

from .laps import DELIVER, INPUT, STAGES, Lap, parts
from .pauses import PauseCounter
from .profile_report import Report
from .resample import Plan
from .trace import Trace

KEPT = 1 << 16  # blocks whose times are kept, the latest: 11 minutes of 10 ms; 2 MB
ROWS = 1 << 12  # blocks whose parts are kept; 0.4 MB
_GAPS = 1009  # drawn gaps from one such block to the next: a fixed step might keep time with the hops, and see always the same


class Profiler:
    """Attached to an engine by `Engine.profile()`; detached by `detach()`, or by the end of a `with`.

    All memory is there from the start. One block in `every`, by a fixed draw, is looked into; the time that this takes is
    taken off its parts, not off its whole. `report()` may be asked for at any time, from any thread, and after `detach()`.
    """

    def __init__(self, plan: Plan, methods: list[str], every: int, detach: Callable[[Profiler], None]) -> None:
        self._plan, self._rate, self._detach = plan, plan.rate, detach
        self._slots = parts(methods)
        self._width = STAGES + len(methods)
        # Python's arrays: numpy takes 30 ns more to write one number.
        self._began, self._spent = array("d", bytes(8 * KEPT)), array("d", bytes(8 * KEPT))
        self._frames, self._hops = array("q", bytes(8 * KEPT)), array("q", bytes(8 * KEPT))
        self._rows, self._row_block = array("d", bytes(8 * ROWS * self._width)), array("q", bytes(8 * ROWS))
        self._fresh_row = array("d", bytes(8 * self._width))
        self._gaps = np.random.default_rng(0).integers(1, 2 * every, _GAPS).tolist()
        self._count = self._looked = self._next = self._base = self._misses = 0
        self._last = self._lap_cost = self._first = self._longest = 0.0
        self._thread, self._thread_time, self._asked = 0, 0.0, 0.0
        self._cpu = self._wall = 0.0
        self._lap_cost = self._cost_of_a_lap()
        self.due = True  # the next block is to be looked into: the first one too, which the report leaves out
        self._pauses = PauseCounter()

    def detach(self) -> None:
        """Let the engine run as before. What was seen stays."""
        self._detach(self)
        self._pauses.leave()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.detach()

    def report(self) -> Report:
        """The figures so far."""
        return Report.of(self.trace(), self._plan)

    @property
    def blocks(self) -> int:
        """That it has seen so far, empty ones apart."""
        return self._count

    def begin(self) -> Lap:
        """The engine says: a block begins, and `due` is set. What its parts are to be timed with."""
        self._base = base = self._looked % ROWS * self._width
        self._lap(DELIVER)  # the first lap for a while takes 1 us
        self._rows[base : base + self._width] = self._fresh_row
        self._last = perf_counter()
        return self._lap

    def _lap(self, part: int) -> None:
        now = perf_counter()
        self._rows[self._base + part] += now - self._last - self._lap_cost
        self._last = now

    def end(self, began: float, ended: float, frames: int, hops: int) -> None:
        """The engine says: a block of so many frames has ended, and completed so many hops. One that was refused never does."""
        count, spent = self._count, ended - began
        i = count % KEPT
        self._began[i] = began
        self._spent[i] = spent
        self._frames[i] = frames
        self._hops[i] = hops
        if spent > self._longest:
            self._longest = spent
        if spent * self._rate > frames:
            self._misses += 1
        if self.due:
            self._end_row(ended)
        self._count = count = count + 1
        if count == self._next:
            self.due = True

    def _end_row(self, ended: float) -> None:
        if not self._count:
            self._first, self._longest, self._misses = self._longest, 0.0, 0
        self._rows[self._base + DELIVER] += ended - self._last
        self._row_block[self._looked % ROWS] = self._count
        self._looked += 1
        self.due = False
        self._next = self._count + self._gaps[self._looked % _GAPS]
        self._ask_cpu(ended)  # 0.9 us, in one block of `every`

    def _ask_cpu(self, now: float) -> None:
        thread, spent = get_ident(), thread_time()
        if thread == self._thread:
            self._cpu += spent - self._thread_time
            self._wall += now - self._asked
        self._thread, self._thread_time, self._asked = thread, spent, now

    def _cost_of_a_lap(self) -> float:
        """What passes between two laps with nothing between them, s: the median of many."""
        lap, costs = self._lap, []
        for _ in range(500):
            lap(INPUT)
            self._rows[DELIVER] = 0.0
            lap(INPUT)
            lap(DELIVER)
            costs.append(self._rows[DELIVER])
        return float(np.median(costs))

    def trace(self) -> Trace:
        """What is kept, as a copy. What the engine's thread overwrites meanwhile is left out."""
        count, looked = self._count, self._looked
        columns = [np.array(column) for column in (self._began, self._spent, self._frames, self._hops)]
        rows, row_block = np.array(self._rows).reshape(ROWS, self._width), np.array(self._row_block)
        blocks = np.arange(max(1, self._count + 1 - KEPT), count)
        look = np.arange(max(0, self._looked + 1 - ROWS), looked) % ROWS
        look = look[np.isin(row_block[look], blocks)]
        began, spent, frames, hops = (column[blocks % KEPT] for column in columns)
        return Trace(
            blocks=count,
            misses=self._misses,
            first=self._first,
            longest=self._longest,
            began=began,
            spent=spent,
            frames=frames,
            hops=hops,
            looked_into=row_block[look] - (blocks[0] if blocks.size else 0),
            parts={name: rows[look, slot] for name, slot in self._slots.items()},
            cpu_share=self._cpu / self._wall if self._wall else None,
            pauses=self._pauses.pauses,
        )

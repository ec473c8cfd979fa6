"""How busy the server is, so that new calls are refused before old ones suffer.

Everything of a call but its decoder runs on the event loop's thread, so one core is what there is. Two figures tell: the share
of that core which the thread has used (of all cores, for the threads beside it), and how late the loop wakes up, which sees
what else the machine does. A call that has just come does not show in either, so it is counted at the price of the others.
"""

from __future__ import annotations

import asyncio
import os
from math import exp
from time import perf_counter, process_time, thread_time

BEAT = 0.05  # s
MEMORY = 2.0  # s of smoothing: a page that loads, or a handshake, is no load
SOON = 1.0  # s of smoothing of how late it is
MOST_SHARE = 0.75  # of the core: above it, frames of 20 ms begin to queue when several come at once
MOST_LATE = 0.06  # s, smoothed: NetEq, which plays in browsers, has hidden jitter up to about that
PRICE = 0.03  # of a core, for the first call; measured from then on, see `velavox.bench.chat_webrtc`
RISING = 4.0  # s until a call shows in the share: the handshake, and twice the smoothing
MOST_RISING = 3  # calls in that time once the loop is somewhat late, since nobody knows how much more the machine gives


class Load:
    """Attributes:
    share: of a core that is used, 0 to 1 (more where Python's other threads are busy).
    late: how late the loop wakes up, s, smoothed.
    worst: the same, the largest of the last beats that are remembered.
    """

    def __init__(self, most_share: float = MOST_SHARE, most_late: float = MOST_LATE) -> None:
        self.share = self.late = self.worst = 0.0
        self._most_share, self._most_late = most_share, most_late
        self._rising: list[float] = []
        self._cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    async def watch(self) -> None:
        """Measure, until cancelled; on the loop's thread."""
        wall, thread, process = perf_counter(), thread_time(), process_time()
        while True:
            await asyncio.sleep(BEAT)
            wall_now, thread_now, process_now = perf_counter(), thread_time(), process_time()
            passed = max(wall_now - wall, BEAT / 2)
            self.beat(passed, thread_now - thread, process_now - process)
            wall, thread, process = wall_now, thread_now, process_now

    def beat(self, passed: float, on_loop: float, in_process: float) -> None:
        """So much time has passed since the last beat, of which so much CPU time went to the loop, and to all threads; s."""
        keep = exp(-passed / MEMORY)
        used = max(on_loop, in_process / self._cores) / passed
        late = max(0.0, passed - BEAT)
        self.share += (1 - keep) * (used - self.share)
        self.late += (1 - exp(-passed / SOON)) * (late - self.late)
        self.worst = max(late, self.worst * keep)

    def admit(self, calls: int) -> str:
        """Why one call more, besides so many, would be too much; "" if it is not, and then it is counted as coming."""
        now = perf_counter()
        self._rising = [since for since in self._rising if now - since < RISING]
        shown = calls - len(self._rising)
        price = min(max(self.share / shown, PRICE / 3), 0.2) if shown > 0 else PRICE
        if calls and self.share + price * (len(self._rising) + 1) > self._most_share:
            return "the server is busy with the calls that it has"
        if calls and self.late > self._most_late:
            return "the server's machine is too busy for another call"
        if len(self._rising) >= MOST_RISING and self.late > self._most_late / 4:
            return "other calls are just coming in"
        self._rising.append(now)
        return ""

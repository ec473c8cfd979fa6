"""A lane: one mono stream from the host's rate through the stages and back. The engine has one for each voice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels import guard, level, limiter, polyphase, ring
from ..kernels.jit import F32, State
from .laps import DELIVER, JUDGE, LEVEL, LIMITER, REBLOCK, RESAMPLE_IN, RESAMPLE_OUT, STAGES, Lap
from .resample import Plan
from .stage import RATE, Stage
from .stats import Stats


class Lane:
    """Signal flow: sanitised input -> 16 kHz -> hops -> stages -> judge -> level match -> limit -> host's rate -> ring.

    Fails closed: whatever a stage does wrong in a hop, that hop is silence, and the delay stays what it was.

    `lap` times the parts of a block; it is None in all blocks but those that a profiler looks into, and then costs 3 ns each.
    """

    def __init__(self, stages: Sequence[Stage], plan: Plan, block: int, stats: Stats) -> None:
        self.stages = list(stages)
        self._plan = plan
        self._stats = stats
        self.error: Exception | None = None  # the last one that a stage raised; the engine takes it off
        for stage in self.stages:
            stage.prepare()
        # One buffer between each pair of stages; a stage with a shorter hop gets the buffers in parts.
        self._hops = [np.zeros(plan.hop, np.float32) for _ in range(len(self.stages) + 1)]
        self._first, self._last = self._hops[0], self._hops[-1]
        self._sound = True  # every stage is known to be in order
        self._steps = [
            (slot, stage, list(zip(x.reshape(-1, stage.hop), y.reshape(-1, stage.hop), strict=True)), y)
            for slot, (stage, x, y) in enumerate(zip(self.stages, self._hops, self._hops[1:], strict=False), STAGES)
        ]
        waiting = polyphase.count(block, plan.up, plan.down) + 1 + plan.hop
        self._inward = ring.memory(waiting)
        self._outward = ring.memory(plan.primed + polyphase.count(waiting, plan.down, plan.up) + 1)
        self._in_ring, self._out_ring = ring.fresh(), ring.fresh(plan.primed)
        self._level = level.fresh(plan.hop, plan.stages)
        self._limiter = limiter.fresh()
        memory = [self._inward, self._outward, self._in_ring, self._out_ring, self._level, self._limiter]
        if not plan.direct:
            self._bank_in, self._bank_out = polyphase.bank(plan.rate, RATE), polyphase.bank(RATE, plan.rate)
            self._past_in = polyphase.history(plan.rate, RATE, block)
            self._past_out = polyphase.history(RATE, plan.rate, plan.hop)
            self._in_filter = polyphase.fresh(plan.rate, RATE)
            self._out_filter = polyphase.fresh(RATE, plan.rate, plan.advance)
            memory += [self._past_in, self._past_out, self._in_filter, self._out_filter]
        self._memory = [(array, array.copy()) for array in memory]

    def reset(self) -> None:
        """As fresh; parameters and voices stay."""
        for array, as_fresh in self._memory:
            np.copyto(array, as_fresh)
        self.error = None
        self._reset_stages()

    def _reset_stages(self) -> None:
        """A stage whose reset fails may hold anything, the speaker's own voice too: silence, until a reset succeeds."""
        self._sound = False
        try:
            for stage in self.stages:
                stage.reset()
            self._sound = True
        except Exception as caught:
            self._note(caught)

    def take(self, x: F32, row: int, start: int, frames: int, lap: Lap | None) -> None:
        """Take x[row, start : start + frames] in, at most `block` of them, and run every hop that is complete."""
        if self._plan.direct:
            ring.push_row(self._in_ring, self._inward, x, row, start, frames)
        else:
            polyphase.stream_row(
                self._in_filter, self._bank_in, self._past_in, self._in_ring, self._inward, x, row, start, frames
            )
            if lap:
                lap(RESAMPLE_IN)
        while ring.pop(self._in_ring, self._inward, self._first):
            if lap:
                lap(REBLOCK)
            self._run_hop(lap)
        if lap:
            lap(REBLOCK)

    def give(self, counts: State, y: F32, channel: int, start: int, frames: int, lap: Lap | None) -> None:
        """Write the next `frames` samples of output into y[start:, channel]."""
        guard.deliver(counts, self._out_ring, self._outward, y, channel, start, frames)
        if lap:
            lap(DELIVER)

    def _run_hop(self, lap: Lap | None) -> None:
        stats, last = self._stats, self._last
        stats.hops += 1
        if not self._sound:
            self._reset_stages()
        cause = "" if self._sound else "reset"
        if not cause:
            cause = self._run_stages(lap)
        if cause:
            last.fill(0)
            stats.mute(cause)
        if lap:
            lap(JUDGE)
        if not cause:
            level.match(self._level, last, self._first)
            if lap:
                lap(LEVEL)
            stats.clipped += limiter.limit(self._limiter, last)
            if lap:
                lap(LIMITER)
        if self._plan.direct:
            ring.push(self._out_ring, self._outward, last)
        else:
            polyphase.stream(self._out_filter, self._bank_out, self._past_out, self._out_ring, self._outward, last)
            if lap:
                lap(RESAMPLE_OUT)

    def _run_stages(self, lap: Lap | None) -> str:
        """One hop through every stage; why it has to be muted, or "". After a failure all stages start afresh."""
        cause = ""
        try:
            for slot, stage, parts, out in self._steps:
                out.fill(np.nan)  # what a stage leaves unwritten is then seen
                if lap:
                    lap(JUDGE)
                for x, y in parts:
                    stage.step(x, y)
                if lap:
                    lap(slot)
                if not guard.finite(out):
                    cause = "not finite"
                    break
        except Exception as caught:
            if lap:
                lap(slot)
            cause = "error"
            self._note(caught)
        if cause:
            self._reset_stages()
        return cause

    def _note(self, error: Exception) -> None:
        self.error = error
        self._stats.last_error = f"{type(error).__name__}: {error}".splitlines()[0]

"""One opening of a sound card: takes what was captured through the engine, and holds the delay.

Time is s, sound is counted in frames at the rate of its side. `held` is the time for which sound waits between capture and
playing, the engine's own delay apart. It is computed from counters, not from how full the rings are: with one clock,
capture and playing advance together, so that only what was put, taken, starved or dropped can change it, and it is exact;
with two, each side's counter is smoothed to a line (`drift.ClockLine`).
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from ..kernels import asrc, fade
from ..kernels.jit import F32
from .card import Format
from .drift import ClockLine, Drift
from .exchange import Exchange

if TYPE_CHECKING:
    from .content.guard import ContentGuard
    from .host import Engine

SETTLE = 0.25  # s of callbacks that are only watched, in silence, to see in which bursts they come
SETTLE_CALLS = 4  # and at least so many times that callbacks came
FIRST_CALL = 5.0  # s that a card may take to call for the first time: PulseAudio wakes a suspended source in 2
SILENT_CALLS = 0.5  # s without a callback: the device stopped. More with blocks above 62 ms
ROOM = 2.0  # s of captured sound that is kept while the worker stands still
LEAST_HELD = 2e-3  # s held with one clock at the least: a worker takes up to 1 ms to wake up
LEAST_SLACK = 4e-3  # s held beyond need with two clocks, whose callbacks come at any time relative to each other
GRAIN = 4e-3  # s: where what is held is judged or changed by blocks, shorter ones count as this long
MOST_RAISES = 3  # blocks that starving may add to the target
RAISE_WITHIN = 30.0  # s: starved again so soon, the target is raised by a block
LOWER_AFTER = 60.0  # s without starving, and it is lowered again
JITTER = 10e-3  # s by which callbacks are early or late on a busy machine
LONGEST_REST = 0.1  # s without a look, however long the blocks
HUNG = 0.3  # s without a look beyond that: a stage does not come back
JOIN = 2e-3  # s, time constant in which a step is removed where captured sound was dropped
_CHUNK = 2048  # frames processed at a time
LOADS = 1024  # blocks whose load is kept for the percentiles


@dataclass
class Counts:
    """What happened to a live stream's sound, over all openings of the card."""

    xruns: int = 0  # times when sound was late, lost or dropped
    starved: float = 0.0  # s of silence for want of sound
    dropped: float = 0.0  # s of captured sound thrown away
    corrections: int = 0  # changes of the resampling ratio
    muted_hops: int = 0  # silenced by engines whose counters have started over
    reopened: int = 0  # times the device was lost and came back


class _Side:
    """One direction: its callbacks as the worker sees them."""

    def __init__(self, rate: int, block: int, now: float) -> None:
        self.rate, self.seconds = rate, block / rate
        self.line = ClockLine(rate, longest=max(3 * self.seconds, 0.1), slack=4 * self.seconds + JITTER)
        self.frames = 0
        self.bursts: list[int] = []  # frames that came between two looks, while settling
        self.called = now
        self.patience = FIRST_CALL

    def see(self, now: float, frames: int, settling: bool) -> bool:
        """The card has counted so many frames; True if that is more than before."""
        if frames == self.frames:
            return False
        if settling and self.frames:
            if now - self.called < self.seconds / 2 and self.bursts:
                self.bursts[-1] += frames - self.frames
            else:
                self.bursts.append(frames - self.frames)
        self.frames, self.called = frames, now
        self.patience = max(SILENT_CALLS, 8 * self.seconds)
        self.line.add(now, frames)
        return True

    @property
    def burst(self) -> float:
        """s that come at a time: the upper quartile, since one late look must not count."""
        ordered = sorted(self.bursts) or [0]
        return max(ordered[-1 - len(ordered) // 4] / self.rate, self.seconds)


class Session:
    """The worker's part while the card stays open: call `turn` again and again.

    Attributes:
        lost: why the device is lost; "" while it is not.
        running: callbacks have been watched long enough, and sound goes through.
        target: s for which sound should be held.
        overloaded: until this time the stream counts as overloaded.
        muted: set it at any time; the sound fades within 10 ms.
    """

    def __init__(self, plan: Format, exchange: Exchange, engine: Engine | ContentGuard, counts: Counts, now: float) -> None:
        self.plan, self.exchange, self.engine, self.counts = plan, exchange, engine, counts
        self.lost = ""
        self.running = False
        self.muted = False
        self.target = 0.0
        self.overloaded = now
        self.loads = np.zeros(LOADS)  # time to process a chunk over its duration, the latest
        self.chunks = 0
        self.drift = Drift(plan.one_clock)
        self._in = _Side(plan.rate_in, plan.block_in, now)
        self._out = _Side(plan.rate_out, plan.block_out, now)
        self._settled = now
        self._base = 0.0  # the target that starving has not raised
        self._starved_at = now - RAISE_WITHIN
        self._starved = self._lost = self._flags = 0
        self._moved = (0, 0)  # frames taken and put; one object, so that other threads see both as of one moment
        self._looked = now
        self._grain = max(self._in.seconds, self._out.seconds, GRAIN)
        self._frames_in, self._frames_out = exchange.counter("frames_in"), exchange.counter("frames_out")
        self._counters = tuple(exchange.counter(name) for name in ("lost", "starved"))
        self._flagged = exchange.counter("flagged")
        chunk = max(_CHUNK, plan.block_in)
        self._x = np.zeros((chunk, plan.channels_in), np.float32)
        self._y = np.zeros(asrc.most(chunk, plan.rate_in, plan.rate_out), np.float32)
        self._asrc = asrc.fresh(plan.rate_in, plan.rate_out)
        self._rows = asrc.bank(plan.rate_in, plan.rate_out)
        self._past = asrc.history(plan.rate_in, plan.rate_out, chunk)
        self._fade = fade.fresh(plan.rate_out)
        self._join = np.exp(-np.arange(int(5 * JOIN * plan.rate_in)) / (JOIN * plan.rate_in)).astype(np.float32)[:, None]
        self._last = np.zeros(plan.channels_in, np.float32)  # the frame taken last
        self._broken = False  # sound was dropped after it
        self._more = False  # the last turn has left something to be taken

    def turn(self, now: float) -> float:
        """Do what there is to do; s to wait before the next turn."""
        self._looked = now
        arrived = self._in.see(now, int(self._frames_in[0]), not self.running)
        self._out.see(now, int(self._frames_out[0]), not self.running)
        for side, name in ((self._in, "input "), (self._out, "output ")):
            if now - side.called > side.patience and not self.lost:
                self.lost = f"the {'' if self.plan.one_clock else name}device stopped calling"
        if not self.running:
            self._settle(now)
            return self._poll
        if not (arrived or self._more):
            return self._poll
        self.account(now)
        self._steer(now)
        self._more = self._work()
        return 0.0 if self._more else self._rest

    @property
    def _poll(self) -> float:
        """A look costs 19 us: every 2 ms, 1 % of a core."""
        return min(max(self._out.seconds / 5, 2e-4), 2e-3)

    @property
    def _rest(self) -> float:
        """After work: with one clock the next callback comes a block later, and what it brings is due another one later."""
        return min(max(self._poll, 0.75 * self._out.seconds), LONGEST_REST) if self.plan.one_clock else self._poll

    def held(self, now: float) -> float:
        """s for which the sound that is played now has waited, the engine's delay apart."""
        between = (
            0.0 if self.plan.one_clock else self._in.line.at(now) / self._in.rate - self._out.line.at(now) / self._out.rate
        )
        taken, put = self._moved
        return between + (put + self._starved) / self._out.rate - (taken + self._lost) / self._in.rate

    def hung(self, now: float) -> bool:
        """No turn has begun for so long that the worker must be held up in a stage."""
        return now - self._looked > LONGEST_REST + HUNG

    @property
    def unaccounted(self) -> float:
        """s of silence for want of sound since the last turn that counted it."""
        return (self._count()[1] - self._starved) / self._out.rate if self.running else 0.0

    def delay_parts(self, now: float) -> dict[str, float]:
        """The delay between the devices by cause, s."""
        return {
            "engine": self.engine.latency / self.plan.rate_in,
            "handover": self.held(now) if self.running else 0.0,
            "match": asrc.latency(self.plan.rate_in, self.plan.rate_out) / self.plan.rate_in,
        }

    def _settle(self, now: float) -> None:
        """Watch the callbacks, then prime the output with the silence that lets none of them starve."""
        waiting = self.exchange.to_take
        self.exchange.drop(waiting)
        self._move(waiting, 0)
        if not (self._in.frames and self._out.frames):
            self._settled = now
        if now - self._settled < SETTLE or min(len(self._in.bursts), len(self._out.bursts)) < SETTLE_CALLS:
            return
        slack = 0.0 if self.plan.one_clock else max(LEAST_SLACK, self._out.burst / 2)
        beyond = 0.0 if self.plan.one_clock else self._out.burst - self._out.seconds
        self.target = self._base = max(self._in.burst, self._out.burst, LEAST_HELD) + beyond + slack
        for side in (self._in, self._out):
            side.line.slack = 1.5 * side.burst + JITTER
        self._lost, self._starved, self._flags = self._count()
        silence = max(0, round((self.target - self.held(now)) * self._out.rate))
        self.exchange.put(np.zeros(silence, np.float32), silence)
        self._move(0, silence)
        self.running = True

    def _count(self) -> tuple[int, int, int]:
        """Captured frames lost, frames starved, callbacks with word of sound lost or made up by the device."""
        lost, starved = self._counters
        return int(lost[0]), int(starved[0]), int(self._flagged[0, :4].sum())

    def _move(self, taken: int, put: int) -> None:
        self._moved = (self._moved[0] + taken, self._moved[1] + put)

    def account(self, now: float) -> None:
        """Count what went wrong since the last time."""
        if not self.running:
            return
        lost, starved, flags = self._count()
        if flags != self._flags:
            self.counts.xruns += flags - self._flags
        if lost != self._lost:
            self.counts.dropped += (lost - self._lost) / self._in.rate
        if starved != self._starved:
            self.counts.starved += (starved - self._starved) / self._out.rate
            self.counts.xruns += 1
            self._on_starving(now)
        if (lost, starved, flags) != (self._lost, self._starved, self._flags):
            self.overloaded = now + 1.0
            self._lost, self._starved, self._flags = lost, starved, flags
        elif now - self._starved_at > LOWER_AFTER and self.target > self._base:
            self.target = max(self._base, self.target - self._grain)
            self._starved_at = now

    def _on_starving(self, now: float) -> None:
        """What comes now comes later by as much as was missing. If that happens again and again, more has to be held."""
        self.drift.forget()
        if 0.2 < now - self._starved_at < RAISE_WITHIN:
            self.target = min(self.target + self._grain, self._base + MOST_RAISES * self._grain)
        self._starved_at = now

    def _steer(self, now: float) -> None:
        """Let small errors be resampled away; drop the oldest sound when there is more than 1.5 blocks too much."""
        if not (self.plan.one_clock or (self._in.line.sure and self._out.line.sure)):
            return  # a callback came far from where it was expected: the next ones tell whether time was lost
        error = self.held(now) - self.target
        if error > 1.5 * self._grain:
            self._drop(error)
            self.overloaded = now + 1.0
        else:
            self.counts.corrections += self.drift.update(now, error)

    def _drop(self, seconds: float) -> None:
        frames = min(self.exchange.to_take, round(seconds * self._in.rate))
        if frames:
            self.exchange.drop(frames)
            self._move(frames, 0)
            self._broken = True
            self.counts.dropped += frames / self._in.rate
            self.counts.xruns += 1
            self.drift.forget()

    def _work(self) -> bool:
        """Take what was captured through the engine, at most a chunk of it; True if there may be more."""
        x = self._x
        frames = self.exchange.take(x)
        if frames == 0:
            return False
        began = perf_counter()
        if self._broken:
            self._mend(x[:frames])
        self._last[:] = x[frames - 1]
        y = self.engine.process(x[:frames] if self.plan.channels_in > 1 else x[:frames, 0])
        step = self._in.rate / self._out.rate * (1 + self.drift.correction)
        count = asrc.stream(self._asrc, self._rows, self._past, y.reshape(frames, -1), frames, step, self._y)
        fade.fade(self._fade, self._y, count, 0.0 if self.muted else 1.0)
        fits = self.exchange.put(self._y, count)
        self._move(frames, count if fits else 0)
        if not fits:  # the output stands still
            self.counts.dropped += count / self._out.rate
        self.loads[self.chunks % LOADS] = (perf_counter() - began) * self._in.rate / frames
        self.chunks += 1
        return frames == len(x)

    def _mend(self, x: F32) -> None:
        """Remove the step that dropping left between the frame taken last and x, so that it does not click."""
        count = min(len(x), len(self._join))
        x[:count] += (self._last - x[0]) * self._join[:count]
        self._broken = False

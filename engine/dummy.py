"""A sound card that is not there: sound from memory, clocks that run as they are told, faults on demand.

In virtual time nothing waits: `wait` runs the callbacks that fall due, so that hours pass in seconds and every run is the
same. In real time a thread calls back on schedule, as a card does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

import numpy as np

from ..kernels.jit import F32
from .card import DeviceError, Format
from .exchange import Exchange
from .realtime import real_time

Listener = Callable[[float, F32], None]


class _Side:
    """Callbacks of one direction: number k falls due at phase + k blocks of its own clock."""

    def __init__(self, seconds: float, begin: float, phase: float) -> None:
        self.seconds, self.begin = seconds, begin + phase
        self.calls = 0

    @property
    def due(self) -> float:
        return self.begin + (self.calls + 1) * self.seconds


class DummyCard:
    """A `Card` without a device.

    Args:
        sound: what the microphone hears, over and over: shape (frames,) or (frames, channels), at `rate_in`; None: silence.
        rate_in, rate_out: Hz, nominal. block_in, block_out: frames a callback (None: 10 ms).
        one_clock: one callback for both directions, by the input's clock.
        ppm_in, ppm_out: how much faster than nominal each clock runs.
        phase: s by which output callbacks come after input callbacks at the start, with two clocks.
        burst: callbacks that come at a time, late, as sound servers do it.
        latencies: s, the delays that it reports.
        channels_out: of the output; every channel is given the voice.
        listener: called with (time, y) for every output callback: when it was due by the output's clock, and what was played,
            shape (frames, channels_out), to be copied if kept.
        real_time: by the system's clock and a thread; else in virtual time, from 0.
    """

    def __init__(
        self,
        sound: F32 | None = None,
        *,
        rate_in: int = 48_000,
        rate_out: int | None = None,
        block_in: int | None = None,
        block_out: int | None = None,
        one_clock: bool = True,
        ppm_in: float = 0.0,
        ppm_out: float = 0.0,
        phase: float = 0.0,
        burst: int = 1,
        latencies: tuple[float, float] = (0.0, 0.0),
        channels_out: int = 1,
        listener: Listener | None = None,
        real_time: bool = False,
    ) -> None:
        rate_out = rate_out or rate_in
        block_in, block_out = block_in or rate_in // 100, block_out or rate_out // 100
        heard = np.zeros(rate_in, np.float32) if sound is None else np.asarray(sound, np.float32)
        if heard.size == 0:
            raise ValueError("sound: give one frame or more, or None for silence")
        heard = heard.reshape(len(heard), -1)
        self._loop = np.concatenate([heard, np.resize(heard, (block_in, heard.shape[1]))])
        self._length = len(heard)
        self._format = Format(
            rate_in, rate_out, block_in, block_out, heard.shape[1], channels_out, one_clock, "dummy input", "dummy output"
        )
        self._ppm, self._phase, self._burst, self._latencies = (ppm_in, ppm_out), phase, burst, latencies
        self._listener = listener
        self._real_time = real_time
        self._time = 0.0
        self._stalls: dict[str, list[tuple[float, float]]] = {"in": [], "out": []}
        self._absences: list[tuple[float, float]] = []
        self._exchange: Exchange | None = None
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self.opened = 0  # times

    # Faults, in this card's time.

    def stall(self, begin: float, seconds: float, *sides: Literal["in", "out"]) -> None:
        """It does not call back for that long, and stays active; what happens in that time is neither heard nor played.

        `sides`: with two clocks, which one stalls; both if none is named.
        """
        for side in sides or ("in", "out"):
            self._stalls[side].append((begin, begin + seconds))

    def vanish(self, begin: float, seconds: float) -> None:
        """It is unplugged for that long."""
        self._absences.append((begin, begin + seconds))

    # The face of a card.

    def plan(self) -> Format:
        self._check_present()
        return self._format

    def open(self, plan: Format, exchange: Exchange) -> tuple[float, float]:
        self._check_present()
        self._exchange = exchange
        self.opened += 1
        begin = self.now()
        one = plan.one_clock
        self._in = _Side(plan.block_in / (plan.rate_in * (1 + 1e-6 * self._ppm[0])), begin, 0.0)
        self._out = _Side(plan.block_out / (plan.rate_out * (1 + 1e-6 * self._ppm[1])), begin, self._phase)
        self._sides = (self._in,) if one else (self._in, self._out)
        self._y = np.zeros((plan.block_out, plan.channels_out), np.float32)
        if self._real_time:
            self._closing.clear()
            self._thread = threading.Thread(target=self._call_back, name="dummy card", daemon=True)
            self._thread.start()
        return self._latencies

    def close(self) -> None:
        self._exchange = None
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    @property
    def active(self) -> bool:
        return self._exchange is not None and not _within(self._absences, self.now())

    def now(self) -> float:
        return time.monotonic() if self._real_time else self._time

    def wait(self, seconds: float) -> None:
        if self._real_time:
            time.sleep(seconds)
            return
        until = self._time + seconds
        if self._exchange is not None:
            while (due := self._next_due()) <= until:
                self._time = max(self._time, due)
                self._run_due(due)
        self._time = max(self._time, until)

    def _check_present(self) -> None:
        if _within(self._absences, self.now()):
            raise DeviceError("the dummy device is unplugged", "wait until it is back")

    def _next_due(self) -> float:
        """When the next callbacks come: the last of a burst calls them all."""
        return min(side.due + (self._burst - 1 - side.calls % self._burst) * side.seconds for side in self._sides)

    def _run_due(self, now: float) -> None:
        for side in self._sides:
            while side.due <= now + 1e-9 and self._exchange is not None:
                self._call(side, now)
                side.calls += 1

    def _call(self, side: _Side, now: float) -> None:
        exchange = self._exchange
        stalls = self._stalls["in" if side is self._in else "out"]
        if exchange is None or _within(stalls, now) or _within(self._absences, now):
            return
        begin = side.calls * self._format.block_in % self._length
        x = self._loop[begin : begin + self._format.block_in].reshape(-1)
        y = self._y.reshape(-1)
        if self._format.one_clock:
            exchange.duplex(x, y)
        elif side is self._in:
            exchange.capture(x)
            return
        else:
            exchange.play(y)
        if self._listener is not None:
            self._listener(side.due, self._y)

    def _call_back(self) -> None:
        with real_time():
            while not self._closing.is_set():
                due = self._next_due()
                with suppress(ValueError):  # late already
                    time.sleep(due - time.monotonic())
                self._run_due(due)


def _within(spans: list[tuple[float, float]], now: float) -> bool:
    return any(begin <= now < end for begin, end in spans)

"""What a live stream did, measured in its sound: the true delay of pulses, and whether an engine alone gives the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from signals import F32
from velavox.engine.host import Engine
from velavox.engine.live import Live

EVERY = 0.5  # s from pulse to pulse: more than any delay in these tests


def train(rate: int) -> F32:
    """`EVERY` s with one soft pulse of 10 ms, its centre at a quarter."""
    x = np.zeros(int(EVERY * rate), np.float32)
    size = rate // 100
    begin = x.size // 4 - size // 2
    x[begin : begin + size] = 0.5 * np.hanning(size)
    return x


class Delays:
    """A listener for a DummyCard that hears `train`: for every pulse that comes out, when, and how late it is.

    `ppm`: of the card's input clock. Late by how much: beyond a direct copy in the callback, s.
    """

    def __init__(self, rate_in: int, block_in: int, rate_out: int, *, ppm_in: float = 0.0, ppm_out: float = 0.0) -> None:
        self._in = 1 / (rate_in * (1 + 1e-6 * ppm_in))  # s a frame
        self._out = 1 / (rate_out * (1 + 1e-6 * ppm_out))
        self._lead = block_in * self._in
        self._centre = np.floor(EVERY * rate_in / 4) * self._in
        self._every = int(EVERY * rate_in) * self._in
        self._weight = self._moment = 0.0
        self.found: list[tuple[float, float]] = []

    def __call__(self, now: float, y: F32) -> None:
        loud = np.flatnonzero(np.abs(y[:, 0]) > 1e-3)
        if loud.size:
            energy = np.square(y[loud, 0], dtype=np.float64)
            self._weight += energy.sum()
            self._moment += float(np.dot(energy, now + loud * self._out))
        elif self._weight:
            if self._weight > 1:  # a whole pulse, not what starving left of one
                when = self._moment / self._weight
                heard = (when - self._lead - self._centre) % self._every  # the delay is less than the time between pulses
                self.found.append((when, float(heard)))
            self._weight = self._moment = 0.0


def expected(live: Live) -> float:
    """What the stream says of its delay, without the device's."""
    parts = live.status().delay_parts_ms
    return (parts["engine"] + parts["handover"] + parts["match"]) / 1e3


def lag(y: F32, x: F32) -> int:
    """Frames by which y is late against x: their largest correlation."""
    size = 1 << int(np.ceil(np.log2(len(x) + len(y))))
    products = np.fft.irfft(np.fft.rfft(y, size) * np.conj(np.fft.rfft(x, size)), size)
    return int(np.argmax(products[: len(y)]))


def offline_difference(y: F32, x: F32, engine: Callable[[], Engine], block: int = 1) -> float:
    """The largest difference between y, what a live stream played for x, and what an engine by itself gives for x.

    x, shape (n,), begins with silence, so that only where hops begin tells one engine from another: every place is tried that
    is a multiple of `block` frames.
    """
    hop = engine().hop * engine().sample_rate // 16_000
    piece = 2 * engine().sample_rate  # frames enough to find the delay
    best = np.inf
    late: int | None = None
    for begin in sorted({k * block % hop for k in range(hop)}):
        reference = engine().process(np.concatenate([np.zeros(begin, np.float32), x]))[begin:]
        if late is None:
            late = lag(y, reference[:piece])
        for tried in range(late - 1, late + 2) if begin else [late]:  # where the hops begin moves it a little
            n = min(len(y) - tried, len(reference))
            if tried >= 0 and n > piece // 4:
                best = min(best, float(np.abs(y[tried : tried + n] - reference[:n]).max()))
    return best

"""For tests of adapters: speech in frames, stages that misbehave, and whether the speaker's own voice got out."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import Event
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from signals import F32, voice
from velavox import Identity
from velavox.bench.measure import best_lag_correlation
from velavox.engine.adapters.frames import PCM, Frames
from velavox.engine.adapters.worker import Runner, Worker

I16 = npt.NDArray[np.int16]
T = TypeVar("T")


class Broken(Identity):
    """Writes the speaker's own voice, then raises."""

    method = "broken"

    def step(self, x: F32, y: F32) -> None:
        y[:] = x
        raise RuntimeError("wires crossed")


class Held(Identity):
    """Stands still while `go` is clear, as a network would on a busy machine."""

    method = "held"
    heavy = True

    def __init__(self) -> None:
        super().__init__()
        self.go = Event()
        self.go.set()

    def step(self, x: F32, y: F32) -> None:
        assert self.go.wait(30)
        y[:] = x

    def clone(self) -> Self:
        other = type(self)()
        other.go = self.go
        return other


def speech(seconds: float, rate: int, channels: int = 1) -> I16:
    """Speech-like int16 of shape (samples, channels), another speaker in each channel."""
    columns = [voice(seconds, f0=110.0 + 70 * c, seed=c, rate=rate) for c in range(channels)]
    return (np.stack(columns, axis=1) * 32767).astype(np.int16)


def framed(x: PCM, size: int) -> list[PCM]:
    return [x[i : i + size] for i in range(0, len(x), size)]


def likeness(x: npt.ArrayLike, y: npt.ArrayLike, rate: int) -> float:
    """Correlation of two mono signals at the best lag of up to 150 ms: 1 is the same waveform, 0 silence or no likeness."""
    a, b = (np.asarray(s, np.float32).reshape(-1) / np.float32(32768) for s in (x, y))
    size = min(len(a), len(b))
    return best_lag_correlation(a[:size], b[:size], int(0.15 * rate))


def through(frames: Frames, x: PCM, size: int, rate: int) -> PCM:
    return np.concatenate([frames.process(block, rate) for block in framed(x, size)])


def settled(frames: Frames, x: PCM, rate: int) -> None:
    """Hand over frames like x until the engine for them is there, or refused."""
    for _ in range(2000):
        frames.process(x, rate)
        making = frames._making
        if making is None:
            return
        making.join(30)
    raise AssertionError("no engine came")


async def caught_up(worker: Runner) -> None:
    """Wait until a thread has done all that it was asked for, however busy the machine is."""
    while isinstance(worker, Worker) and not all(future.done() for future in worker._asked):
        await asyncio.sleep(0.001)


def loop(work: Coroutine[Any, Any, T]) -> T:
    """Run it, for a minute at the most."""

    async def bounded() -> T:
        return await asyncio.wait_for(work, 60)

    return asyncio.run(bounded())

"""Who works on a frame: the event loop itself, where that takes microseconds, or a thread beside it.

A thread never holds the loop up, and what it has not done in time is silence: the delay stays bounded whatever a stage does.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from ..samples import silence
from .frames import PCM, Frames

PATIENCE = 0.1  # s that one frame is waited for, in the thread or while an engine is prepared for frames of its form
BACKLOG = 4  # frames that the thread has not done yet; beyond that new ones are dropped
HELD = 0.020  # s by which the output follows for a host that cannot wait: DpVoice's step of 20 ms takes 0.2 ms, at worst a few


class Runner(Protocol):
    """`Frames.process` and `Frames.lost`, as a coroutine and as a call that returns at once."""

    @property
    def delay(self) -> float:
        """s by which the output of `exchange` comes later than that of `process`."""

    async def process(self, x: PCM, sample_rate: int) -> PCM: ...

    async def lost(self, shape: tuple[int, int], dtype: np.dtype[Any], sample_rate: int) -> PCM: ...

    def exchange(self, x: PCM, sample_rate: int) -> PCM: ...

    def forget(self) -> None:
        """Of what was handed over, let nothing come out any more."""

    def close(self) -> None:
        """Let the thread go."""


def runner(frames: Frames, worker: bool | None = None) -> Runner:
    """A thread where a stage is heavy, or as told."""
    beside = any(stage.heavy for stage in frames.stages) if worker is None else worker
    return Worker(frames) if beside else Inline(frames)


class Inline:
    """On the event loop: 0.05 ms for 20 ms of sound with a signal-processing stage."""

    delay = 0.0

    def __init__(self, frames: Frames) -> None:
        self._frames = frames

    async def process(self, x: PCM, sample_rate: int) -> PCM:
        if not self._frames.fits(sample_rate, x.shape[1]):
            await asyncio.to_thread(self._frames.wait, sample_rate, x.shape[1], PATIENCE)
        return self._frames.process(x, sample_rate)

    async def lost(self, shape: tuple[int, int], dtype: np.dtype[Any], sample_rate: int) -> PCM:
        return self._frames.lost(shape, dtype, sample_rate)

    def exchange(self, x: PCM, sample_rate: int) -> PCM:
        return self._frames.process(x, sample_rate)

    def forget(self) -> None:
        pass

    def close(self) -> None:
        pass


class Worker:
    """In a thread of its own, frames in their order."""

    def __init__(self, frames: Frames) -> None:
        self.delay = HELD
        self._frames = frames
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="velavox")
        self._asked: deque[Future[PCM]] = deque()  # not done yet, as far as is known
        self._handed: deque[tuple[Future[PCM] | None, int]] = deque()  # what `exchange` has asked for, with its samples
        self._form: tuple[int, int, np.dtype[Any]] | None = None  # of what was handed: rate, channels, kind
        self._ready: PCM = np.zeros((0, 1), np.int16)  # to be given next by `exchange`

    async def process(self, x: PCM, sample_rate: int) -> PCM:
        """Silence if the frame is not done in time."""
        copy = x.copy()  # the caller's frame may be gone before the thread comes to it

        def work() -> PCM:
            self._frames.wait(sample_rate, x.shape[1], PATIENCE)
            return self._frames.process(copy, sample_rate)

        return await self._wait(work, x.shape, x.dtype)

    async def lost(self, shape: tuple[int, int], dtype: np.dtype[Any], sample_rate: int) -> PCM:
        return await self._wait(lambda: self._frames.lost(shape, dtype, sample_rate), shape, dtype)

    def exchange(self, x: PCM, sample_rate: int) -> PCM:
        """Hand x over, and take what is due of what was handed before: HELD ago, or a frame where frames are longer."""
        form = (sample_rate, x.shape[1], x.dtype)
        if form != self._form:
            self._form, self.delay = form, max(HELD, len(x) / sample_rate)
            self._handed.clear()
            self._ready = silence((round(self.delay * sample_rate), x.shape[1]), x.dtype)
        copy = x.copy()
        self._handed.append((self._ask(lambda: self._frames.process(copy, sample_rate)), len(x)))
        while len(self._ready) < len(x):
            if len(self._handed) > 1:
                future, samples = self._handed.popleft()
            else:  # x is longer than those before it: all that follows comes later by as much
                future, samples = None, len(x) - len(self._ready)
                self.delay += samples / sample_rate
            self._ready = np.concatenate([self._ready, self._taken(future, (samples, x.shape[1]), x.dtype)])
        y, self._ready = self._ready[: len(x)], self._ready[len(x) :]
        return y if self._frames.audible else silence(x.shape, x.dtype)

    def forget(self) -> None:
        self._form = None

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _wait(self, call: Callable[[], PCM], shape: tuple[int, ...], dtype: np.dtype[Any]) -> PCM:
        future = self._ask(call)
        if future is not None:
            await asyncio.wait([asyncio.wrap_future(future)], timeout=PATIENCE)
        y = self._taken(future, shape, dtype)
        return y if self._frames.audible else silence(shape, dtype)

    def _ask(self, call: Callable[[], PCM]) -> Future[PCM] | None:
        """None if the thread is too far behind, or gone."""
        while self._asked and self._asked[0].done():
            self._asked.popleft()
        if len(self._asked) < BACKLOG:
            try:
                future = self._thread.submit(call)
            except RuntimeError:  # shut down
                return None
            self._asked.append(future)
            return future
        self._frames.skip()
        return None

    def _taken(self, future: Future[PCM] | None, shape: tuple[int, ...], dtype: np.dtype[Any]) -> PCM:
        """What was asked for, or silence of its form if it is not done."""
        if future is not None and future.done() and not future.cancelled() and future.exception() is None:
            return future.result()
        return self._frames.mute("late", shape, dtype)

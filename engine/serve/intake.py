"""The microphone as it comes in, with a bounded backlog: who falls behind loses the oldest frames, and the delay stays."""

from __future__ import annotations

import asyncio
from collections import deque
from time import perf_counter

from aiortc import MediaStreamTrack
from aiortc.mediastreams import MediaStreamError
from av import AudioFrame

MOST_WAITING = 8  # frames of 20 ms; aiortc's jitter buffer gives up to 12 at once after a loss, of which the first are late


class Intake(MediaStreamTrack):
    """Reads `source` all the time, so that nothing piles up in it.

    Attributes:
        dropped: frames that were lost here. Their time stamps are missing then, which is what loss on the way looks like too.
        handed: when the last frame was given, by `perf_counter`.
    """

    kind = "audio"

    def __init__(self, source: MediaStreamTrack) -> None:
        super().__init__()
        self.dropped = 0
        self.handed = 0.0
        self._frames: deque[AudioFrame] = deque()
        self._there = asyncio.Event()
        self._ended = False
        self._reading = asyncio.ensure_future(self._read(source))

    async def _read(self, source: MediaStreamTrack) -> None:
        try:
            while True:
                frame = await source.recv()
                if isinstance(frame, AudioFrame):
                    self._frames.append(frame)
                if len(self._frames) > MOST_WAITING:
                    self._frames.popleft()
                    self.dropped += 1
                self._there.set()
        except MediaStreamError:
            pass
        finally:
            self._ended = True
            self._there.set()

    async def recv(self) -> AudioFrame:
        while not self._frames:
            if self._ended:
                raise MediaStreamError
            self._there.clear()
            await self._there.wait()
        self.handed = perf_counter()
        return self._frames.popleft()

    def stop(self) -> None:
        self._reading.cancel()
        super().stop()

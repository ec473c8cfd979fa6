"""A server in this process, callers made of aiortc, and microphones that say what a test wants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from fractions import Fraction
from typing import Any

import aiohttp
import numpy as np
import numpy.typing as npt
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from av import AudioFrame
from signals import voice
from velavox.bench import caller
from velavox.bench.chromium import until
from velavox.engine.progress import say
from velavox.engine.serve.load import Load
from velavox.engine.serve.server import Server

RATE = 48_000
SAMPLES = 960  # 20 ms


class Microphone(MediaStreamTrack):
    """Stereo frames of 20 ms as aiortc's decoder gives them, a mono sound at 48 kHz over and over, at the pace of `seconds`."""

    kind = "audio"

    def __init__(self, sound: npt.NDArray[np.float32], seconds: float = 0.02, frames: int | None = None) -> None:
        super().__init__()
        self._sound = np.rint(32767 * sound).astype(np.int16)
        self._seconds, self._left, self._at = seconds, frames, 0
        self._due: float | None = None

    async def recv(self) -> AudioFrame:
        if self._left == 0 or self.readyState != "live":
            raise MediaStreamError
        self._left = None if self._left is None else self._left - 1
        loop = asyncio.get_running_loop()
        self._due = loop.time() if self._due is None else self._due + self._seconds
        await asyncio.sleep(max(0.0, self._due - loop.time()))
        places = (self._at + np.arange(SAMPLES)) % self._sound.size
        frame = AudioFrame.from_ndarray(np.repeat(self._sound[places], 2)[np.newaxis], "s16", "stereo")
        frame.sample_rate, frame.pts, frame.time_base = RATE, self._at, Fraction(1, RATE)
        self._at += SAMPLES
        return frame


class Caller(caller.Caller):
    """One whose ears and control channel a test looks at."""

    def __init__(self, ears: int, sound: npt.NDArray[np.float32] | None = None) -> None:
        super().__init__(Microphone(voice(2.0, rate=RATE) if sound is None else sound), ears)
        self.told: list[Mapping[str, Any]] = []
        self.control.on("message", lambda text: self.told.append(json.loads(text)))

    async def hear(self, ear: int = 0, frames: int = 25) -> npt.NDArray[np.float32]:
        """The next frames at an ear, mono."""
        track = self.ears[ear].receiver.track
        found = []
        for _ in range(frames):
            frame = await asyncio.wait_for(track.recv(), 20)
            assert isinstance(frame, AudioFrame)
            found.append(frame.to_ndarray().reshape(-1, 2)[:, 0])
        return np.asarray(np.concatenate(found), np.float32) / np.float32(32768)

    async def state(self, **wanted: Any) -> Mapping[str, Any]:
        """The next state told in which all of `wanted` holds."""
        self.told.clear()

        async def found() -> Mapping[str, Any] | None:
            states = [t["state"] for t in self.told if "state" in t]
            return next((s for s in states if all(s[name] == value for name, value in wanted.items())), None)

        state: Mapping[str, Any] = await until(found, 20, f"state with {wanted}")
        return state

    async def error(self, message: str) -> str:
        """What a message is answered, if it is refused."""
        self.told.clear()
        self.control.send(message)

        async def found() -> str | None:
            return next((str(t["error"]) for t in self.told if "error" in t), None)

        return str(await until(found, 20, f"an error for {message}"))


def patient() -> Load:
    """A judge of load that lets every call in, whatever else this machine does."""
    return Load(most_share=float("inf"), most_late=float("inf"))


@asynccontextmanager
async def served(**arguments: Any) -> AsyncIterator[tuple[Server, aiohttp.ClientSession]]:
    """A server, and a client of it."""
    server = Server(**{"load": patient(), **arguments})
    await server.start()
    try:
        async with aiohttp.ClientSession(server.url) as http:
            yield server, http
    finally:
        await server.stop()


def main() -> None:
    """A server in a process of its own, until SIGTERM."""
    from velavox.engine import cli_serve

    asyncio.run(cli_serve.run(Server(load=patient(), say=say)))

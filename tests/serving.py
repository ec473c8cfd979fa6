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
from aiortc import RTCConfiguration, RTCDataChannel, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from av import AudioFrame
from chromium import until
from signals import voice
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


class Caller:
    """One that has called: what it hears, its control channel, and what that told."""

    def __init__(self, ears: int, sound: npt.NDArray[np.float32] | None = None) -> None:
        self.peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.peer.addTransceiver(Microphone(voice(2.0, rate=RATE) if sound is None else sound), "sendonly")
        self.ears = [self.peer.addTransceiver("audio", "recvonly") for _ in range(ears)]
        self.control: RTCDataChannel = self.peer.createDataChannel("control")
        self.told: list[Mapping[str, Any]] = []
        self.control.on("message", lambda text: self.told.append(json.loads(text)))
        self.id = ""

    async def offer(self) -> str:
        await self.peer.setLocalDescription(await self.peer.createOffer())
        return self.peer.localDescription.sdp

    async def call(self, http: aiohttp.ClientSession, **wanted: Any) -> tuple[int, dict[str, Any]]:
        """Status and answer. After 201 the media connect."""
        async with http.post("/calls", json={"sdp": await self.offer(), **wanted}) as response:
            status, told = response.status, await response.json()
        if status == 201:
            self.id = told["id"]
            await self.peer.setRemoteDescription(RTCSessionDescription(told["sdp"], "answer"))
        return status, told

    async def hear(self, ear: int = 0, frames: int = 25) -> npt.NDArray[np.float32]:
        """The next frames at an ear, mono."""
        track = self.ears[ear].receiver.track
        found = [(await asyncio.wait_for(track.recv(), 20)).to_ndarray().reshape(-1, 2)[:, 0] for _ in range(frames)]
        return np.concatenate(found).astype(np.float32) / 32768

    async def state(self, **wanted: Any) -> Mapping[str, Any]:
        """The next state told in which all of `wanted` holds."""
        self.told.clear()

        async def found() -> Mapping[str, Any] | None:
            states = [t["state"] for t in self.told if "state" in t]
            return next((s for s in states if all(s[name] == value for name, value in wanted.items())), None)

        return await until(found, 20, f"state with {wanted}")

    async def error(self, message: str) -> str:
        """What a message is answered, if it is refused."""
        self.told.clear()
        self.control.send(message)

        async def found() -> str | None:
            return next((str(t["error"]) for t in self.told if "error" in t), None)

        return await until(found, 20, f"an error for {message}")

    async def leave(self, http: aiohttp.ClientSession) -> None:
        if self.id:
            async with http.delete(f"/calls/{self.id}") as response:
                assert response.status == 204
        await self.peer.close()


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

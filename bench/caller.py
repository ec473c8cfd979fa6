"""A caller of `velavox serve` without a browser: a peer connection of aiortc, as the page makes one."""

from __future__ import annotations

from typing import Any

import aiohttp
from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCSessionDescription


class Caller:
    """Speaks with `microphone`, and hears at so many `ears`."""

    def __init__(self, microphone: MediaStreamTrack, ears: int) -> None:
        self.peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.peer.addTransceiver(microphone, "sendonly")
        self.ears = [self.peer.addTransceiver("audio", "recvonly") for _ in range(ears)]
        self.control = self.peer.createDataChannel("control")
        self.id = ""

    async def offer(self) -> str:
        await self.peer.setLocalDescription(await self.peer.createOffer())
        return str(self.peer.localDescription.sdp)

    async def call(self, http: aiohttp.ClientSession, **wanted: Any) -> tuple[int, dict[str, Any]]:
        """Status and answer of the server at the base address of `http`. After 201 the media connect."""
        async with http.post("/calls", json={"sdp": await self.offer(), **wanted}) as response:
            status, told = response.status, await response.json()
        if status == 201:
            self.id = told["id"]
            await self.peer.setRemoteDescription(RTCSessionDescription(told["sdp"], "answer"))
        return status, told

    async def leave(self, http: aiohttp.ClientSession) -> None:
        if self.id:
            async with http.delete(f"/calls/{self.id}"):
                pass
        await self.peer.close()

"""What one participant hears of another: a track of packets that are encoded already, and silence while nobody is there."""

from __future__ import annotations

import asyncio
from collections import deque
from time import perf_counter

from aiortc import MediaStreamTrack
from aiortc.mediastreams import MediaStreamError
from av import Packet
from av.stream import Stream

from .opus import RATE, SAMPLES, TIME_BASE, Sound

MOST_WAITING = 10  # packets of 20 ms


class Ear(MediaStreamTrack):
    """One of the places at which a call hears; `owner` says of whom, and nobody else's packets get in.

    Attributes:
        dropped: packets that the connection did not take in time.
    """

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self.dropped = 0
        self._owner: object | None = None
        self._packets: deque[Sound] = deque()
        self._there = asyncio.Event()
        self._shift: int | None = None  # from the owner's time stamps to this track's
        self._last, self._last_at = -SAMPLES, 0.0

    @property
    def owner(self) -> object | None:
        return self._owner

    @owner.setter
    def owner(self, owner: object | None) -> None:
        self._owner, self._shift = owner, None
        self._packets.clear()

    def hear(self, owner: object, sound: Sound) -> None:
        """A packet of `owner`; of anybody else it is forgotten."""
        if owner is not self._owner or self.readyState != "live":
            return
        self._packets.append(sound)
        if len(self._packets) > MOST_WAITING:
            self._packets.popleft()
            self.dropped += 1
        self._there.set()

    async def recv(self) -> Packet[Stream]:
        while not self._packets:
            self._there.clear()
            await self._there.wait()
            if self.readyState != "live":
                raise MediaStreamError
        payload, pts = self._packets.popleft()
        if self._shift is None:  # the time stamps go on where the last owner's ended, as much later as it is
            passed = round((perf_counter() - self._last_at) * RATE) if self._last_at else SAMPLES
            self._shift = self._last + max(passed, SAMPLES) - pts
        packet: Packet[Stream] = Packet(payload)
        packet.pts, packet.time_base = pts + self._shift, TIME_BASE
        self._last, self._last_at = packet.pts, perf_counter()
        return packet

    def stop(self) -> None:
        super().stop()
        self._packets.clear()
        self._there.set()

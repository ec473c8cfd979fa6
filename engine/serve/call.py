"""One call: a peer connection, one voice that is sent, some that are heard, and a channel to control it."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any

from aiortc import (
    RTCBundlePolicy,
    RTCConfiguration,
    RTCDataChannel,
    RTCPeerConnection,
    RTCRtpSender,
    RTCSessionDescription,
)
from aiortc.stats import RTCInboundRtpStreamStats

from ..failure import Unusable
from ..parameter import Value
from ..stage import Stage
from . import control
from .ear import Ear
from .limits import Refused
from .metrics import Metrics
from .opus import Sound
from .voice import Voice

GATHERING = 10.0  # s until the answer is there
CONNECTING = 20.0  # s from the answer until the media connect; who does not come by then gives the place back
TELL = 0.5  # s between two states for the page
MOST_UNSENT = 64 * 1024  # bytes that the page has not taken: then it is told nothing until it has
CLOSING = 5.0  # s


class Call:
    """Life: construct -> enter a room -> answer(offer) -> until the page leaves, or its connection is lost -> close().

    `ended` is called once, by close(). Nothing here knows of addresses; aiortc keeps them to itself.

    Attributes:
        id: a secret that only this call's page knows, which ends the call.
        number: for the log and for the others in the room; it says nothing but the order.
        answered: the page has got its answer.
        trouble: the kind of error that ended it, or "".
    """

    def __init__(
        self,
        number: int,
        ears: int,
        stage: Stage,
        settings: Mapping[str, Value],
        metrics: Metrics,
        ended: Callable[[Call], None],
    ) -> None:
        self.id = secrets.token_urlsafe(16)
        self.number = number
        self.answered = False
        self.trouble = ""
        self.began = monotonic()
        self.ears = [Ear() for _ in range(ears)]
        self._audience: list[Ear] = []
        self.voice = Voice(stage, settings, self._speak, metrics)
        self._ended = ended
        # No servers: aiortc would ask a public one for this machine's address.
        self._peer = RTCPeerConnection(RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE))
        self._asks: asyncio.Queue[object] = asyncio.Queue(control.MOST_WAITING)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def connected(self) -> bool:
        return self._peer.connectionState == "connected"

    def listen(self, other: Call) -> None:
        """Hear `other`, as long as there is an ear free."""
        free = next((ear for ear in self.ears if ear.owner is None), None)
        if free is not None:
            free.owner = other
            other._audience.append(free)

    def forget(self, other: Call) -> None:
        """Hear `other` no more."""
        for ear in self.ears:
            if ear.owner is other:
                ear.owner = None
                other._audience.remove(ear)

    def _speak(self, sound: Sound) -> None:
        for ear in self._audience:
            ear.hear(self, sound)

    async def answer(self, offer: str) -> str:
        """The SDP answer to an offer that `offer.ears` has let through; Refused if nothing comes of it."""
        self._peer.on("connectionstatechange", self._state_changed)
        self._peer.on("datachannel", self._opened)
        opus = [codec for codec in RTCRtpSender.getCapabilities("audio").codecs if codec.mimeType == "audio/opus"]
        microphone = self._peer.addTransceiver("audio", "recvonly")
        for medium in (microphone, *(self._peer.addTransceiver(ear, "sendonly") for ear in self.ears)):
            medium.setCodecPreferences(opus)
        try:
            async with asyncio.timeout(GATHERING):
                await self._peer.setRemoteDescription(RTCSessionDescription(offer, "offer"))
                await self._peer.setLocalDescription(await self._peer.createAnswer())
        except TimeoutError:
            raise Refused(504, "gathering", "this machine's network addresses could not be found out in time") from None
        except Exception:  # of aiortc, whose parsers raise whatever comes to them
            raise Refused(400, "sdp", "sdp: this offer cannot be answered") from None
        self._start(self.voice.run(microphone.receiver.track))
        self._start(self._wait_for_media())
        self.answered = True
        return self._peer.localDescription.sdp

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.trouble = type(error).__name__
            self._end()

    async def _wait_for_media(self) -> None:
        await asyncio.sleep(CONNECTING)
        if not self.connected:
            self._end()

    def _state_changed(self) -> None:
        if self._peer.connectionState in ("failed", "closed"):
            self._end()

    def _end(self) -> None:
        """Close, beside what goes on; the voice at once."""
        self.voice.close()
        self._ending = asyncio.ensure_future(self.close())

    def _opened(self, channel: RTCDataChannel) -> None:
        if channel.label != "control" or self._closed:
            channel.close()
            return
        channel.on("message", self._asked)
        self._start(self._obey(channel))
        self._start(self._tell(channel))

    def _asked(self, message: object) -> None:
        with suppress(asyncio.QueueFull):  # a page that asks faster than this is none of ours
            self._asks.put_nowait(message)

    async def _obey(self, channel: RTCDataChannel) -> None:
        while True:
            message = await self._asks.get()
            try:
                await control.parsed(message)(self.voice)
            except (ValueError, TypeError, Unusable) as error:
                self._send(channel, {"error": str(error)})

    async def _tell(self, channel: RTCDataChannel) -> None:
        while channel.readyState == "open":
            if channel.bufferedAmount < MOST_UNSENT:
                self._send(channel, {"state": self.voice.state() | await self._heard()})
            await asyncio.sleep(TELL)

    async def _heard(self) -> dict[str, Any]:
        """Who is heard at which ear, and what was lost on the way here."""
        owners = [ear.owner for ear in self.ears]
        people = [{"voice": o.number, "muted": o.voice.muted} if isinstance(o, Call) else None for o in owners]
        found: dict[str, Any] = {"number": self.number, "ears": people, "lost_packets": 0, "received_packets": 0}
        for stats in (await self._peer.getStats()).values():
            if isinstance(stats, RTCInboundRtpStreamStats):
                found |= {"lost_packets": stats.packetsLost, "received_packets": stats.packetsReceived}
        return found

    @staticmethod
    def _send(channel: RTCDataChannel, message: Mapping[str, Any]) -> None:
        if channel.readyState == "open":
            channel.send(json.dumps(message))

    async def close(self) -> None:
        """End it, whatever state it is in; at once for those who hear, and for good."""
        if self._closed:
            return
        self._closed = True
        self.voice.close()
        self._ended(self)
        for task in self._tasks:
            task.cancel()
        for ear in self.ears:
            ear.stop()
        with suppress(TimeoutError, Exception):
            async with asyncio.timeout(CLOSING):
                await self._peer.close()

"""One participant's voice: microphone -> engine -> Opus -> whoever hears it. Nothing else leads from a microphone to an ear."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from aiortc import MediaStreamTrack
from aiortc.mediastreams import MediaStreamError
from av import AudioFrame

from ..adapters.webrtc import VelavoxTrack
from ..parameter import Value
from ..stage import Stage
from . import choices
from .intake import Intake
from .metrics import Metrics
from .opus import RATE, Encoder, Sound

CHANNELS = 2  # as which aiortc decodes every Opus stream; microphones are mono, so one engine for the mix does
KEPT = 250  # frames whose times are shown: 5 s


class Voice:
    """What becomes of the microphone `source` once `run` runs. Everything else may be called meanwhile.

    Args:
        send: gets each packet, for all who hear it.
    """

    def __init__(self, stage: Stage, settings: Mapping[str, Value], send: Callable[[Sound], None], metrics: Metrics) -> None:
        self._muted = False
        self._send, self._metrics = send, metrics
        self._stage = stage
        self._settings = dict(settings)
        self._intake: Intake | None = None
        self._track: VelavoxTrack | None = None
        self._encoder = Encoder()
        self._times: deque[float] = deque(maxlen=KEPT)
        self._changing = asyncio.Lock()
        self._muted_before = 0  # hops, in engines that were in use before
        self._closed = False

    @property
    def method(self) -> str:
        return self._stage.method

    @property
    def muted(self) -> bool:
        """Silence goes out, whatever comes in; what is said meanwhile comes out at no time."""
        return self._muted

    @muted.setter
    def muted(self, muted: bool) -> None:
        self._muted = muted
        if self._track is not None:
            self._track.enabled = not muted

    @property
    def dropped(self) -> int:
        """Frames that came in too late."""
        return self._intake.dropped if self._intake else 0

    @property
    def muted_hops(self) -> int:
        """Hops that became silence because something failed."""
        return self._muted_before + (_failed(self._track) if self._track else 0)

    async def run(self, source: MediaStreamTrack) -> None:
        """Until the microphone ends. Whatever fails on the way, that frame is silence."""
        self._intake = Intake(source)
        try:
            async with self._changing:
                self._track = await self._over(self._stage, self._intake)
            while not self._closed:
                track = self._track
                try:
                    await self._frame(track, self._intake)
                except MediaStreamError:
                    if track is self._track:  # else it was replaced while it waited
                        break
        finally:
            self.close()

    async def _frame(self, track: VelavoxTrack, intake: Intake) -> None:
        frame = await track.recv()
        spent = perf_counter() - intake.handed
        self._times.append(spent)
        self._metrics.frame(spent)
        try:
            for sound in self._encoder.encode(_mono(frame), frame.pts or 0):
                self._send(sound)
        except Exception:
            self._metrics.failed += 1
            self._encoder = Encoder()

    async def change(self, method: str, settings: Mapping[str, Value]) -> None:
        """Another method, or the same with other settings; ValueError in one line, and then nothing changes.

        A new stage is made ready beside the running one, which speaks until then. Parameters of the running one that glide are
        set in it instead.
        """
        async with self._changing:
            fixed = choices.FIXED.get(method, set())
            kept = self._settings if method == self.method else {}
            wanted = {**kept, **settings}
            if method == self.method and self._track is not None and all(wanted.get(n) == kept.get(n) for n in fixed):
                await asyncio.to_thread(self._track.set, **settings)
            else:
                await self._replace(await asyncio.to_thread(choices.stage, method, wanted))
            self._settings = wanted

    async def _replace(self, stage: Stage) -> None:
        old, intake = self._track, self._intake
        if old is not None and intake is not None:
            self._track = await self._over(stage, intake)
            self._muted_before += _failed(old)
            old.stop()
        self._stage = stage

    async def new_voice(self) -> None:
        """Draw another voice."""
        async with self._changing:
            if self._track is not None:
                await asyncio.to_thread(self._track.new_voice)

    def state(self) -> dict[str, Any]:
        """For the page, plain numbers with units in the key."""
        times = sorted(self._times)
        values = self._stage.values
        return {
            "method": self.method,
            "settings": {name: values[name] for name in choices.parameters(self.method)},
            "muted": self.muted,
            "engine_ms": 1000 * self._track.latency if self._track else None,
            "frame_p50_ms": 1000 * times[len(times) // 2] if times else None,
            "frame_max_ms": 1000 * times[-1] if times else None,
            "muted_hops": self.muted_hops,
            "dropped_frames": self.dropped,
        }

    def close(self) -> None:
        """Silence for good."""
        self._closed = True
        if self._track is not None:
            self._track.stop()
        if self._intake is not None:
            self._intake.stop()

    async def _over(self, stage: Stage, source: MediaStreamTrack) -> VelavoxTrack:
        track = await asyncio.to_thread(VelavoxTrack, stage, source, sample_rate=RATE, channels=CHANNELS, policy="mix")
        track.enabled = not self._muted
        if self._closed:
            track.stop()
        return track


def _failed(track: VelavoxTrack) -> int:
    """Hops that became silence because something failed."""
    outside = sum(samples for cause, samples in track.silenced.items() if cause != "disabled")
    return track.stats.muted + outside * 100 // RATE


def _mono(frame: AudioFrame) -> npt.NDArray[np.int16]:
    """Channel 0 of what comes out of the engine, which is the same in all; a copy, shape (samples,)."""
    if frame.format.name != "s16" or frame.sample_rate != RATE:
        raise ValueError(f"a frame of {frame.format.name} at {frame.sample_rate} Hz: aiortc's Opus gives s16 at 48000")
    return np.array(frame.to_ndarray().reshape(-1, len(frame.layout.channels))[:, 0], np.int16)

"""An aiortc audio track whose sound is anonymized: wrap what a peer sends, and send or record the wrapper.

peer.addTrack(VelavoxTrack(McAdams(), remote, channels=2))
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from aiortc import MediaStreamTrack
from aiortc.mediastreams import MediaStreamError
from av import AudioFrame

from ..host import Policy
from ..stage import Stage
from .controls import Controls
from .frames import PCM

MOST_FILLED = 1.0  # s of lost sound that are filled with silence; after a longer gap the timestamps jump as the source's do


class VelavoxTrack(Controls, MediaStreamTrack):
    """Gives the frames of `track` with the voice changed: samples, rate, layout, format, pts and time base are the source's.

    Fails closed: whatever goes wrong, frames are silent; what is no audio frame ends the track. Frames that were lost on the
    way, which shows as a gap of the timestamps, are filled with silence, so that what plays or records keeps its length. Frames
    of another rate or layout wait for an engine, or are silent if that takes longer than 0.1 s. A track ends with its source;
    for another source make another track, with the same stages if the voice is to stay.

    Args:
        stages: a `Stage`, or several that follow one another; made ready here, which may be slow.
        track: any audio track of aiortc. It is not stopped when this one is.
        sample_rate, channels: what it is expected to give. aiortc decodes Opus to 48000 Hz in stereo.
        policy: see `Frames`: one voice for all channels, "each" its own, or "mix" for half of the work.
        worker: process in a thread beside the event loop; None: if a stage is heavy, as DpVoice is.

    Raises:
        ValueError, TypeError: no audio track, or as `Engine`.
    """

    kind = "audio"

    def __init__(
        self,
        stages: Stage | Sequence[Stage],
        track: MediaStreamTrack,
        *,
        sample_rate: int = 48_000,
        channels: int = 1,
        policy: Policy = "one",
        worker: bool | None = None,
    ) -> None:
        if not isinstance(track, MediaStreamTrack) or track.kind != "audio":
            raise TypeError("track: give an audio track of aiortc")
        super().__init__()
        self._track = track
        self._control(stages, sample_rate, channels, policy, worker)
        self._behind: deque[AudioFrame] = deque()  # of the source: one, behind a gap that is being filled
        self._gap = 0  # samples still to be filled
        self._next: Fraction | None = None  # s, when the next frame should begin

    def close(self) -> None:
        """Silent frames from now on; the stages may serve another track, and a thread is let go. The source goes on."""
        self._frames.release()
        self._runner.close()

    def stop(self) -> None:
        """End this track, closed; the source goes on."""
        self.close()  # first, so that who is told of the end finds the stages free
        super().stop()

    async def recv(self) -> AudioFrame:
        """The next frame; MediaStreamError when the track has ended."""
        if self.readyState != "live":
            raise MediaStreamError
        if not self._behind:
            await self._fetch()
        if self._gap > 0:
            return await self._filler(self._behind[0])
        return await self._anonymized(self._behind.popleft())

    async def _fetch(self) -> None:
        """Wait for the source's next frame, and see what was lost before it."""
        try:
            frame = await self._track.recv()
        except MediaStreamError:
            self.stop()
            raise
        if not isinstance(frame, AudioFrame):  # an encoded packet cannot be changed, and must not be passed on
            self.stop()
            raise MediaStreamError
        begins = _begins(frame)
        if begins is not None and self._next is not None:
            missing = round((begins - self._next) * frame.sample_rate)
            if missing > frame.samples // 2:  # not the rounding of a coarse time base
                self._gap = min(missing, round(MOST_FILLED * frame.sample_rate))
        self._behind.append(frame)

    async def _filler(self, frame: AudioFrame) -> AudioFrame:
        """As long as the frame behind the gap, at the most; in the gap's place."""
        assert self._next is not None
        assert frame.time_base is not None
        samples = min(self._gap, frame.samples)
        pts = round(self._next * frame.time_base.denominator / frame.time_base.numerator)
        self._gap -= samples
        self._next += Fraction(samples, frame.sample_rate)
        form = (samples, frame.layout.nb_channels)
        filler = _like(frame, await self._runner.lost(form, _dtype(frame), frame.sample_rate))
        filler.pts = pts
        return filler

    async def _anonymized(self, frame: AudioFrame) -> AudioFrame:
        begins = _begins(frame)
        self._next = None if begins is None else begins + Fraction(frame.samples, frame.sample_rate)
        try:
            x = _samples(frame)
        except Exception:  # no array can hold such samples
            y = self._frames.mute("error", (frame.samples, frame.layout.nb_channels), _dtype(frame))
        else:
            y = await self._runner.process(x, frame.sample_rate)
        found = _like(frame, y)
        found.pts, found.dts = frame.pts, frame.dts
        return found


def _begins(frame: AudioFrame) -> Fraction | None:
    """s, by the source's clock."""
    base = frame.time_base
    return None if frame.pts is None or base is None else Fraction(frame.pts * base.numerator, base.denominator)


def _dtype(frame: AudioFrame) -> np.dtype[Any]:
    """Of the frame's samples; bytes for those that numpy has no kind for."""
    return np.dtype(_DTYPES.get(frame.format.name.removesuffix("p"), np.int8))


_DTYPES: dict[str, type[np.generic]] = {
    "u8": np.uint8,
    "s16": np.int16,
    "s32": np.int32,
    "flt": np.float32,
    "dbl": np.float64,
}


def _samples(frame: AudioFrame) -> PCM:
    """Shape (samples, channels)."""
    x = frame.to_ndarray()
    return x.T if frame.format.is_planar else x.reshape(frame.samples, frame.layout.nb_channels)


def _like(frame: AudioFrame, y: PCM) -> AudioFrame:
    """y, shape (samples, channels), as a frame of the form of `frame`, whose timestamps it lacks."""
    found = AudioFrame(format=frame.format.name, layout=frame.layout.name, samples=len(y))
    found.sample_rate, found.time_base = frame.sample_rate, frame.time_base
    for plane, samples in zip(found.planes, y.T if frame.format.is_planar else [y.reshape(-1)], strict=True):
        memory = np.frombuffer(memoryview(plane), y.dtype)  # longer than the samples, and as whatever used it before left it
        memory[: len(samples)] = samples
        memory[len(samples) :] = 128 if y.dtype.kind == "u" else 0
    return found

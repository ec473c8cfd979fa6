"""Pipecat: a filter for a transport's input, or a processor anywhere behind it.

TransportParams(audio_in_enabled=True, audio_in_filter=VelavoxFilter(McAdams()))
Pipeline([transport.input(), VelavoxProcessor(McAdams()), ...])
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from pipecat.audio.filters.base_audio_filter import BaseAudioFilter
from pipecat.frames.frames import (
    AudioRawFrame,
    CancelFrame,
    EndFrame,
    FilterControlFrame,
    FilterEnableFrame,
    FilterUpdateSettingsFrame,
    Frame,
    InputAudioRawFrame,
    OutputAudioRawFrame,
    StartFrame,
    UserAudioRawFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from ..host import Policy
from ..stage import Stage
from .controls import Controls

_SAMPLE = np.dtype("<i2")


class _Pcm(Controls):
    """What both are: 16-bit PCM in bytes, from a start to an end."""

    async def _anonymized(self, audio: bytes, sample_rate: int, channels: int) -> bytes:
        """As many bytes; what is no whole sample of every channel at their end is silent."""
        frames, rest = divmod(len(audio), _SAMPLE.itemsize * channels)
        x = np.frombuffer(audio, _SAMPLE, frames * channels).reshape(frames, channels)
        return (await self._runner.process(x, sample_rate)).tobytes() + bytes(rest)


class VelavoxFilter(_Pcm, BaseAudioFilter):
    """Anonymizes what a transport hears, before voice activity detection and everything else sees it.

    Give it as `audio_in_filter`. Silent before `start`, after `stop` and while disabled by a `FilterEnableFrame`, in which
    states Pipecat's own filters let the voice through. A `FilterUpdateSettingsFrame` sets parameters of the stages. A
    transport hands the sound of all its participants to one filter: where there are several, use a `VelavoxProcessor` for each.

    Args:
        stages: a `Stage`, or several that follow one another; made ready here, which may be slow.
        sample_rate: expected; `start` is told the true one, and prepares for that.
        channels: of the transport (`audio_in_channels`); a filter is not told how many there are.
        policy: see `Frames`: one voice for all channels, "each" its own, or "mix" for half of the work.
        worker: process in a thread beside the event loop; None: if a stage is heavy, as DpVoice is.

    Raises:
        ValueError, TypeError: as `Engine`.
    """

    def __init__(
        self,
        stages: Stage | Sequence[Stage],
        *,
        sample_rate: int = 48_000,
        channels: int = 1,
        policy: Policy = "one",
        worker: bool | None = None,
    ) -> None:
        self._control(stages, sample_rate, channels, policy, worker)
        self._frames.close()
        self._channels, self._rate = channels, sample_rate

    async def start(self, sample_rate: int) -> None:
        """The transport begins; again after `stop`, too. ValueError for a rate that no engine has."""
        self._frames.close()
        self._rate = sample_rate
        await asyncio.to_thread(self._frames.prepare, sample_rate, self._channels)

    async def stop(self) -> None:
        self._frames.close()

    async def process_frame(self, frame: FilterControlFrame) -> None:
        """TypeError, ValueError for settings that are none; the voice stays as it was."""
        if isinstance(frame, FilterEnableFrame):
            self.enabled = frame.enable
        elif isinstance(frame, FilterUpdateSettingsFrame):
            self.set(**frame.settings)

    async def filter(self, audio: bytes) -> bytes:
        """As many bytes as came."""
        return await self._anonymized(audio, self._rate, self._channels)


class VelavoxProcessor(_Pcm, FrameProcessor):
    """Anonymizes input audio frames: id, pts, rate, channels, source and length stay; all other frames go on as they are.

    Frames that a user is named in belong to that user alone: the first one's are anonymized, those of others are silent, as one
    voice is one person's. Output audio, which is the bot's, goes on; other audio of unknown kind is silent. Silent before
    a `StartFrame` and after an `EndFrame` or `CancelFrame`.

    Args:
        stages: a `Stage`, or several that follow one another; made ready here, which may be slow.
        sample_rate, channels: expected; frames say what they have, and others wait for an engine, or are silent if that takes
            longer than 0.1 s.
        policy: see `Frames`: one voice for all channels, "each" its own, or "mix" for half of the work.
        worker: process in a thread beside the event loop; None: if a stage is heavy, as DpVoice is.
        others: for `FrameProcessor`, as `name`.

    Raises:
        ValueError, TypeError: as `Engine`.
    """

    def __init__(
        self,
        stages: Stage | Sequence[Stage],
        *,
        sample_rate: int = 48_000,
        channels: int = 1,
        policy: Policy = "one",
        worker: bool | None = None,
        **others: Any,
    ) -> None:
        super().__init__(**others)
        self._control(stages, sample_rate, channels, policy, worker)
        self._frames.close()
        self._user: str | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, StartFrame):
            self._user = None
            self._frames.open()
        elif isinstance(frame, EndFrame | CancelFrame):
            self._frames.close()
        elif isinstance(frame, AudioRawFrame) and not isinstance(frame, OutputAudioRawFrame):
            frame = await self._changed(frame)
        await self.push_frame(frame, direction)

    async def _changed(self, frame: Any) -> Any:
        """The frame with other sound in it; a copy, since other branches of the pipeline may hold the same one."""
        changed = copy(frame)
        changed.audio = bytes(len(frame.audio))
        if isinstance(frame, InputAudioRawFrame) and self._is_theirs(frame):
            changed.audio = await self._anonymized(frame.audio, frame.sample_rate, frame.num_channels)
        return changed

    def _is_theirs(self, frame: InputAudioRawFrame) -> bool:
        """Whose voice this is."""
        if not isinstance(frame, UserAudioRawFrame):
            return True
        if self._user is None:
            self._user = frame.user_id
        return frame.user_id == self._user

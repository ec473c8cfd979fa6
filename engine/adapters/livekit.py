"""A LiveKit frame processor: what a participant says reaches the agent anonymized.

stream = rtc.AudioStream(track, noise_cancellation=VelavoxFrameProcessor(McAdams()))
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from livekit import rtc

from ..host import Policy
from ..stage import Stage
from .controls import Controls


class VelavoxFrameProcessor(Controls, rtc.FrameProcessor[rtc.AudioFrame]):
    """Gives each frame of one `AudioStream` with the voice changed: rate, channels, samples and userdata are the frame's own.

    LiveKit passes the original frame on if a processor raises, or if it says that it is not enabled. This one never raises for
    a frame, and always says that it is enabled: setting `enabled` to False mutes, and `muted` tells. It is silent after
    `_close`, too, which an `AudioStream` calls when it ends (unless `auto_close_noise_cancellation` is False), until it is
    given to a stream of a track in a room, of which LiveKit tells it, or `open` is called.

    Each participant needs a processor of their own: give agents a function as `noise_cancellation` that makes one.

    Args:
        stages: a `Stage`, or several that follow one another; made ready here, which may be slow.
        sample_rate, channels: those of the `AudioStream`. Frames of others are silent until an engine for them is ready.
        policy: see `Frames`: one voice for all channels, "each" its own, or "mix" for half of the work.
        worker: process in a thread beside the event loop; None: if a stage is heavy, as DpVoice is. The output then comes 20 ms
            later, as LiveKit waits for none, and what is not done in time is silent.

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

    @property
    def enabled(self) -> bool:
        """Always True: LiveKit would pass the voice itself otherwise."""
        return True

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._frames.enabled = value

    @property
    def latency(self) -> float:
        """s by which the voice comes out later than it went in."""
        return super().latency + self._runner.delay

    def open(self) -> None:
        """Begin a new stream with the same voice; what came before is forgotten."""
        self._runner.forget()
        self._frames.open()

    def _on_stream_info_updated(self, *, room_name: str, participant_identity: str, publication_sid: str) -> None:
        """LiveKit says: a stream of a track in a room has begun, or its track has joined one."""
        if self._frames.closed:
            self.open()

    def _process(self, frame: rtc.AudioFrame) -> rtc.AudioFrame:
        channels, samples = frame.num_channels, frame.samples_per_channel
        try:
            x = np.frombuffer(frame.data, np.int16, channels * samples).reshape(samples, channels)
            data = self._runner.exchange(x, frame.sample_rate).tobytes()
        except Exception:  # LiveKit would pass the voice itself on
            data = bytes(2 * channels * samples)
        return rtc.AudioFrame(data, frame.sample_rate, channels, samples, userdata=frame.userdata)

    def _close(self) -> None:
        self._frames.close()

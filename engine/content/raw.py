"""The raw voice as detectors read it: one channel at 16 kHz, samples numbered from 0 on, the newest few seconds of them."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from ...kernels import guard, mix, polyphase, ring
from ...kernels.jit import F32
from ..samples import full_scale, read_into
from ..stage import RATE

PIECE = 2048  # frames pushed at a time, at the most
_streams = count()
_SLACK = 4 * RATE  # samples that may come in while a reader copies


class Raw:
    """One thread writes, any number read. It is no audio that leaves: nothing but detectors may see it.

    Channels are mixed as `Engine` mixes them, so that nobody is lost. The filter's delay is taken off: sample n is what was
    said n / 16000 s after the start.

    Attributes:
        end: samples that can be read lie before this one.
        last: no more will come.
        generation: which stream it is, of all that there have been; `restart` begins another one.
    """

    def __init__(self, rate: int, channels: int, keep: int) -> None:
        """keep: samples that must be readable."""
        self._rate = rate
        self._up, self._down = polyphase.ratio(rate, RATE)
        self._early = 0 if rate == RATE else round(polyphase.centre(rate, RATE) / self._down)  # samples before number 0
        self._x = np.zeros((channels, PIECE), np.float32)
        self._buffer = ring.memory(keep + _SLACK)
        self._bank = polyphase.bank(rate, RATE)
        self._counts = guard.fresh()
        self._not_finite, self._beyond = self._counts["not_finite"], self._counts["scale"]  # views: read in 0.03 us
        self.restart()

    def _begin(self) -> None:
        self.end, self.last = 0, False
        self._frames = 0
        self._sane = self._not_finite[0] + self._beyond[0]
        self._ring = ring.fresh()
        self._written = self._ring["write"]
        self._filter = polyphase.fresh(self._rate, RATE)
        self._past = polyphase.history(self._rate, RATE, PIECE)
        self._mix, self._mix_work = mix.fresh(self._rate), mix.channels(len(self._x))

    def restart(self) -> None:
        """The next stream; what was read of this one is void."""
        self._begin()
        self.generation = next(_streams)  # last: who reads the new number finds nothing of the old stream

    def push(self, columns: npt.NDArray[Any]) -> tuple[int, int] | None:
        """Take the next frames, shape (frames, channels), at most PIECE, of a kind that an engine takes.

        Returns the first and the last frame (plus 1), counted from the start, that were no sound: not finite, or of an
        impossible scale; None if all are. They are 0 for the detectors.
        """
        frames, first = len(columns), self._frames
        x = self._x[:, :frames]
        read_into(x, columns.T)
        guard.sanitise(self._counts, self._x, frames, full_scale(columns.dtype))
        mended = self._not_finite[0] + self._beyond[0]
        bad = None
        if mended != self._sane:
            read_into(x, columns.T)
            where = np.flatnonzero(~(np.abs(x) <= guard.SCALE_LIMIT).all(axis=0))
            bad = (first + int(where[0]), first + int(where[-1]) + 1)
            guard.sanitise(self._counts, self._x, frames, 1.0)
            self._sane = self._not_finite[0] + self._beyond[0]
        if len(self._x) > 1:
            mix.mix(self._mix, *self._mix_work, self._x, frames)
        self._take(frames)
        self._frames += frames
        self.end = max(0, int(self._written[0]) - self._early)  # after the samples are there
        return bad

    def finish(self) -> None:
        """No more comes: what the filter holds back becomes readable."""
        total = -(-self._frames * RATE // self._rate)
        self._x[0] = 0.0
        while int(self._written[0]) - self._early < total:
            self._take(PIECE // 16)
        self.end = total
        self.last = True

    def frames_for(self, samples: int) -> int:
        """Frames that have to be pushed before `end` is `samples`, 1 or more."""
        return (samples + self._early - 1) * self._down // self._up + 1

    def read(self, start: int, end: int) -> F32:
        """A copy of samples start .. end; RuntimeError if some are not there any more."""
        at, size = start + self._early, end - start
        mask = self._buffer.size - 1
        out = np.empty(size, np.float32)
        run = min(size, self._buffer.size - (at & mask))
        out[:run] = self._buffer[at & mask : (at & mask) + run]
        out[run:] = self._buffer[: size - run]
        if int(self._written[0]) - at > self._buffer.size - PIECE:
            raise RuntimeError("the raw voice was overwritten while a detector read it")
        return out

    def _take(self, frames: int) -> None:
        if self._rate == RATE:
            ring.push_row(self._ring, self._buffer, self._x, 0, 0, frames)
        else:
            polyphase.stream_row(self._filter, self._bank, self._past, self._ring, self._buffer, self._x, 0, 0, frames)

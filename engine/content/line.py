"""The line: the anonymized voice waits, and leaves hidden where it has to be."""

from __future__ import annotations

from math import sqrt
from typing import Literal

import numpy as np

from ...kernels import delayline, redact
from ...kernels.jit import F32
from .filler import babble
from .spans import Spans

Action = Literal["silence", "bleep", "tone", "babble", "substitute"]
ACTIONS: dict[Action, int] = {
    "silence": redact.SILENT,
    "bleep": redact.BLEEPING,
    "tone": redact.TONE,
    "babble": redact.TABLE,
    "substitute": redact.BLEEPING,  # where there is no substitute
}


class Line:
    """A delay of `delay` frames after an engine of `latency` frames, and what hides sound at its end. Allocates nothing.

    Attributes:
        left: number of the raw frame that leaves next; below 0 it is silence from before the start.
    """

    def __init__(self, rate: int, channels: int, delay: int, latency: int, action: Action) -> None:
        self._channels, self._latency, self._wait = channels, latency + delay, delayline.fresh()
        self._memory = delayline.memory(delay * channels)
        self._table = babble(rate) if action == "babble" else np.zeros(1, np.float32)
        self._fresh = redact.fresh(rate, ACTIONS[action], follows=action == "substitute")
        self._mask = self._fresh.copy()
        self._hidden, self._unjudged = self._mask["hidden"], self._mask["unjudged"]  # views: read in 0.03 us
        self._level = self._mask["level"]
        self.left = -self._latency

    def restart(self) -> None:
        """As fresh; the counters too."""
        self._wait[0].place = 0
        self._memory.fill(0)
        np.copyto(self._mask, self._fresh)
        self.left = -self._latency

    def run(self, y: F32, judged: int, spans: Spans) -> None:
        """Exchange y, shape (frames * channels,), interleaved, for what leaves. `judged` must have been read before."""
        first, frames = self.left, y.size // self._channels
        shown = spans.shown
        delayline.stream(self._wait, self._memory, y)
        redact.stream(self._mask, y, self._channels, first, judged, shown.spans, shown.clips, shown.pool, self._table)
        self.left = first + frames
        if judged < self.left and self.left > 0:
            spans.dim(max(judged, first, 0), self.left)

    def level(self) -> float:
        """Root mean square of the voice now."""
        return sqrt(self._level[0])

    @property
    def hidden(self) -> int:
        """Frames of stretches that have left."""
        return int(self._hidden[0])

    @property
    def unjudged(self) -> int:
        """Frames that left in silence since they had not been passed."""
        return int(self._unjudged[0])

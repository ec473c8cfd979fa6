"""What the detectors of one line have found together: to be hidden, noted, told."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...kernels import polyphase
from ...kernels.jit import F32
from ...kernels.redact import FADE
from ..stage import RATE
from .detector import Look
from .events import Event, Log
from .hit import KINDS, Hit
from .raw import Raw
from .spans import KEEP, Spans

if TYPE_CHECKING:
    from ..host import Engine

_EDGE = 0.005  # s: fade of a clip's ends
_FOLLOWED = 4.0  # a clip is brought to the voice's level by at most this factor


class Clips(Protocol):
    """Sounds that stand for entries of a word list."""

    def clip(self, term: str, samples: int) -> F32 | None:
        """A sound for the entry of this salted id, shape (n,) at 16 kHz, n <= samples; None if there is none, or none fits."""

    def take_voice(self, engine: Engine) -> None:
        """Sound as what `engine` makes, from now on."""


class Findings:
    """Takes looks in from the detectors' threads, one at a time; holds no sound but the clips that are due.

    Attributes:
        left: frames before this one have left the line.
        log: under `lock`.
    """

    def __init__(
        self,
        rate: int,
        raw: Raw,
        log: Log,
        level: Callable[[], float],
        clips: Clips | None,
        on_event: Callable[[Event], object] | None,
    ) -> None:
        """level: the root mean square of the voice now, which clips follow; 0 where it is not known."""
        self.rate, self.raw, self.log, self.spans = rate, raw, log, Spans(rate)
        self.lock = Lock()
        self.left = 0
        self.missed = 0.0  # s that a detector came too late to look at
        self.callbacks_failed = 0
        self._level, self._clips, self._on_event = level, clips, on_event

    def take(self, generation: int, hits: Iterable[Hit], missed: tuple[int, int] | None, end: int) -> list[Event]:
        """Hide it; the new events. `missed`: samples that were gone before a detector looked. Nothing for an older stream."""
        events = []
        with self.lock:
            if generation != self.raw.generation:
                return []
            if missed is not None:
                self.missed += (missed[1] - missed[0]) / RATE
                self.spans.hide(*self.spans.frames(*missed), self.left)
            for hit in hits:
                first, last = self.spans.frames(hit.start, hit.end)
                heard = self.spans.heard(first, last, self.left) / self.rate
                hole = self.spans.hide(first, last, self.left)
                self._play(hit.term, *hole)
                event = self.log.add(hit, heard, end, self.left * RATE // self.rate - int(KEEP * RATE))
                if event is not None:
                    events.append(event)
        return events

    def hide(self, start: int, end: int) -> None:
        """Hide frames start .. end, which were no sound."""
        with self.lock:
            self.spans.hide(start, end, self.left)

    def tell(self, events: Iterable[Event]) -> None:
        """Call back, outside the lock. Whatever that raises changes nothing."""
        if self._on_event is None:
            return
        for event in events:
            try:
                self._on_event(event)
            except Exception:
                self.callbacks_failed += 1

    def restart(self, seconds: float) -> None:
        """The next stream, after one of so many s of sound; the log goes on."""
        with self.lock:
            self.missed, self.callbacks_failed = 0.0, 0
            self.raw.restart()
            self.spans.restart()
            self.log.restart(seconds)

    def _play(self, term: str, start: int, end: int) -> None:
        if self._clips is not None and term:
            self.spans.play(start, end, term, lambda frames: self._sound(term, frames), self.left)

    def _sound(self, term: str, frames: int) -> F32 | None:
        """The clip for a term, as it is played in so many frames."""
        assert self._clips is not None
        samples = frames * RATE // self.rate - 2 * round(FADE * RATE)  # while the voice is gone
        try:
            sound = self._clips.clip(term, samples)
        except Exception:  # the action stands in: nothing of the voice depends on it
            return None
        if sound is None or not 0 < len(sound) <= samples or not np.isfinite(sound).all():
            return None
        return _levelled(_resampled(sound, self.rate), self.rate, self._level())


def checked(look: Look, start: int, end: int) -> tuple[list[Hit], int]:
    """Hits and `passed` of a look at samples start .. end. ValueError or TypeError for what makes no sense: none is dropped."""
    passed = min(index(look.passed), end)
    hits = []
    for hit in look.hits:
        first, last = index(hit.start), index(hit.end)
        if not first < last or first >= end or first < 0 or hit.kind not in KINDS:
            raise ValueError("a hit that is no stretch of what was looked at")
        hits.append(Hit(first, min(last, end), hit.kind, str(hit.term), str(hit.detector)))
    return hits, passed


def _resampled(sound: F32, rate: int) -> F32:
    sound = np.ascontiguousarray(sound, np.float32)
    return sound if rate == RATE else polyphase.offline(sound, RATE, rate)


def _levelled(sound: F32, rate: int, level: float) -> F32:
    """As loud as the voice, with faded ends."""
    own = float(np.sqrt(np.mean(sound**2)))
    gain = min(max(level / own, 1 / _FOLLOWED), _FOLLOWED) if level > 0 and own > 0 else 1.0
    edge = min(round(_EDGE * rate), len(sound) // 2)
    out = np.asarray(sound * gain, np.float32)
    ramp = (np.arange(edge, dtype=np.float32) + 1) / np.float32(edge + 1)
    out[:edge] *= ramp
    out[len(out) - edge :] *= ramp[::-1]
    return np.clip(out, -1, 1)

"""Which frames are hidden: stretches with pads, joined where the gap between them is too short to be worth hearing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...kernels import redact
from ...kernels.jit import F32, State
from ..stage import RATE

PAD = 0.2  # s before and after: with 0.1, 12 % of words leave more than 50 ms audible, with 0.15 6.5, with 0.2 2.4
GAP = 0.25  # s: between two stretches nothing can be understood in less
_REMEMBERED = 64  # stretches that left unjudged; of older ones a hit counts as heard
KEEP = 30.0  # s for which stretches that have left are remembered: detectors come back to them


class Shown(NamedTuple):
    """What `kernels.redact` takes; never changed, only replaced, so that it is read without a lock."""

    spans: State
    clips: State
    pool: F32


NOTHING = Shown(redact.NO_SPANS, redact.NO_CLIPS, np.zeros(1, np.float32))


@dataclass(frozen=True, eq=False, slots=True)
class _Clip:
    start: int
    end: int
    play: int
    term: str
    sound: F32


class Spans:
    """Stretches of a stream at `rate` Hz, in frames of the raw input since its start. One writer at a time.

    Attributes:
        shown: as of now. It holds at most a row for each 0.65 s that is remembered.
    """

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self.pad, self._gap, self._keep = round(PAD * rate), round(GAP * rate), round(KEEP * rate)
        self._fade = round(redact.FADE * rate)
        self.restart()

    def restart(self) -> None:
        self.shown = NOTHING
        self._rows: list[tuple[int, int]] = []
        self._clips: list[_Clip] = []
        self.played = 0  # places where a sound stands for what is hidden
        self.dark: tuple[tuple[int, int], ...] = ()  # frames that left silent, unjudged; written by the line's thread

    def frames(self, start: int, end: int) -> tuple[int, int]:
        """Samples at 16 kHz as frames, rounded outwards."""
        return start * self._rate // RATE, -(-end * self._rate // RATE)

    def hide(self, start: int, end: int, left: int) -> tuple[int, int]:
        """Hide frames start .. end and the pads around them; `left`: frames before this one have left. The padded stretch."""
        start, end = start - self.pad, end + self.pad
        whole = (start, end)
        rows = []
        for row in self._rows:
            if row[1] < left - self._keep:
                continue
            if self._joins(row, (start, end), left):
                start, end = min(start, row[0]), max(end, row[1])
            else:
                rows.append(row)
        self._rows = sorted([*rows, (start, end)])
        self._show()
        return whole

    def play(self, start: int, end: int, term: str, sound: Callable[[int], F32 | None], left: int) -> None:
        """Play in the middle of the hidden frames start .. end what `sound` gives for so many frames, in place of the action.

        Nothing, where it gives None, another clip is there, or it is too late. The same term at the same place is one word, of
        which now more is known.
        """
        clips = [clip for clip in self._clips if clip.end >= left]
        there = [clip for clip in clips if clip.start < end and start < clip.end]
        if any(clip.term != term or clip.start <= left or (clip.start <= start and end <= clip.end) for clip in there):
            return
        start, end = min([start, *(clip.start for clip in there)]), max([end, *(clip.end for clip in there)])
        found = sound(end - start) if start > left else None
        if found is None or len(found) > end - start:
            return
        clips = [clip for clip in clips if clip not in there]
        self.played += not there
        clips.append(_Clip(start, end, start + (end - start - len(found)) // 2, term, found))
        self._clips = sorted(clips, key=lambda clip: clip.start)
        self._show()

    def heard(self, start: int, end: int, left: int) -> int:
        """How many of the frames start .. end have left and could be heard."""
        end = min(end, left)
        total, place = 0, start
        for first, last in sorted([*self._rows, *self.dark]):
            total += max(0, min(first, end) - place)
            place = max(place, last)
        return total + max(0, end - place)

    def dim(self, start: int, end: int) -> None:
        """Note that frames start .. end leave in silence, since nobody has judged them."""
        dark = self.dark
        if dark and dark[-1][1] >= start:
            self.dark = (*dark[:-1], (dark[-1][0], end))
        else:
            self.dark = (*dark[-_REMEMBERED:], (start, end))

    def _joins(self, row: tuple[int, int], other: tuple[int, int], left: int) -> bool:
        """Whether they are one. A gap is not closed when the voice is already coming back in it: that would click."""
        (_, end), (start, _) = sorted([row, other])
        gap = start - end
        return gap <= 0 or (gap < self._gap and left < end - self._fade)

    def _show(self) -> None:
        spans = np.array(self._rows, redact.SPAN)
        clips, pool = redact.NO_CLIPS, NOTHING.pool
        if self._clips:
            offsets = np.cumsum([0, *(len(clip.sound) for clip in self._clips)])
            rows = [(c.start, c.end, c.play, offset, len(c.sound)) for c, offset in zip(self._clips, offsets[:-1], strict=True)]
            clips, pool = np.array(rows, redact.CLIP), np.concatenate([clip.sound for clip in self._clips])
        self.shown = Shown(spans, clips, pool)

"""The detector that listens for the phones of listed words, English and Mandarin, in our own streaming recogniser.

It hears each second once, .005 of a core, and each look searches what it has said of the newest seconds.
"""

from __future__ import annotations

import numpy as np

from ...kernels.jit import F32
from .detector import Look
from .find import Finder
from .hit import Hit
from .phones import NUMBER
from .recogniser import FIRST, ROW, SAID, UNITS, Recogniser
from .rows import Rows

RATE = 16_000
HOP = 0.25  # seconds between looks
SETTLED = 2.0  # seconds: what began later than this before a look's end is left to the next look
LEAST = -1.5  # mean log likelihood of a phone: 90 of 100 words, with .8 false ones an hour and word; -1.8: 94, 1.8; -1.2: 75
_LEAST_SHORT = -0.6  # for rows of up to SHORT phones, which any speech holds: 29 of 100, 4 false ones; -0.9: 47, 13
_SHORTEST = 1.0  # seconds that a look searches at least
_FLOOR = np.float32(np.log(1e-4))  # one phone that is not heard at all may cost a row no more than this
_BEGAN, _ENDS = 0.18, 0.06  # seconds before its first row that a word begins; after its last one that it ends


class StreamDetector:
    """Listens for the entries of `finder`'s list; those with match=exact are left to a recogniser of words.

    hop, settled: seconds, as HOP and SETTLED. least: as LEAST. ValueError if the list has no such entry; GraphError if the
    graph cannot be used.
    """

    name = "stream"
    _heard: int

    def __init__(self, finder: Finder, *, hop: float = HOP, settled: float = SETTLED, least: float = LEAST) -> None:
        if not (0.1 <= hop <= 2 and 0 <= settled <= 2):
            raise ValueError(f"hop={hop}, settled={settled}: give seconds from .1 (settled: 0) to 2")
        if not -9 <= least < 0:
            raise ValueError(f"least={least}: give -9 to below 0")
        self._rows = Rows(finder, NUMBER)
        longest = max(_SHORTEST, settled, self._rows.seconds)  # what is undecided has to be in the next look, too
        self.hop, self.window = round(hop * RATE), round((hop + longest) * RATE) + SAID
        self._settled = round(settled * RATE)
        self._least = np.where(self._rows.short, max(least, _LEAST_SHORT), least)
        self._recogniser = Recogniser()
        self.reset()

    def look(self, samples: F32, start: int, last: bool = False) -> Look:
        """ValueError for NaN; it begins anew behind it. See `Detector`."""
        if not np.isfinite(samples).all():
            raise ValueError("the samples are not finite: nothing can be heard in them")
        end = start + len(samples)
        if not start <= self._heard <= end:  # some were left out: what it knows of the stream ends there
            self.reset()
            self._began, self._heard = start, start
        self._hear(samples[self._heard - start :], last)
        self._heard = end
        hits = []
        for entry, first, after in self._rows.heard(self._likely, self._least):
            begin, until = self._at(first) - round(_BEGAN * RATE), self._at(after - 1) + round(_ENDS * RATE)
            hits.append(Hit(max(start, begin), min(end, until), entry.kind, entry.term, self.name))
        hits = [hit for hit in hits if hit.start < hit.end]
        return Look(tuple(hits), end if last else max(0, end - self._settled))

    def reset(self) -> None:
        """See `Detector`."""
        self._recogniser.reset()
        self._began = 0  # first sample that the recogniser has heard
        self._heard = 0  # the one after the last
        self._gone = 0  # rows that are no longer kept
        self._likely: F32 = np.empty((0, UNITS), np.float32)

    def _hear(self, samples: F32, last: bool) -> None:
        """Adds the rows of further samples, and drops those that ended before the window."""
        if last:
            samples = np.concatenate((samples, np.zeros(SAID, np.float32)))
        try:
            new = self._recogniser.push(samples)
        except ValueError:
            self.reset()
            raise
        likely = np.concatenate((self._likely, np.maximum(new, _FLOOR)))
        drop = max(0, len(likely) - self.window // ROW)
        self._likely, self._gone = likely[drop:], self._gone + drop

    def _at(self, row: int) -> int:
        """The sample by which the recogniser has heard what a kept row is of."""
        return self._began + (self._gone + row) * ROW + FIRST

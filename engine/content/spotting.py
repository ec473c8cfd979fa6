"""The detector that listens for the phones of listed words, whatever the words around them.

It finds in .6 to .8 s what a recogniser writes down in .9, and names that no recogniser spells as the list does; and it hears
"account" in "accounted".
"""

from __future__ import annotations

import numpy as np

from ...kernels.jit import F32
from .ctc import FRAME, NUMBER, Ctc
from .detector import Look
from .doubt import SILENCE, levels
from .find import Finder
from .hit import Hit
from .rows import Rows

RATE = 16_000
HOP = 0.5  # seconds between looks: .14 of a core; .25 takes twice that
SETTLED = 1.0  # seconds: what began later than this before a look's end is left to the next look
LEAST = -1.2  # mean log likelihood of a phone: 94 of 100 words, with 6 false ones an hour and keyword, most in related words
_LEAST_SHORT = -0.6  # the same for rows of up to SHORT phones, which any speech holds
_FLOOR = np.float32(1e-4)  # likelihood: one phone that is not heard at all may cost a row no more than 9.2
_EARLY, _LATE = 0.1, 0.08  # seconds from where a word begins to its first peak, and from its last peak to its end


class PhoneDetector:
    """Listens for the entries of `finder`'s list that sound English; those with match=exact are left to a recogniser.

    hop, settled: seconds, as HOP and SETTLED. least: as LEAST. ValueError if the list has no such entry.
    """

    name = "phones"

    def __init__(self, finder: Finder, *, hop: float = HOP, settled: float = SETTLED, least: float = LEAST) -> None:
        if not (0.1 <= hop <= 2 and 0 <= settled <= 2):
            raise ValueError(f"hop={hop}, settled={settled}: give seconds from .1 (settled: 0) to 2")
        if not -9 <= least < 0:
            raise ValueError(f"least={least}: give -9 to below 0")
        self._rows = Rows(finder, NUMBER)
        self.hop, self.window = round(hop * RATE), round((hop + max(SETTLED, self._rows.seconds)) * RATE)
        self._settled = round(settled * RATE)
        self._least = np.where(self._rows.short, max(least, _LEAST_SHORT), least)
        self._ctc = Ctc()

    def look(self, samples: F32, start: int, last: bool = False) -> Look:
        """ValueError for NaN; whatever a broken model raises. See `Detector`."""
        if not np.isfinite(samples).all():
            raise ValueError("the samples are not finite: nothing can be heard in them")
        end = start + len(samples)
        passed = end if last else max(0, end - self._settled)
        if not (levels(samples) > SILENCE).any():
            return Look((), passed)
        likely = self._ctc.likelihoods(samples)
        if not np.isfinite(likely).all():
            raise ValueError("the likelihoods of phones are not finite")
        hits = []
        for entry, first, after in self._rows.heard(np.log(np.maximum(likely, _FLOOR)), self._least):
            begin = max(start, start + first * FRAME - round(_EARLY * RATE))
            hits.append(Hit(begin, min(end, start + after * FRAME + round(_LATE * RATE)), entry.kind, entry.term, self.name))
        return Look(tuple(hits), passed)

    def reset(self) -> None:
        """See `Detector`; a look depends on its samples alone."""

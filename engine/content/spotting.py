"""The detector that listens for the phones of listed words, whatever the words around them.

It finds in .6 to .8 s what a recogniser writes down in .9, and names that no recogniser spells as the list does; and it hears
"account" in "accounted".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ...kernels.jit import F32
from ...kernels.viterbi import spot
from .ctc import FRAME, NUMBER, Ctc
from .detector import Look
from .doubt import SILENCE, levels
from .entry import SHORT, Entry
from .find import Finder
from .hit import Hit
from .ordinary import ordinary_sound
from .pronounce import Phones

RATE = 16_000
HOP = 0.5  # seconds between looks: .14 of a core; .25 takes twice that
SETTLED = 1.0  # seconds: what began later than this before a look's end is left to the next look
LEAST = -1.2  # mean log likelihood of a phone: 94 of 100 words, with 6 false ones an hour and keyword, most in related words
_LEAST_SHORT = -0.6  # the same for rows of up to SHORT phones, which any speech holds
_FLOOR = np.float32(1e-4)  # likelihood: one phone that is not heard at all may cost a row no more than 9.2
_LONGEST = 3.0  # seconds: of a longer term the beginning is heard in one look and the end in another, so not at all
_A_PHONE = 0.09  # seconds
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
        entries = finder.lexicon.entries if finder.lexicon else ()
        self._rows = _Rows([(entry, phones) for entry in entries for phones in audible(entry)])
        longest = min(_LONGEST, max(SETTLED, _A_PHONE * int(self._rows.lengths.max())))
        self.hop, self.window = round(hop * RATE), round((hop + longest) * RATE)
        self._settled = round(settled * RATE)
        self._least = np.where(self._rows.lengths <= SHORT, max(least, _LEAST_SHORT), least)[:, np.newaxis]
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
        for entry, first, after in self._heard(np.log(np.maximum(likely, _FLOOR))):
            begin = max(start, start + first * FRAME - round(_EARLY * RATE))
            hits.append(Hit(begin, min(end, start + after * FRAME + round(_LATE * RATE)), entry.kind, entry.term, self.name))
        return Look(tuple(hits), passed)

    def reset(self) -> None:
        """See `Detector`; a look depends on its samples alone."""

    def _heard(self, likely: F32) -> Iterator[tuple[Entry, int, int]]:
        """Entries, with their first frame and the one after their last; of an entry's overlapping places the likeliest."""
        score, first = self._rows.spotted(likely)
        row, frame = np.nonzero(score >= self._least)
        taken: dict[str, list[tuple[int, int]]] = {}
        for at in np.argsort(-score[row, frame], kind="stable").tolist():
            k, last = int(row[at]), int(frame[at])
            entry, begin = self._rows.entries[k], int(first[k, last])
            places = taken.setdefault(entry.term, [])
            if all(last < other or begin > until for other, until in places):
                places.append((begin, last))
                yield entry, begin, last + 1


class _Rows:
    """The entries' pronunciations as the kernel wants them. ValueError if there is none."""

    def __init__(self, rows: Sequence[tuple[Entry, Phones]]) -> None:
        if not rows:
            raise ValueError("no listed word can be heard by the phones of English: leave the detector of phones out")
        self.entries = [entry for entry, _ in rows]
        self.lengths = np.array([len(phones) for _, phones in rows])
        self._table = np.zeros((len(rows), int(self.lengths.max())), np.int64)
        for numbers, (_, phones) in zip(self._table, rows, strict=True):
            numbers[: len(phones)] = [NUMBER[phone] for phone in phones]
        places = 2 * self._table.shape[1]
        self._work = np.zeros((2, places), np.float32), np.zeros((2, places), np.int64)

    def spotted(self, likely: F32) -> tuple[F32, npt.NDArray[np.int64]]:
        """Scores, and first frames, of the best path of each row to each frame."""
        shape = len(self.entries), len(likely)
        score, first = np.empty(shape, np.float32), np.empty(shape, np.int64)
        spot(score, first, np.ascontiguousarray(likely, np.float32), self._table, self.lengths, *self._work)
        return score, first


def any_audible(finder: Finder) -> bool:
    """Whether there is anything to listen for."""
    return finder.lexicon is not None and any(audible(entry) for entry in finder.lexicon.entries)


def audible(entry: Entry) -> list[Phones]:
    """The pronunciations of an entry that can be listened for: of English phones, and no ordinary word's if it is short."""
    if entry.match == "exact":
        return []
    known = [phones for phones in entry.phones if all(phone in NUMBER for phone in phones)]
    return [phones for phones in known if not (entry.careful and ordinary_sound(phones))]

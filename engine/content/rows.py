"""The rows of phones that listed words are, as spotters listen for them in the outputs of a network trained with CTC."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from ...kernels.jit import F32
from ...kernels.viterbi import spot
from .entry import SHORT, Entry
from .find import Finder
from .ordinary import ordinary_sound
from .pronounce import Phones

LONGEST = 3.0  # seconds: of a longer term the beginning is heard in one look and the end in another, so not at all
_A_PHONE = 0.09  # seconds


class Rows:
    """The pronunciations of a finder's list that are made of the phones of `number`, which names the network's classes.

    ValueError if there is none.
    """

    def __init__(self, finder: Finder, number: Mapping[str, int]) -> None:
        rows = [(entry, phones) for entry in _entries(finder) for phones in audible(entry, number)]
        if not rows:
            raise ValueError("no listed word is made of the phones that are listened for: leave this detector out")
        self._entries = [entry for entry, _ in rows]
        self.lengths = np.array([len(phones) for _, phones in rows])
        self.short = self.lengths <= SHORT
        self._table = np.zeros((len(rows), int(self.lengths.max())), np.int64)
        for numbers, (_, phones) in zip(self._table, rows, strict=True):
            numbers[: len(phones)] = [number[phone] for phone in phones]
        places = 2 * self._table.shape[1]
        self._work = np.zeros((2, places), np.float32), np.zeros((2, places), np.int64)

    @property
    def seconds(self) -> float:
        """That the longest of them lasts, LONGEST at most."""
        return min(LONGEST, _A_PHONE * int(self.lengths.max()))

    def heard(self, likely: F32, least: F32) -> Iterator[tuple[Entry, int, int]]:
        """Entries, with their first frame and the one after their last; of an entry's overlapping places the likeliest.

        likely: log likelihoods (frames, classes), class 0 the blank. least: mean log likelihood of a phone, (rows,).
        """
        score, first = self._spotted(likely)
        row, frame = np.nonzero(score >= least[:, np.newaxis])
        taken: dict[str, list[tuple[int, int]]] = {}
        for at in np.argsort(-score[row, frame], kind="stable").tolist():
            k, last = int(row[at]), int(frame[at])
            entry, begin = self._entries[k], int(first[k, last])
            places = taken.setdefault(entry.term, [])
            if all(last < other or begin > until for other, until in places):
                places.append((begin, last))
                yield entry, begin, last + 1

    def _spotted(self, likely: F32) -> tuple[F32, npt.NDArray[np.int64]]:
        """Scores, and first frames, of the best path of each row to each frame."""
        shape = len(self._entries), len(likely)
        score, first = np.empty(shape, np.float32), np.empty(shape, np.int64)
        spot(score, first, np.ascontiguousarray(likely, np.float32), self._table, self.lengths, *self._work)
        return score, first


def any_audible(finder: Finder, known: Container[str]) -> bool:
    """Whether there is anything to listen for."""
    return any(audible(entry, known) for entry in _entries(finder))


def audible(entry: Entry, known: Container[str]) -> list[Phones]:
    """The pronunciations of an entry that can be listened for: of `known` phones, and no ordinary word's if it is short."""
    if entry.match == "exact":
        return []
    found = [phones for phones in entry.phones if all(phone in known for phone in phones)]
    return [phones for phones in found if not (entry.careful and ordinary_sound(phones))]


def _entries(finder: Finder) -> tuple[Entry, ...]:
    return finder.lexicon.entries if finder.lexicon else ()

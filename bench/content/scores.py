"""Figures of a condition: what of listed words can be heard in what leaves, what else is hidden, how soon words are found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...engine.content.hit import KINDS
from .material import RATE, Spoken, Stream
from .passing import TICK, Looked, Mask, hidden, unpassed

AUDIBLE = 0.05  # seconds of a hidden word that may be heard
_SURE = [kind for kind in KINDS if kind != "doubt"]
_NEAR = 0.3  # seconds around a listed word where hiding is no false alarm


@dataclass(frozen=True)
class Result:
    """Of one condition. Shares from 0 to 1, times in seconds; NaN where there was nothing to count."""

    words: int  # listed ones, spoken
    recall: float  # of them more than half is hidden
    residual: float  # of those, more than AUDIBLE can be heard
    over_p50: float  # hidden beside a listed word, for each word
    over_p95: float
    false: float  # stretches hidden where no listed word is, for each hour and listed word
    ordinary: float  # other words of which more than half is hidden
    unjudged: float  # of the time: hidden since a detector was late
    known_p50: float  # from a hidden word's beginning until it is found
    known_p95: float
    rtc: dict[str, float]  # CPU time of each detector for a second of speech


@dataclass
class Tally:
    """Counts over streams; `terms`: the listed words."""

    terms: frozenset[str] = field(repr=False)
    words: int = 0
    hits: int = 0
    residual: int = 0
    others: int = 0
    others_hidden: int = 0
    false: int = 0
    dark: float = 0.0  # seconds
    seconds: float = 0.0
    over: list[float] = field(default_factory=list)
    known: list[float] = field(default_factory=list)
    spent: dict[str, float] = field(default_factory=dict)

    def add(self, stream: Stream, looks: Mapping[str, Sequence[Looked]], delay: float, strict: bool) -> Mask:
        """One stream, by each detector's looks; the ticks that leave hidden."""
        every = [look for one in looks.values() for look in one]
        length = len(stream.samples)
        sure = hidden(every, length, delay, _SURE)
        dark = np.any([unpassed(one, length, delay) for one in looks.values()], axis=0)
        mask = (hidden(every, length, delay) if strict else sure) | dark
        for word in stream.words:
            self._word(word, mask, every)
        listed = [word for word in stream.words if word.text in self.terms]
        for first, after in runs(sure):
            self._stretch(first * TICK, after * TICK, listed)
        self.dark += float(dark.mean()) * length / RATE
        self.seconds += length / RATE
        for name, one in looks.items():
            self.spent[name] = self.spent.get(name, 0.0) + sum(look.cost for look in one)
        return np.asarray(mask)

    def _word(self, word: Spoken, mask: Mask, looks: Sequence[Looked]) -> None:
        heard = audible(mask, word)
        gone = heard < (word.end - word.start) / RATE / 2
        if word.text not in self.terms:
            self.others, self.others_hidden = self.others + 1, self.others_hidden + gone
            return
        self.words, self.hits = self.words + 1, self.hits + gone
        if gone:
            self.residual += heard > AUDIBLE
            times = [look.known for look in looks if any(h.start < word.end and h.end > word.start for h in look.hits)]
            self.known += [min(times) - word.start / RATE] if times else []

    def _stretch(self, start: int, end: int, listed: Sequence[Spoken]) -> None:
        near = round(_NEAR * RATE)
        self.false += not any(word.start - near < end and word.end + near > start for word in listed)
        inside = [word for word in listed if word.start < end and word.end > start]
        if inside:
            of_words = sum(min(word.end, end) - max(word.start, start) for word in inside)
            self.over.append((end - start - of_words) / RATE / len(inside))

    def result(self) -> Result:
        over, known = (np.percentile(values or [np.nan], [50, 95]) for values in (self.over, self.known))
        return Result(
            words=self.words,
            recall=_share(self.hits, self.words),
            residual=_share(self.residual, self.hits),
            over_p50=float(over[0]),
            over_p95=float(over[1]),
            false=_share(self.false, self.seconds / 3600 * len(self.terms)),
            ordinary=_share(self.others_hidden, self.others),
            unjudged=_share(self.dark, self.seconds),
            known_p50=float(known[0]),
            known_p95=float(known[1]),
            rtc={name: spent / self.seconds for name, spent in self.spent.items()},
        )


def audible(mask: Mask, word: Spoken) -> float:
    """Seconds of a word that are not hidden, to a tick."""
    ticks = mask[word.start // TICK : -(-word.end // TICK)]
    return float((~ticks).sum()) * TICK / RATE


def runs(mask: Mask) -> Iterator[tuple[int, int]]:
    """First tick, and the one after the last, of each stretch that is hidden."""
    edges = np.flatnonzero(np.diff(mask, prepend=False, append=False))
    yield from ((int(first), int(after)) for first, after in edges.reshape(-1, 2))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")

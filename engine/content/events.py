"""What was hidden and when, without a word of it."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, replace

from ..stage import RATE
from .hit import Hit

MOST = 10_000  # events, and delays, that are remembered, the newest: the counts go on
_SAME = RATE // 20  # samples: what is found again, no farther away, is the same word


@dataclass(frozen=True, slots=True)
class Event:
    """Something was found."""

    at: float  # s of sound since the guard was made
    seconds: float  # it lasts, pads apart
    kind: str  # of `hit.KINDS`
    term: str  # which entry of the word list, as its salted id; "" for a class
    detectors: tuple[str, ...]  # that found it, the first one first
    after: float  # s of sound from its start until it was known
    heard: float = 0.0  # s of it that had left before it was known


class Log:
    """All that was found. What several looks or detectors find at one place is one event."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.terms: Counter[str] = Counter()
        self.late = 0  # events of which something was heard
        self.heard = 0.0  # s, in all
        self.events: deque[Event] = deque(maxlen=MOST)
        self._begun = 0.0  # s of sound in the streams before this one
        self._recent: list[tuple[Hit, Event]] = []

    def restart(self, seconds: float) -> None:
        """Another stream, after one of so many s."""
        self._begun += seconds
        self._recent = []

    def add(self, hit: Hit, heard: float, end: int, oldest: int) -> Event | None:
        """Note a hit of which `heard` s had left; `end`: samples known by then. The event if it is a new one, or newly late.

        oldest: hits that end before this sample are forgotten.
        """
        self._recent = [pair for pair in self._recent if pair[0].end >= oldest]
        self.heard += heard
        for k, (known, event) in enumerate(self._recent):
            if (known.kind, known.term) == (hit.kind, hit.term) and _near(known, hit):
                joined = replace(hit, start=min(known.start, hit.start), end=max(known.end, hit.end))
                detectors = event.detectors if hit.detector in event.detectors else (*event.detectors, hit.detector)
                grown = replace(
                    event,
                    at=self._begun + joined.start / RATE,
                    seconds=(joined.end - joined.start) / RATE,
                    detectors=detectors,
                    heard=event.heard + heard,
                )
                self._recent[k] = (joined, grown)
                self._replace(event, grown)
                if heard and not event.heard:
                    self.late += 1
                    return grown
                return None
        seconds, after = (hit.end - hit.start) / RATE, (end - hit.start) / RATE
        event = Event(self._begun + hit.start / RATE, seconds, hit.kind, hit.term, (hit.detector,), after, heard)
        self.kinds[hit.kind] += 1
        if hit.term:
            self.terms[hit.term] += 1
        self.late += heard > 0
        self.events.append(event)
        self._recent.append((hit, event))
        return event

    def _replace(self, old: Event, new: Event) -> None:
        for back in range(1, len(self.events) + 1):
            if self.events[-back] is old:
                self.events[-back] = new
                return


def _near(one: Hit, other: Hit) -> bool:
    return one.start - _SAME < other.end and other.start - _SAME < one.end

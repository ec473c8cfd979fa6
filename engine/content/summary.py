"""The report of a line: what was found and hidden, what was late, what it cost. No word stands in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ... import __version__
from .events import Event

SCOPE = (
    "What the detectors found was hidden. Words that they miss are heard, and in noise they miss more. Only re-synthesis, "
    "which speaks text that was filtered, guarantees that a listed word is not said."
)


@dataclass(frozen=True)
class Work:
    """What one detector did."""

    name: str
    looks: int
    failures: int
    error: str  # the kind of the last failure
    hung: bool
    seconds: float  # in looks
    load: float | None  # of these, over the sound's duration: by the clock, so more on a busy machine


@dataclass(frozen=True)
class Summary:
    """All that happened since the guard was made."""

    seconds: float  # of sound
    delay: float  # s, of the line alone
    hidden: float  # s of stretches, pads included
    unjudged: float  # s that left in silence since a detector had not passed them
    missed: float  # s of looks that came too late to see what they had to
    not_sound: float  # s of input that was not finite, or of an impossible scale, and was hidden
    found: int
    kinds: Mapping[str, int]
    terms: Mapping[str, int]  # by salted id
    late: int  # of what was found, that of which something was heard before
    heard: float  # s of it
    known_after_p50: float | None  # s of sound from the start of a word until it was known
    known_after_p95: float | None
    errors: int  # of the line itself, which then starts over in silence
    callbacks_failed: int
    played: int  # places where a substitute is heard
    detectors: tuple[Work, ...]
    events: tuple[Event, ...]  # the newest

    @property
    def failed(self) -> tuple[Work, ...]:
        """Detectors that failed or hang."""
        return tuple(work for work in self.detectors if work.failures or work.hung)

    @property
    def line(self) -> str:
        """As in "3 found (word 2, number 1), 2.1 s of 60.0 s hidden"."""
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.kinds.items()))
        return f"{self.found} found{f' ({kinds})' if kinds else ''}, {self.hidden:.1f} s of {self.seconds:.1f} s hidden"

    @property
    def troubles(self) -> list[str]:
        """What went wrong, one line each."""
        told = []
        for work in self.failed:
            how = "hangs" if work.hung else f"failed {work.failures} times, last with {work.error}"
            told.append(f"detector {work.name} {how}: what it had not passed is silent")
        if self.late:
            told.append(f"{self.late} found too late: {self.heard:.2f} s of them were heard")
        if self.unjudged >= 0.01:
            told.append(f"{self.unjudged:.1f} s are silent, since a detector had not passed them in time")
        if self.missed:
            told.append(f"{self.missed:.1f} s were hidden, since a detector came too late to see them")
        if self.not_sound:
            told.append(f"{self.not_sound:.3f} s of input were no sound: hidden")
        if self.errors:
            told.append(f"{self.errors} times the line itself failed, and started over in silence")
        if self.callbacks_failed:
            told.append(f"on_event raised {self.callbacks_failed} times")
        return told

    def as_json(self) -> dict[str, Any]:
        """As plain JSON values; times in s."""
        told = {name: _rounded(value) for name, value in asdict(self).items()}
        return {"velavox": __version__, "scope": SCOPE, **told}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, Mapping):
        return {name: _rounded(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(inner) for inner in value]
    return value

"""The contract of a detector: what looks at the raw voice and says what to hide, and up to where it has made up its mind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ...kernels.jit import F32
from .hit import Hit


@dataclass(frozen=True, slots=True)
class Look:
    """What one look gave."""

    hits: tuple[Hit, ...]
    passed: int  # samples before this one are decided: no later look will hide more of them


class Detector(Protocol):
    """Looks at the newest part of a mono stream at 16 kHz, again and again. Used by one thread; owned by one stream.

    A detector may raise: the line then hides everything until a later look passes it.
    """

    @property
    def name(self) -> str: ...

    @property
    def hop(self) -> int:
        """Samples between two looks."""

    @property
    def window(self) -> int:
        """The most samples that one look takes; the newest ones."""

    def look(self, samples: F32, start: int, last: bool = False) -> Look:
        """What is to be hidden in `samples`, shape (n,), n <= window, of which the first is number `start` of the stream.

        last: no more samples will come: the look decides everything up to the end.
        """

    def reset(self) -> None:
        """As fresh: the next look is of another stream."""

"""A stretch of speech that must not be heard."""

from __future__ import annotations

from dataclasses import dataclass

# What a stretch can be hidden for: a listed word, a class that rules and names find, speech that no recogniser is sure of.
KINDS = ("word", "name", "place", "organisation", "number", "date", "address", "email", "card", "id", "doubt")


@dataclass(frozen=True, slots=True)
class Hit:
    """From sample `start` up to `end`, at 16 kHz since the start of the stream; without pads, which the line adds."""

    start: int
    end: int
    kind: str  # of KINDS
    term: str  # which entry of the word list, as its salted id; "" for a class. Never the word.
    detector: str

"""How much one server takes, and how it says that it will not take something."""

from __future__ import annotations

from dataclasses import dataclass

BOUNDS = {"rooms": (1, 1000), "participants": (2, 16), "calls": (1, 1000), "connections": (8, 10_000)}


@dataclass(frozen=True)
class Limits:
    """Of one server."""

    rooms: int = 20
    participants: int = 6  # of a room
    calls: int = 50  # in all, those that hear themselves included
    connections: int = 200  # of HTTP at a time; calls use none

    def __post_init__(self) -> None:
        for name, (low, high) in BOUNDS.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}={getattr(self, name)!r}: give {low} to {high}")


class Refused(Exception):  # noqa: N818  (no defect of the program)
    """A request that gets another answer than it asked for: an HTTP status, and a line for people.

    Attributes:
        cause: a word for the metrics.
        headers: of the answer.
    """

    def __init__(self, status: int, cause: str, text: str, **headers: str) -> None:
        super().__init__(text)
        self.status, self.cause, self.text = status, cause, text
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

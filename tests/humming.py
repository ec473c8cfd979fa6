"""A speaker for tests, who hums."""

from __future__ import annotations

from collections.abc import Callable

from signals import F32
from velavox.engine.content.normalize import surface
from velavox.engine.content.pronounce import Phones, sounds


class Humming:
    """An English speaker that keeps what it is told to say, and makes the sound that `sound` gives for a number of letters."""

    name = "humming"
    languages = ("en",)

    def __init__(self, sound: Callable[[int], F32]) -> None:
        self.said: list[str] = []
        self._sound = sound

    def speak(self, text: str) -> F32:
        self.said.append(text)
        return self._sound(len(text))

    def sounds(self, text: str) -> list[Phones]:
        if not text.isascii():
            raise ValueError("it speaks English alone")
        return [ways[0] for ways in sounds(surface([text])) if ways]

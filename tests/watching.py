"""What a live stream over a DummyCard plays, and what it says of itself meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from signals import F32
from velavox.engine.dummy import DummyCard
from velavox.engine.live import Live
from velavox.engine.status import Status


class Tape:
    """A listener that keeps what was played, and when."""

    def __init__(self) -> None:
        self.blocks: list[F32] = []
        self.times: list[float] = []

    def __call__(self, now: float, y: F32) -> None:
        self.blocks.append(y.copy())
        self.times.append(now)

    @property
    def sound(self) -> F32:
        return np.concatenate(self.blocks)


def after_each_wait(card: DummyCard, look: Callable[[], object]) -> None:
    """Have the worker's thread call `look` whenever it has waited."""
    wait = card.wait

    def waited(seconds: float) -> None:
        wait(seconds)
        look()

    card.wait = waited  # type: ignore[method-assign]


def watched(live: Live, card: DummyCard) -> list[tuple[float, Status]]:
    """Time and status of `live`, after each wait."""
    seen: list[tuple[float, Status]] = []
    after_each_wait(card, lambda: seen.append((card.now(), live.status())))
    return seen

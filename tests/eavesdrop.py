"""A secret in a signal, detectors that hear it, or fail to in every way, and what got out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from signals import F32, noise
from velavox import Engine, Identity
from velavox.engine.content.detector import Look
from velavox.engine.content.guard import ContentGuard
from velavox.engine.content.hit import Hit

RATE = 16_000
SECRET = 0.5  # what no other sample of `speech` comes near
PAD, FADE = 0.2, 0.015


def speech(seconds: float, *secrets: tuple[float, float], rate: int = RATE) -> F32:
    """Noise below 0.05 with stretches, from .. to in s, that are the secret: a constant of 0.5."""
    x = np.clip(noise(round(seconds * rate), 0.015), -0.045, 0.045)
    for start, end in secrets:
        x[round(start * rate) : round(end * rate)] = SECRET
    return x


class Ear:
    """Hears the secret wherever it stands in what it is given, 60 ms of it or more."""

    def __init__(self, name: str = "ear", hop: int = 4000, window: int = 16_000, settled: int = 0) -> None:
        self.name, self.hop, self.window, self._settled = name, hop, window, settled
        self.looked: list[tuple[int, int, bool]] = []
        self.resets = 0

    def look(self, samples: F32, start: int, last: bool = False) -> Look:
        self.looked.append((start, start + len(samples), last))
        end = start + len(samples)
        loud = np.flatnonzero(np.diff(np.abs(samples) > 0.3, prepend=False, append=False)).reshape(-1, 2)
        hits = tuple(Hit(start + int(a), start + int(b), "word", "3f9a", self.name) for a, b in loud)
        return Look(hits, end if last else max(0, end - self._settled))

    def reset(self) -> None:
        self.resets += 1


class Told(Ear):
    """Finds what it was told, wherever a look covers it."""

    def __init__(self, *hits: Hit, **named: Any) -> None:
        super().__init__(**named)
        self.hits = hits

    def look(self, samples: F32, start: int, last: bool = False) -> Look:
        end = start + len(samples)
        return Look(tuple(h for h in self.hits if start <= h.start < end), end)


class Failing(Ear):
    """An ear that from look number `after` on, for `times` looks, does `fault` instead."""

    def __init__(self, fault: Callable[[F32, int], Any], after: int = 2, times: int = 10**9, **named: Any) -> None:
        super().__init__(**named)
        self._fault, self._after, self._times, self._count = fault, after, times, 0

    def look(self, samples: F32, start: int, last: bool = False) -> Look:
        self._count += 1
        if self._after < self._count <= self._after + self._times:
            given: Look = self._fault(samples, start)
            return given
        return super().look(samples, start, last)


class Stuck(Ear):
    """An ear that does not come back from a look until `let_go`."""

    def __init__(self, after: int = 2, **named: Any) -> None:
        super().__init__(**named)
        self.let_go = threading.Event()
        self._left = after

    def look(self, samples: F32, start: int, last: bool = False) -> Look:
        self._left -= 1
        if self._left < 0:
            self.let_go.wait(30)
        return super().look(samples, start, last)


def crash(samples: F32, start: int) -> Look:
    raise RuntimeError("heard Alice\nCarter")


def leave(samples: F32, start: int) -> Look:
    raise SystemExit("Alice")


def _giving(*hits: Any, passed: Any = None) -> Callable[[F32, int], Any]:
    def look(samples: F32, start: int) -> Look:
        return Look(hits, start + len(samples) if passed is None else passed)

    return look


# Each of these looks says that all has been passed, and does not name the secret: it must not be believed.
NONSENSE: dict[str, Callable[[F32, int], Any]] = {
    "raises": crash,
    "exits": leave,
    "nothing": lambda samples, start: None,
    "no number passed": _giving(passed=float("nan")),
    "passed as a text": _giving(passed="all"),
    "hit from nowhere": _giving(Hit(-5, 10, "word", "", "ear")),
    "empty hit": _giving(Hit(100, 100, "word", "", "ear")),
    "hit backwards": _giving(Hit(200, 100, "word", "", "ear")),
    "hit in the future": _giving(Hit(10**9, 10**9 + 5, "word", "", "ear")),
    "hit of no number": _giving(Hit(float("nan"), 10, "word", "", "ear")),  # type: ignore[arg-type]
    "unknown kind": _giving(Hit(0, 10, "secret", "", "ear")),
    "no hit": _giving("Alice"),
}


def guard(*detectors: Any, engine: Engine | None = None, **named: Any) -> ContentGuard:
    """A guard of an engine that changes nothing, so that whatever comes out is known. Hidden is silent."""
    settings = {"delay": 1.0, "action": "silence", "wait": True, **named}
    return ContentGuard(engine or Engine(Identity(), sample_rate=RATE), detectors or [Ear()], **settings)


def passed_through(
    guarded: ContentGuard, x: np.ndarray, sizes: Sequence[int] | None = None, pace: float = 0.0, flush: bool = True
) -> F32:
    """All that comes out, the delay taken off. pace: s to sleep after each block."""
    out = []
    for block in np.split(x, np.cumsum(sizes)[:-1]) if sizes else [x]:
        out.append(guarded.process(block))
        if pace:
            time.sleep(pace)
    out += [guarded.flush()] if flush else []
    return np.concatenate(out)[guarded.latency :]


def got_out(y: F32) -> int:
    """Samples of the secret in what came out."""
    return int(np.count_nonzero(np.abs(y) > 0.06))

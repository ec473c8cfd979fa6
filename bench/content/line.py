"""What the content guard itself costs, detectors apart: for a block of 10 ms, and what memory grows by in an hour of sound.

python -m velavox.bench.content.line [--rate HZ] [--hours H] [--json FILE]
"""

from __future__ import annotations

import gc
from functools import partial

import numpy as np

from ...engine.content.detector import Look
from ...engine.content.guard import ContentGuard
from ...engine.content.hit import Hit
from ...engine.content.line import Action, Line
from ...engine.content.raw import Raw
from ...engine.content.spans import Spans
from ...engine.host import Engine
from ...engine.mcadams import McAdams
from ...engine.resident import resident
from ...kernels.jit import F32
from .. import table
from ..timing import Case, interleave

DELAY = 2.0  # s
_EVERYTHING = 2**62
_SHOWN: tuple[Action, ...] = ("silence", "bleep", "tone", "babble")


class Ready:
    """A detector that takes no time: a word of half a second every 4 s."""

    name, hop, window = "ready", 16_000, 112_000

    def look(self, samples: F32, start: int, last: bool = False) -> Look:
        end = start + len(samples)
        words = range(-(-start // 64_000) * 64_000, end - 8000, 64_000)
        return Look(tuple(Hit(at, at + 8000, "word", "3f9a", self.name) for at in words), end)

    def reset(self) -> None: ...


def cases(rate: int) -> dict[str, Case]:
    """The mask path (delay line and redaction), nothing to hide and hiding; the raw voice for the detectors; all of it."""
    block = (0.1 * np.random.default_rng(0).normal(size=rate // 100)).astype(np.float32)
    made: dict[str, Case] = {}
    for action in _SHOWN:
        for hiding in (False, True):
            line, spans, y = Line(rate, 1, round(DELAY * rate), 0, action), Spans(rate), block.copy()
            if hiding:
                spans.hide(0, 10**9, 0)
            made[f"mask path, {action}{', hiding' * hiding}"] = Case(partial(line.run, y, _EVERYTHING, spans))
    raw = Raw(rate, 1, Ready.window)
    column = block.reshape(-1, 1)
    made["raw voice to 16 kHz"] = Case(lambda: raw.push(column))
    plain = Engine(McAdams(), sample_rate=rate)
    made["McAdams"] = Case(lambda: plain.process(block))
    guard = ContentGuard(Engine(McAdams(), sample_rate=rate), [Ready()], delay=DELAY)
    made["McAdams in a guard"] = Case(lambda: guard.process(block))
    return made


def growth(hours: float) -> float:
    """kB by which memory grows in so many hours of sound, of which the first sixth is not counted."""
    guard = ContentGuard(Engine(McAdams(), sample_rate=16_000), [Ready()], delay=DELAY, wait=True)
    minute = (0.1 * np.random.default_rng(0).normal(size=16_000 * 60)).astype(np.float32)
    minutes, before = max(6, round(60 * hours)), 0
    with guard:
        for k in range(minutes):
            if k == minutes // 6:
                gc.collect()
                before = resident()
            for part in np.split(minute, 6000):
                guard.process(part)
        gc.collect()
        return float((resident() - before) / 1024)


def main() -> None:
    parser = table.parser("content.line", "What the content guard costs, detectors apart.")
    parser.add_argument("--rate", type=int, default=48_000, metavar="HZ")
    parser.add_argument("--hours", type=float, default=0.0, metavar="H", help="also let so much sound through, for memory")
    arguments = parser.parse_args()
    timings = interleave(cases(arguments.rate), seconds=0.01, blocks=arguments.blocks)
    table.show(f"10 ms at {arguments.rate} Hz, {DELAY:g} s of delay", timings, {})
    table.write(arguments.json, timings, {})
    if arguments.hours:
        print(f"\nmemory after {arguments.hours:g} h of sound: {growth(arguments.hours):+.0f} kB")


if __name__ == "__main__":
    main()

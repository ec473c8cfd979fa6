"""Minutes of speech, silence, music and one phrase again and again through a guard: does it fall behind, grow, drift or loop?

python -m velavox.bench.content.soak [--minutes M] [--json FILE]

Recognisers are known to repeat themselves in silence and after repeated phrases, and to lag more the longer they run. The
speech is that of the bundled clips, so that the words in it, and where they are, are known without a recogniser.
"""

from __future__ import annotations

import argparse
import gc
import json
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from ...engine.content.detector import Detector, Look
from ...engine.content.detectors import DETECTORS, detectors
from ...engine.content.find import Finder
from ...engine.content.guard import ContentGuard
from ...engine.content.lexicon import Lexicon
from ...engine.content.spans import PAD
from ...engine.host import Engine
from ...engine.identity import Identity
from ...engine.resident import resident
from ...kernels.jit import F32
from ..speech import RATE, clips

_SAID = "27-123349-0009"  # "... was to promise that he would not assume the regal title"
_WORDS = ("promise", "regal")  # of it
_REPEATED, _TIMES = "1737-146161-0010", 4  # "make one, knit one, knit two together"
_PLAIN = "5789-70653-0013"
_SILENCE, _MUSIC = 5.0, 6.0  # seconds
_CHORDS = ((220.0, 277.2, 329.6), (196.0, 246.9, 293.7), (174.6, 220.0, 261.6), (196.0, 233.1, 293.7))  # Hz
_BLOCK = RATE // 100
_THIRDS = 3
_SHIFTS = RATE // 50  # samples by which the output may be off, either way, and it is told


@dataclass(frozen=True)
class Soaked:
    """What became of it. Of figures by third of the time a drift would show in."""

    seconds: float
    said: int  # listed words
    found: list[float]  # the share of them that was hidden, by third
    elsewhere: int  # stretches hidden where no listed word is said
    look_s: dict[str, list[float]]  # median CPU time of a look of each detector, by third
    slowest_s: dict[str, float]
    behind_s: dict[str, float]  # the most that a detector left undecided after a look
    unjudged_s: float  # silent or hidden, since a detector had not passed it, or came too late to see it
    shift: int  # samples by which the delay at the end differs from the one that is told
    growth_kb: float  # of memory, without the first third


class Timed:
    """A detector with a clock; one of those that share `turn` looks at a time, so that CPU times are its own."""

    def __init__(self, detector: Detector, turn: threading.Lock) -> None:
        self._detector, self._turn = detector, turn
        self.name, self.hop, self.window = detector.name, detector.hop, detector.window
        self.looks: list[tuple[int, float, int]] = []  # end, CPU s, undecided samples

    def look(self, samples: F32, start: int, last: bool = False) -> Look:
        end = start + len(samples)
        with self._turn:
            began = time.process_time()
            found = self._detector.look(samples, start, last)
            self.looks.append((end, time.process_time() - began, end - found.passed))
        return found

    def reset(self) -> None:
        self._detector.reset()


def stream(seconds: float, seed: int = 0) -> tuple[F32, list[tuple[int, int]]]:
    """Sound for so many seconds or a little more, and the samples of each clip in it that says the listed words."""
    random, parts = np.random.default_rng(seed), list[F32]()
    said: list[tuple[int, int]] = []
    at = 0
    while at < seconds * RATE:
        for kind in random.permutation(5).tolist():
            parts.append(_part(kind, random))
            if kind == 0:
                said.append((at, at + len(parts[-1])))
            at += len(parts[-1])
    return np.concatenate(parts), said


def _part(kind: int, random: np.random.Generator) -> F32:
    if kind == 0:
        return clips()[_SAID]
    if kind == 1:
        return np.tile(clips()[_REPEATED], _TIMES)
    if kind == 2:
        return clips()[_PLAIN]
    if kind == 3:  # not quite silent, as no room is
        return np.asarray(1e-4 * random.normal(size=round(_SILENCE * RATE)), np.float32)
    t = np.arange(round(_MUSIC / len(_CHORDS) * RATE)) / RATE
    notes = (sum(np.sin(2 * np.pi * f * k * t) / k for f in chord for k in (1, 2, 3)) for chord in _CHORDS)
    return np.concatenate([np.asarray(0.05 * note * np.exp(-t), np.float32) for note in notes])


def soak(minutes: float, made: Sequence[Detector], seed: int = 0) -> Soaked:
    """Let so much sound through a guard that waits for detectors `made` to find `listed()`."""
    sound, said = stream(60 * minutes, seed)
    turn = threading.Lock()
    timed = [Timed(detector, turn) for detector in made]
    engine = Engine(Identity(), sample_rate=RATE)  # so that what is not hidden comes out as it went in
    left, before = list[F32](), 0
    with ContentGuard(engine, timed, action="silence", wait=True) as guard:
        for n, start in enumerate(range(0, len(sound), _BLOCK)):
            if n == len(sound) // _BLOCK // _THIRDS:
                gc.collect()
                before = resident() - sum(part.nbytes for part in left)
            left.append(guard.process(sound[start : start + _BLOCK]))
        gc.collect()
        grown = resident() - sum(part.nbytes for part in left) - before
        left.append(guard.flush())
        summary, latency = guard.report(), guard.latency
    out = np.concatenate(left)[latency:]
    silent = list(_silent(sound, out))
    hits = [sum(start < end and first < after for first, after in silent) for start, end in said]
    elsewhere = [one for one in silent if not any(one[0] < end and start < one[1] for start, end in said)]
    thirds = np.array_split(np.minimum(hits, len(_WORDS)) / len(_WORDS), _THIRDS)
    return Soaked(
        seconds=len(sound) / RATE,
        said=len(said) * len(_WORDS),
        found=[float(np.mean(third)) if len(third) else float("nan") for third in thirds],
        elsewhere=len(elsewhere),
        look_s={one.name: _by_third(one.looks, len(sound)) for one in timed},
        slowest_s={one.name: max(cost for _, cost, _ in one.looks) for one in timed},
        behind_s={one.name: max(behind for _, _, behind in one.looks) / RATE for one in timed},
        unjudged_s=summary.unjudged + summary.missed,
        shift=_shift(sound, out),
        growth_kb=grown / 1024,
    )


def listed() -> Finder:
    """What is to be found in the clips."""
    return Finder(Lexicon.of(_WORDS, b"bench"))


def _by_third(looks: Sequence[tuple[int, float, int]], length: int) -> list[float]:
    edges = [length * n // _THIRDS for n in range(_THIRDS + 1)]
    return [float(np.median([cost for end, cost, _ in looks if first < end <= last])) for first, last in pairwise(edges)]


def _silent(sound: F32, out: F32) -> Iterator[tuple[int, int]]:
    """Where the output is silent for longer than a pad, though the input is not."""
    edges = np.flatnonzero(np.diff(out[: len(sound)] == 0, prepend=False, append=False))
    for first, after in edges.reshape(-1, 2).tolist():
        if after - first > PAD * RATE and sound[first:after].any():
            yield first, after


def _shift(sound: F32, out: F32) -> int:
    """How many samples later the end of `out` is than it should be: where it is most like the input."""
    last = np.flatnonzero(out[: len(sound) - _SHIFTS])[-5 * RATE :]  # what was not hidden
    start, end = int(last[0]), int(last[-1])
    piece = out[start:end]
    scores = [float(piece @ sound[start - k : end - k]) for k in range(-_SHIFTS, _SHIFTS + 1)]
    return int(np.argmax(scores)) - _SHIFTS


def as_text(found: Soaked) -> str:
    hidden = ", ".join(f"{share:.2f}" for share in found.found)
    lines = [
        f"{found.seconds:.0f} s of speech, silence, music and one phrase again and again",
        f"listed words hidden, of {found.said}, by third of the time: {hidden}",
        f"stretches hidden elsewhere: {found.elsewhere}",
        f"hidden, since a detector had not passed it: {found.unjudged_s:.2f} s",
        f"the delay at the end, less the one that is told: {found.shift} samples",
        f"memory, after the first third: {found.growth_kb:+.0f} kB",
    ]
    for name, costs in found.look_s.items():
        times = ", ".join(f"{cost:.3f}" for cost in costs)
        slowest, behind = found.slowest_s[name], found.behind_s[name]
        lines.append(f"{name}: CPU s of a look, by third {times}; the slowest {slowest:.3f}; {behind:.2f} s undecided at most")
    return "\n".join(lines)


def main() -> None:
    about = __doc__.splitlines()[0] if __doc__ else ""
    parser = argparse.ArgumentParser(prog="python -m velavox.bench.content.soak", description=about)
    parser.add_argument("--minutes", type=float, default=10.0, metavar="M", help="of sound [%(default)s]")
    parser.add_argument("--detectors", nargs="*", default=DETECTORS, metavar="NAME", help="[%(default)s]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    arguments = parser.parse_args()
    found = soak(arguments.minutes, detectors(listed(), arguments.detectors))
    print(as_text(found))
    if arguments.json:
        arguments.json.write_text(json.dumps(asdict(found), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

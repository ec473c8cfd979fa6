"""Laps: how the time of a block is given to its parts. Each lap takes what has passed since the one before it, so that no
time is left over: what stands between two parts counts for the one whose lap comes next."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Lap = Callable[[int], None]  # add the time since the last lap to this part

INPUT, MIX, RESAMPLE_IN, REBLOCK, JUDGE, LEVEL, LIMITER, RESAMPLE_OUT, DELIVER = range(9)
STAGES = 9  # the first stage; the others follow

# check, conversion and sanitising; mixing; 16 kHz; ring and hops; is a stage's output finite, and what follows if it is not ...
_BEFORE, _AFTER = ("input", "mix", "resample_in", "reblock"), ("judge", "level", "limiter", "resample_out", "deliver")


def parts(methods: Iterable[str]) -> dict[str, int]:
    """Of an engine with stages of these methods: every part by name, in the order of the signal flow."""
    found = {name: slot for slot, name in enumerate(_BEFORE)}
    taken = {*_BEFORE, *_AFTER}
    for slot, method in enumerate(methods, STAGES):
        name, again = method, 2
        while name in taken:
            name, again = f"{method} {again}", again + 1
        taken.add(name)
        found[name] = slot
    return found | {name: slot for slot, name in enumerate(_AFTER, JUDGE)}

"""Overlapping frames of a stream: blocks of any size in, each frame out as soon as its last sample is there.

With `snip_edges` (Kaldi's default) frame t begins at sample t * hop, and only frames that lie in the signal exist. Without,
frame t is centred on sample t * hop + hop / 2, the signal is mirrored at both ends, there are round(samples / hop) frames,
and the last of them come with `tail`, the block that ends the signal.

Inside a larger kernel, with a record of `state_dtype(...)` as its field:

    start = 0
    while start < len(x):
        start = framing.fill(s.framing, x, start)
        if framing.whole(s.framing):
            ...  # use s.framing.frame
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .edge import mono
from .jit import F32, State, f32, f32_2d, integer, kernel, record, record_dtype, word


@cache
def state_dtype(length: int, hop: int) -> np.dtype[np.record]:
    """The record of a stream of frames of `length` samples, every `hop` samples; hop from 1 to length - 1."""
    if not 1 <= hop < length:
        raise ValueError(f"hop={hop} samples: give 1 to {length - 1}, less than the frame's length")
    return record_dtype(
        ("frame", "f4", (length,)),  # the frame that is being filled
        ("kept", "f4", (length - hop,)),  # what it shares with the next one, on its way from the end to the front
        ("count", "i8"),  # samples of the frame that are there
        ("begin", "i8"),  # index of its first sample in the signal
        ("lead", "i8"),  # samples by which frame 0 begins before the signal: 0 with snip_edges
    )


def fresh(length: int, hop: int, snip_edges: bool = True) -> State:
    """A stream before its first sample. Without `snip_edges` hop may be length // 2 at most."""
    state = np.zeros(1, state_dtype(length, hop))
    if not snip_edges:
        if hop > length // 2:
            raise ValueError(f"hop={hop} samples: give {length // 2} at most, half a frame, where edges are mirrored")
        s = state[0]
        s.lead = s.count = length // 2 - hop // 2
        s.begin = -s.lead
    return state


@word
def fill(s: Any, x: Any, start: int) -> int:
    """Take samples of x from `start` on until the frame is whole or x is used up; returns the index after the last one."""
    length, kept = len(s.frame), len(s.kept)
    if s.count == length:  # it has been used
        for i in range(kept):
            s.kept[i] = s.frame[length - kept + i]
        for i in range(kept):
            s.frame[i] = s.kept[i]
        s.count = kept
        s.begin += length - kept
    taken = min(length - s.count, len(x) - start)
    source, target = x[start : start + taken], s.frame[s.count : s.count + taken]
    for i in range(taken):
        target[i] = source[i]
    s.count += taken
    if s.begin == -s.lead and s.count == length:  # frame 0
        for i in range(s.lead):
            s.frame[s.lead - 1 - i] = s.frame[s.lead + i]
    return int(start + taken)


@word
def whole(s: Any) -> bool:
    """Whether `s.frame` is complete."""
    return bool(s.count == len(s.frame))


@cache
def stream_for(dtype: np.dtype[np.record]) -> Callable[[State, F32, F32], int]:
    """The kernel for states of `dtype`, compiled at the first call."""

    @kernel(record(dtype), f32_2d, f32, returns=integer)
    def stream(state: State, out: F32, x: F32) -> int:
        """All frames that the block x, shape (n,), completes, into the first rows of out, shape (n // hop + 1, length) or more.

        Returns how many.
        """
        s = state[0]
        frames = 0
        start = 0
        while start < len(x):
            start = fill(s, x, start)
            if whole(s):
                for i in range(len(s.frame)):
                    out[frames, i] = s.frame[i]
                frames += 1
        return frames

    return stream


def tail(s: np.record) -> F32:
    """The block that ends a signal without `snip_edges`: mirrored samples, as many as its last frames lack, shape (n,).

    s: the record of the stream, `state[0]`. Empty with `snip_edges`.
    """
    length, hop = len(s.frame), len(s.frame) - len(s.kept)
    samples = s.begin + s.count
    frames = (samples + hop // 2) // hop
    if s.lead == 0 or frames == 0:
        return np.empty(0, np.float32)
    index = np.arange(samples, (frames - 1) * hop - s.lead + length) % (2 * samples)  # a short signal is mirrored repeatedly
    return np.asarray(s.frame[np.minimum(index, 2 * samples - 1 - index) - s.begin], np.float32)


def offline(x: npt.ArrayLike, length: int, hop: int, snip_edges: bool = True) -> F32:
    """All frames of a mono signal, shape (n,), full scale 1 or int16: float32, shape (frames, length)."""
    samples = mono(x)
    state = fresh(length, hop, snip_edges)
    run = stream_for(state.dtype)
    out = np.empty((len(samples) // hop + length // hop + 2, length), np.float32)
    frames = run(state, out, samples)
    frames += run(state, out[frames:], tail(state[0]))
    return out[:frames]

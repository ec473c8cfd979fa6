"""Streaming mean normalisation of feature frames over a sliding window, as Kaldi does it online.

Each frame loses the mean of itself and the `window` frames before it. The first `minimum` frames share one mean, so they come
together, when the last of them is there: 1 s of delay at the start for Kaldi's 100 frames, none for minimum=1.
Source: `SlidingWindowCmn` with center=false in kaldi/src/feat/feature-functions.cc.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .jit import F32, State, f32_2d, integer, kernel, record, record_dtype, word

WINDOW, MINIMUM = 600, 100  # frames


@cache
def state_dtype(dim: int = 80, window: int = WINDOW) -> np.dtype[np.record]:
    """The record of a stream of frames of `dim` features."""
    if dim < 1 or window < 1:
        raise ValueError(f"dim={dim}, window={window}: give 1 or more of each")
    return record_dtype(
        ("past", "f4", (window + 1, dim)),  # frame t in row t modulo window + 1
        ("total", "f8", (dim,)),  # sum over the frames in the window, a value that is not finite taken as 0
        ("seen", "i8"),  # frames taken since fresh
        ("minimum", "i8"),
    )


def fresh(dim: int = 80, window: int = WINDOW, minimum: int = MINIMUM) -> State:
    """A stream before its first frame; minimum from 1 to window + 1 frames."""
    state = np.zeros(1, state_dtype(dim, window))
    if not 1 <= minimum <= window + 1:
        raise ValueError(f"minimum={minimum} frames: give 1 to {window + 1}, the frame and the window before it")
    state[0].minimum = minimum
    return state


@word
def accumulate(s: Any, frame: Any) -> None:
    """Move the window on to this frame, shape (dim,)."""
    row = s.past[s.seen % len(s.past)]  # holds the frame that leaves, or zeros as long as none does
    for i in range(len(frame)):
        # a NaN may spoil its own frame, but in the sum it would stay for ever
        if np.isfinite(frame[i]):
            s.total[i] += frame[i]
        if np.isfinite(row[i]):
            s.total[i] -= row[i]
        row[i] = frame[i]
    s.seen += 1


@word
def subtract_mean(s: Any, out: Any, frame: Any) -> None:
    """frame, shape (dim,), without the mean of the window, to out."""
    scale = 1 / min(s.seen, len(s.past))
    for i in range(len(frame)):
        out[i] = np.float32(frame[i] - scale * s.total[i])


@word
def push(s: Any, out: Any, x: Any) -> int:
    """As `stream`."""
    frames = 0
    for t in range(len(x)):
        accumulate(s, x[t])
        if s.seen == s.minimum:
            for held in range(s.minimum):
                subtract_mean(s, out[held], s.past[held])
            frames = s.minimum
        elif s.seen > s.minimum:
            subtract_mean(s, out[frames], x[t])
            frames += 1
    return frames


@cache
def stream_for(dtype: np.dtype[np.record]) -> Callable[[State, F32, F32], int]:
    """The kernel for states of `dtype`, compiled at the first call."""

    @kernel(record(dtype), f32_2d, f32_2d, returns=integer)
    def stream(state: State, out: F32, x: F32) -> int:
        """The frames x, shape (n, dim), n from 0 up; those that are ready go to the first rows of out; returns how many.

        out: shape (n + minimum - 1, dim) or more.
        """
        return push(state[0], out, x)

    return stream


def tail(state: State) -> F32:
    """What a stream shorter than `minimum` frames still holds back when it ends, normalised: shape (frames, dim)."""
    s = state[0]
    held = s.past[: s.seen if s.seen < s.minimum else 0]
    return np.asarray(held - s.total / max(1, s.seen), np.float32)


stream = stream_for(state_dtype())


def offline(features: npt.ArrayLike, window: int = WINDOW, minimum: int = MINIMUM) -> F32:
    """All frames, shape (frames, dim), normalised as the stream would: float32, the same shape."""
    x = np.array(features, np.float32, order="C")
    if x.ndim != 2:
        raise ValueError(f"features of shape {x.shape}: give (frames, dim)")
    state = fresh(x.shape[1], window, minimum)
    out = np.empty((len(x) + minimum, x.shape[1]), np.float32)
    frames = stream_for(state.dtype)(state, out, x)
    return np.concatenate([out[:frames], tail(state)])

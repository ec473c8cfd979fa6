"""Mel-frequency cepstral coefficients of a stream, with Kaldi's conventions: the cosine transform of log mel energies.

Orthonormal DCT-II, c[k] = sqrt(2 / M) sum_m ln(E[m]) cos(pi k (m + 1/2) / M), c[0] over sqrt(2) less; each c[k] is then
weighted with HTK's lifter 1 + L/2 sin(pi k / L). With `use_energy`, Kaldi's default, c[0] gives way to the log energy of
the frame, without its mean, before pre-emphasis and window. Framing and energies are those of `fbank`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from . import fbank, framing
from .edge import mono
from .jit import F32, State, f32, f32_2d, integer, kernel, record, record_dtype, reducing_word, word

LIFTER = 22.0  # HTK's and Kaldi's


@cache
def state_dtype(sample_rate: int = 16_000, num_mel: int = 23, num_ceps: int = 13) -> np.dtype[np.record]:
    """The record of a stream; 1 to num_mel cepstral coefficients."""
    if not 1 <= num_ceps <= num_mel:
        raise ValueError(f"num_ceps={num_ceps}: give 1 to {num_mel}, the number of mel bands")
    return record_dtype(
        ("fbank", fbank.state_dtype(sample_rate, num_mel)),
        ("log_mel", "f4", (num_mel,)),
        ("basis", "f4", (num_ceps, num_mel)),  # the cosines, liftered
        ("use_energy", "i8"),
    )


def fresh(
    sample_rate: int = 16_000,
    num_mel: int = 23,
    num_ceps: int = 13,
    window: str = "povey",
    *,
    use_energy: bool = True,
    lifter: float = LIFTER,
    **options: Any,
) -> State:
    """A stream before its first sample; lifter 0 means none, `options` are those of `fbank.fresh`."""
    state = np.zeros(1, state_dtype(sample_rate, num_mel, num_ceps))
    s = state[0]
    s.fbank = fbank.fresh(sample_rate, num_mel, window, **options)[0]
    k, m = np.arange(num_ceps)[:, None], np.arange(num_mel)
    basis = np.sqrt(2 / num_mel) * np.cos(np.pi * k * (m + 0.5) / num_mel)
    basis[0] /= np.sqrt(2)
    s.basis = basis * (1 + lifter / 2 * np.sin(np.pi * k / lifter) if lifter else 1)
    s.use_energy = use_energy
    return state


@reducing_word
def features(s: Any, out: Any, frame: Any) -> None:
    """One frame, shape (length,), to its cepstral coefficients, shape (num_ceps,)."""
    fbank.features(s.fbank, s.log_mel, frame)
    for k in range(len(s.basis)):
        c = np.float32(0)
        for m in range(len(s.log_mel)):
            c += s.basis[k, m] * s.log_mel[m]
        out[k] = c
    if s.use_energy:
        centred, energy = s.fbank.centred, np.float32(0)
        for i in range(len(centred)):
            energy += centred[i] * centred[i]
        out[0] = np.log(fbank.FLOOR if energy < fbank.FLOOR else energy)


@word
def push(s: Any, out: Any, x: Any) -> int:
    """As `stream`."""
    frames = 0
    start = 0
    while start < len(x):
        start = framing.fill(s.fbank.framing, x, start)
        if framing.whole(s.fbank.framing):
            features(s, out[frames], s.fbank.framing.frame)
            frames += 1
    return frames


@cache
def stream_for(dtype: np.dtype[np.record]) -> Callable[[State, F32, F32], int]:
    """The kernel for states of `dtype`, compiled at the first call."""

    @kernel(record(dtype), f32_2d, f32, returns=integer)
    def stream(state: State, out: F32, x: F32) -> int:
        """Coefficients of all frames that the block x, shape (n,), completes, into the first rows of out; returns how many.

        out: shape (n // hop + 1, num_ceps) or more.
        """
        return push(state[0], out, x)

    return stream


stream = stream_for(state_dtype())


def offline(
    x: npt.ArrayLike,
    sample_rate: int = 16_000,
    num_mel: int = 23,
    num_ceps: int = 13,
    window: str = "povey",
    **options: Any,
) -> F32:
    """Coefficients of a mono signal x, shape (n,), full scale 1 or int16: float32, shape (frames, num_ceps).

    `options` are those of `fresh`.
    """
    samples = mono(x)
    state = fresh(sample_rate, num_mel, num_ceps, window, **options)
    run = stream_for(state.dtype)
    out = np.empty((len(samples) // fbank.frame_and_hop(sample_rate)[1] + 3, num_ceps), np.float32)
    frames = run(state, out, samples)
    frames += run(state, out[frames:], framing.tail(state[0].fbank.framing))
    return out[:frames]

"""Speech that a recogniser has not understood, or is not sure of: what strict mode hides as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ...kernels.jit import F64
from .word import Word

FRAME = 320  # samples, 20 ms
SILENCE = -75.0  # dBFS of a frame: where none is louder there is nothing to recognise
_QUIET = -60.0  # dBFS: below it no speech is missed
_LOUD, _BELOW = 95, 25.0  # percentile of the frames of a window that is loud speech; dB below it where speech ends
_NEAR = 0.1  # seconds around a word that it covers: how far off its times are
_SHORTEST = 0.16  # seconds of speech without words that may be a word
_RATE = 16_000
Bools = npt.NDArray[np.bool_]


def levels(samples: np.ndarray[tuple[int], np.dtype[np.float32]]) -> F64:
    """Of each whole frame of shape (n,) the level in dBFS, -120 at least, shape (n // FRAME,)."""
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    return np.asarray(10 * np.log10(np.maximum(np.square(frames, dtype=np.float64).mean(1), 1e-12)))


def sounding(level: F64) -> Bools:
    """Which frames, by their `levels`, are as loud as speech; of none there are none."""
    return np.asarray(level > max(_QUIET, float(np.percentile(level, _LOUD)) - _BELOW)) if len(level) else np.zeros(0, bool)


def doubtful(level: F64, start: int, words: Sequence[Word], sure: float, since: int, until: int) -> Iterator[tuple[int, int]]:
    """Stretches in doubt: words less likely than `sure` that end from `since` on and before `until`, and speech without words.

    level: as `levels` gives it for samples from number `start` on. All numbers are samples.
    """
    for word in words:
        if word.probability < sure and since <= word.end < until:
            yield word.start, max(word.end, word.start + FRAME)
    if not len(level):
        return
    speech = sounding(level)
    at = start + FRAME * np.arange(len(level))
    speech &= (at >= since) & (at < until)
    near = round(_NEAR * _RATE)
    for word in words:
        speech &= (at + FRAME <= word.start - near) | (at >= word.end + near)
    edges = np.flatnonzero(np.diff(speech, prepend=False, append=False))
    for first, after in edges.reshape(-1, 2).tolist():
        if (after - first) * FRAME >= _SHORTEST * _RATE:
            yield start + first * FRAME, start + after * FRAME

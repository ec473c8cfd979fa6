"""A recording as analyses hear it: any file that can be read, all of its channels mixed or one of them, at 16 kHz."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..kernels import mix
from ..kernels.jit import F32
from .failure import FileFailure
from .reader import Reader

RATE = 16_000  # Hz


@dataclass(frozen=True)
class Heard:
    """What was read of a file."""

    samples: F32  # shape (n,), at RATE, finite
    rate: int  # Hz, the file's
    channels: int
    not_finite: int  # samples that were NaN or infinite: they are 0
    warnings: tuple[str, ...]  # one line each


def hear(path: str | os.PathLike[str], channel: int | None = None, most: float = float("inf")) -> Heard:
    """The first `most` seconds of an audio file: one channel, or, with None, their mix.

    FileFailure if it cannot be read or has no such channel.
    """
    import soxr

    with Reader(Path(path)) as reader:
        if channel is not None and not 0 <= channel < reader.channels:
            raise FileFailure(f"no channel {channel}", f"give 0 to {reader.channels - 1}")
        to_16k = soxr.ResampleStream(reader.rate, RATE, 1, dtype="float32")
        mixing, work = mix.fresh(reader.rate), mix.channels(reader.channels)
        parts: list[F32] = []
        not_finite = 0
        for block in reader.blocks():
            not_finite += block.size - int(np.count_nonzero(np.isfinite(block)))
            x = np.ascontiguousarray(np.nan_to_num(block.T, nan=0, posinf=0, neginf=0))
            if channel is None and len(x) > 1:
                mix.mix(mixing, *work, x, x.shape[1])
            parts.append(to_16k.resample_chunk(x[channel or 0]))
            if sum(map(len, parts)) >= most * RATE:
                break
        parts.append(to_16k.resample_chunk(np.zeros(0, np.float32), last=True))
        samples = np.concatenate(parts)
        if len(samples) > most * RATE:
            samples = samples[: int(most * RATE)]
        return Heard(samples, reader.rate, reader.channels, not_finite, tuple(reader.warnings))

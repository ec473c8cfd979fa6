"""The bundled clips as streams of blocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import as_file, files
from itertools import cycle
from typing import Any

import numpy as np

from ..kernels.jit import F32
from .timing import Case

RATE = 16_000


@cache
def clips() -> dict[str, F32]:
    """Utterance to samples, mono, 16 kHz."""
    import soundfile

    found = {}
    for resource in sorted(files(__package__).joinpath("clips").iterdir(), key=lambda r: r.name):
        if resource.name.endswith(".flac"):
            with as_file(resource) as path:
                found[path.stem] = soundfile.read(path, dtype="float32")[0]
    return found


@cache
def speech(rate: int = RATE) -> F32:
    """All clips in a row, 14 s, at `rate` Hz."""
    import soxr

    x = np.concatenate(list(clips().values()))
    return x if rate == RATE else np.asarray(soxr.resample(x, RATE, rate), np.float32)


def fed(step: Callable[[F32], Any], rate: int = RATE, blocks: int = 1) -> Case:
    """A case to time: each call hands the next `blocks` blocks of 10 ms of speech, as one, to `step`, round and round."""
    size = blocks * rate // 100
    x = speech(rate)
    parts = cycle([x[i : i + size].copy() for i in range(0, x.size - size + 1, size)])
    return Case(lambda: step(next(parts)), blocks)

"""Raw PCM through an engine, from one file descriptor to another, as it comes: between parec and pacat, inside ffmpeg.

What is there is read, anonymized and written at once, whatever its size; a frame that a read cuts in two is put together
with the next one. The delay is constant: the output starts with `latency` frames of silence and, when the input ends, the
last `latency` frames follow, so that frames out = frames in + latency. What a live source sends before the command is ready
(about a second) waits in the system's pipe, 64 KiB on Linux, and would make whatever plays the output late by as much, for
good: `live` drops it.
"""

from __future__ import annotations

import gc
import os
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernels import g711
from ..kernels.jit import F32
from .host import Engine
from .samples import written_as

# As much as a pipe holds on Linux: a file goes through in large steps, a sound card's 10 ms still come one by one.
_MOST_BYTES = 65536


@dataclass(frozen=True)
class Coding:
    """How samples stand in the bytes of a stream."""

    width: int  # bytes a sample
    decode: Callable[[bytes], npt.NDArray[Any]]  # to a dtype that the engine takes
    encode: Callable[[F32], npt.NDArray[Any]]


CODINGS = {
    "s16le": Coding(2, lambda b: np.frombuffer(b, "<i2"), lambda y: written_as(y, np.dtype("<i2"))),
    "f32le": Coding(4, lambda b: np.frombuffer(b, "<f4"), lambda y: y.astype("<f4")),
    "mulaw": Coding(1, lambda b: g711.decode(np.frombuffer(b, np.uint8), "mulaw"), lambda y: g711.encode(y, "mulaw")),
    "alaw": Coding(1, lambda b: g711.decode(np.frombuffer(b, np.uint8), "alaw"), lambda y: g711.encode(y, "alaw")),
}


def stream(engine: Engine, coding: Coding, source: int, sink: int, live: bool = False) -> int:
    """Run until `source` ends or nobody reads `sink` any more; returns how many bytes of an unfinished frame were dropped.

    `live`: leave out what waits in `source` now, whole frames of it, so that it does not become delay. OSError when the source
    or sink fails otherwise.
    """
    frame = coding.width * engine.channels
    rest = _newest(source, frame) if live else b""
    for fd in (source, sink):
        if hasattr(os, "set_blocking"):
            os.set_blocking(fd, True)  # whoever had it before may have left it without: nothing there yet would be an error

    def put(y: F32) -> None:
        data = memoryview(coding.encode(y).tobytes())
        while data:
            data = data[os.write(sink, data) :]

    with _no_garbage_collection():
        try:
            while new := os.read(source, _MOST_BYTES):
                rest += new
                whole = len(rest) // frame * frame
                x = coding.decode(rest[:whole])
                rest = rest[whole:]
                put(engine.process(x if engine.channels == 1 else x.reshape(-1, engine.channels)))
            put(engine.flush())
        except BrokenPipeError:
            return 0
    return len(rest)


def _newest(source: int, frame: int) -> bytes:
    """Read what is there without waiting for more; of it, the bytes that begin a frame which is not whole yet."""
    rest = b""
    while select.select([source], [], [], 0)[0]:
        new = os.read(source, _MOST_BYTES)
        if not new:
            break
        rest = (rest + new)[(len(rest) + len(new)) // frame * frame :]
    return rest


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A collection stops the stream for 20 to 60 ms; the loop makes no cycles, so it needs none."""
    was_on = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_on:
            gc.enable()

"""Callbacks that PortAudio calls from its own thread: `exchange`'s words, compiled for C.

They never take the GIL, so the device is served while Python computes, collects garbage or hangs. A callback written in
Python had 112 underflows beside a busy thread where these had none in 402.

Each takes as `userdata` the address of the state that `exchange.fresh` gives, whose block must outlive the stream, and as
`x` and `y` interleaved float32. `CAPTURE` does not touch y, nor `PLAY` x: they are NULL there.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import carray, types

from .exchange import HEAD, STATE, capture, count_flags, play
from .jit import F32, callback, word

CONTINUE = 0  # paContinue: the only answer, since a stream is ended from outside

_samples = types.CPointer(types.float32)
_ulong = numba.from_dtype(np.dtype("L"))  # C's: 32 bits on Windows
_stream_callback = callback(types.int32, _samples, _samples, _ulong, types.voidptr, _ulong, types.voidptr)


@word
def _memory(s: np.record, userdata: Any) -> F32:
    """The rings behind the state."""
    block: F32 = carray(userdata, HEAD + s.captured_size + s.playing_size + s.sent_size, np.float32)
    return block[HEAD:]


def _duplex(x: Any, y: Any, frames: int, time: Any, flags: int, userdata: Any) -> int:
    s = carray(userdata, 1, STATE)[0]
    memory = _memory(s, userdata)
    count_flags(s, flags)
    capture(s, memory, carray(x, np.int64(frames) * s.channels_in))
    play(s, memory, carray(y, np.int64(frames) * s.channels_out))
    return CONTINUE


def _capture(x: Any, y: Any, frames: int, time: Any, flags: int, userdata: Any) -> int:
    s = carray(userdata, 1, STATE)[0]
    count_flags(s, flags)
    capture(s, _memory(s, userdata), carray(x, np.int64(frames) * s.channels_in))
    return CONTINUE


def _play(x: Any, y: Any, frames: int, time: Any, flags: int, userdata: Any) -> int:
    s = carray(userdata, 1, STATE)[0]
    count_flags(s, flags)
    play(s, _memory(s, userdata), carray(y, np.int64(frames) * s.channels_out))
    return CONTINUE


DUPLEX = _stream_callback(_duplex)
CAPTURE = _stream_callback(_capture)
PLAY = _stream_callback(_play)

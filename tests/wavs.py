"""Audio files made byte by byte, sound and broken, so that tests of files need no folder of recordings."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt


def pcm16(x: npt.NDArray[np.float32]) -> bytes:
    return bytes(np.clip(np.rint(x * 32768.0), -32768, 32767).astype("<i2").tobytes())


def chunk(name: bytes, payload: bytes, size: int | None = None) -> bytes:
    """One RIFF chunk with its padding byte; `size` to tell a lie."""
    return struct.pack("<4sI", name, len(payload) if size is None else size) + payload + b"\0" * (len(payload) % 2)


def fmt(rate: int = 16_000, channels: int = 1, bits: int = 16, tag: int = 1) -> bytes:
    frame = channels * bits // 8
    wrapped = (rate * frame) % 2**32, frame % 2**16  # a made-up rate may be too large for its own field
    return chunk(b"fmt ", struct.pack("<HHIIHH", tag, channels, rate, *wrapped, bits))


def wav(
    samples: bytes,
    *,
    rate: int = 16_000,
    channels: int = 1,
    bits: int = 16,
    tag: int = 1,
    riff_size: int | None = None,
    data_size: int | None = None,
    before: Iterable[bytes] = (),
    after: Iterable[bytes] = (),
) -> bytes:
    """A WAV file; the sizes can be told wrong, and chunks can stand before and after the samples."""
    body = b"WAVE" + fmt(rate, channels, bits, tag) + b"".join(before) + chunk(b"data", samples, data_size) + b"".join(after)
    return struct.pack("<4sI", b"RIFF", len(body) if riff_size is None else riff_size) + body


def cues(positions: Iterable[int]) -> bytes:
    """A `cue ` chunk, whose place in a play list is left 0, as many writers leave it."""
    points = [struct.pack("<II4sIII", i + 1, 0, b"data", 0, 0, at) for i, at in enumerate(positions)]
    return chunk(b"cue ", struct.pack("<I", len(points)) + b"".join(points))


def chunks(data: bytes) -> dict[bytes, bytes]:
    """The chunks of a RIFF or FORM file of at most 4 GiB, by name."""
    order = ">" if data[:4] == b"FORM" else "<"
    found, at = {}, 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], struct.unpack(order + "I", data[at + 4 : at + 8])[0]
        found[name] = data[at + 8 : at + 8 + size]
        at += 8 + size + size % 2
    return found

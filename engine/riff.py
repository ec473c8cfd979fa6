"""The chunks of WAV files: what a header promises and what is there, and the edits after writing.

Sources: Microsoft and IBM, Multimedia Programming Interface 1.0 (RIFF, `cue `); EBU Tech 3306 (RF64, `ds64`); Apple, AIFF 1.3.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

LONGEST = 2**32 - 2**16  # bytes of samples that a header with 32-bit sizes can hold, other chunks included
_ELSEWHERE = 2**32 - 1  # a 32-bit size that stands in `ds64`, or that the writer to a pipe could not know
_ORDERS = {b"RIFF": "<", b"RF64": "<", b"RIFX": ">", b"FORM": ">"}
_EXTENSIBLE = 0xFFFE  # the format tag of WAVEX
_MOST_CHUNKS = 4096  # a made-up file could hold a billion empty ones
_MOST_CUES = 65_536


class Chunk(NamedTuple):
    name: bytes
    start: int  # of the payload, in bytes
    size: int  # as the file says

    @property
    def end(self) -> int:
        return self.start + self.size + self.size % 2


@dataclass(frozen=True)
class WavHeader:
    """What the header of a WAV, WAVEX or RF64 file says, and what is there; sizes in bytes."""

    long: bool  # RF64
    order: str  # "<", or ">" in a RIFX file
    fmt: bytes  # payload of the `fmt ` chunk
    start: int  # of the samples; 0: no place for samples
    promised: int | None  # samples by the header; None: it was written before the length was known
    present: int  # from the start of the samples to the end of the file
    cues: tuple[int, ...]  # positions in frames

    @property
    def channels(self) -> int:
        return self._number("H", 2)

    @property
    def rate(self) -> int:
        return self._number("I", 4)

    @property
    def frame(self) -> int:
        """Bytes a frame, of a block with a compressed codec; at least 1."""
        return max(self._number("H", 12), 1)

    @property
    def container(self) -> str:
        """In libsndfile's words."""
        return "RF64" if self.long else "WAVEX" if self._number("H", 0) == _EXTENSIBLE else "WAV"

    @property
    def channel_mask(self) -> int:
        """Which loudspeakers the channels are meant for; 0: not said."""
        return self._number("I", 20) if self._number("H", 0) == _EXTENSIBLE else 0

    def _number(self, kind: str, at: int) -> int:
        field = self.fmt[at : at + struct.calcsize(kind)]
        return int(struct.unpack(self.order + kind, field)[0]) if len(field) == struct.calcsize(kind) else 0


def walk(file: BinaryIO) -> Iterator[Chunk]:
    """The chunks of a RIFF, RIFX, RF64 or FORM file, up to where it ends or makes no sense any more."""
    file.seek(0)
    order = _ORDERS[file.read(4)]
    position, long_size = 12, _ELSEWHERE
    for _ in range(_MOST_CHUNKS):
        file.seek(position)
        head = file.read(8)
        if len(head) < 8 or not head[:4].isascii() or not head[:4].decode().isprintable():
            return
        name, size = head[:4], int(struct.unpack(order + "I", head[4:])[0])
        if name == b"ds64":
            long_size = int(struct.unpack("<Q", file.read(16)[8:].ljust(8, b"\0"))[0])
        elif name == b"data" and size == _ELSEWHERE:
            size = long_size
        chunk = Chunk(name, position + 8, size)
        yield chunk
        position = chunk.end


def read_header(file: BinaryIO) -> WavHeader | None:
    """The header of `file`, or None if this is no WAV file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = file.read(12)
    if head[:4] not in (b"RIFF", b"RIFX", b"RF64") or head[8:] != b"WAVE":
        return None
    order = _ORDERS[head[:4]]
    declared = int(struct.unpack(order + "I", head[4:8])[0])
    fmt, data, end = b"", Chunk(b"", 0, 0), 12
    cues: tuple[int, ...] = ()
    for chunk in walk(file):
        end = chunk.end
        file.seek(chunk.start)
        if chunk.name == b"ds64":
            declared = int(struct.unpack("<Q", file.read(8).ljust(8, b"\0"))[0])
        elif chunk.name == b"fmt ":
            fmt = file.read(min(chunk.size, 64))
        elif chunk.name == b"cue ":
            cues = _cues(file.read(min(chunk.size, 4 + 24 * _MOST_CUES)), order)
        elif chunk.name == b"data" and not data.start:
            data = chunk
    present = max(size - data.start, 0)
    whole = abs(end - size) <= 1  # the chunks end with the file, give or take a padding byte
    unknown = data.size in (_ELSEWHERE, 2**64 - 1)  # written to a pipe
    unclosed = data.size == 0 and not (whole and abs(declared + 8 - size) <= 1)  # the writer was stopped
    wrapped = size > LONGEST and head[:4] != b"RF64" and not whole and data.size < present  # over 4 GiB, kept modulo 4 GiB
    if unclosed and whole:  # other chunks follow at once: nothing was recorded
        present = 0
    promised = None if unknown or unclosed or wrapped else data.size
    return WavHeader(head[:4] == b"RF64", order, fmt, data.start, promised, present, cues)


def mended(file: BinaryIO, header: WavHeader) -> BinaryIO:
    """`file` as it would read had its writer known the length: a plain header, and samples to the end of the file."""
    size, fmt = header.present, struct.pack(header.order + "4sI", b"fmt ", len(header.fmt)) + header.fmt
    fmt += b"\0" * (len(fmt) % 2)
    if size <= LONGEST or header.order == ">":  # there is no RF64 with the high byte first
        size = min(size, LONGEST)
        name = b"RIFF" if header.order == "<" else b"RIFX"
        head = struct.pack(header.order + "4sI4s", name, 4 + len(fmt) + 8 + size, b"WAVE") + fmt
        head += struct.pack(header.order + "4sI", b"data", size)
    else:
        ds64 = struct.pack("<4sIQQQI", b"ds64", 28, 4 + 36 + len(fmt) + 8 + size, size, size // header.frame, 0)
        head = struct.pack("<4sI4s", b"RF64", _ELSEWHERE, b"WAVE") + ds64 + fmt + struct.pack("<4sI", b"data", _ELSEWHERE)
    return io.BufferedReader(_Headed(head, file, header.start))


class _Headed(io.RawIOBase):
    """`head`, then `file` from byte `start` on, as one file."""

    def __init__(self, head: bytes, file: BinaryIO, start: int) -> None:
        self._head, self._file, self._start = head, file, start
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_END:
            offset += self._file.seek(0, os.SEEK_END) - self._start + len(self._head)
        self._position = offset + (self._position if whence == os.SEEK_CUR else 0)
        return self._position

    def readinto(self, buffer: Any) -> int:
        if self._position < len(self._head):
            part = self._head[self._position : self._position + len(buffer)]
        else:
            self._file.seek(self._position - len(self._head) + self._start)
            part = self._file.read(len(buffer))
        buffer[: len(part)] = part
        self._position += len(part)
        return len(part)


def finish(file: BinaryIO, frames: int, channel_mask: int = 0, cues: Sequence[int] = ()) -> None:
    """Edit a WAV or AIFF file of `frames` frames that libsndfile has just written, where libsndfile offers no way.

    The time of writing goes out of `PEAK`, since it would make two equal runs differ; an AIFF file of an odd number of bytes
    gets back its exact length; loudspeakers and cue positions (without labels) go in.
    """
    file.seek(0)
    order = _ORDERS[file.read(4)]
    found = {chunk.name: chunk for chunk in walk(file)}
    if peak := found.get(b"PEAK"):
        _put(file, peak.start + 4, order + "I", 0)
    if comm := found.get(b"COMM"):
        file.seek(comm.start)
        channels, counted = struct.unpack(">HI", file.read(6))
        if channels == 1 and counted == frames + 1:
            _put(file, comm.start + 2, ">I", frames)
            _put(file, found[b"SSND"].start - 4, ">I", found[b"SSND"].size - 1)
    if channel_mask and (fmt := found.get(b"fmt ")) and fmt.size >= 40:
        _put(file, fmt.start + 20, order + "I", channel_mask)
    if cues:
        file.seek(0, os.SEEK_END)  # even: libsndfile pads
        points = b"".join(struct.pack(order + "II4sIII", i + 1, at, b"data", 0, 0, at) for i, at in enumerate(cues))
        file.write(struct.pack(order + "4sII", b"cue ", 4 + len(points), len(cues)) + points)
        end = file.tell()
        if ds64 := found.get(b"ds64"):
            _put(file, ds64.start, "<Q", end - 8)
        else:
            _put(file, 4, order + "I", end - 8)


def shorten(file: BinaryIO) -> None:
    """Make an RF64 file that `walk` can read the WAV file that it could have been, if its sizes fit in 32 bits.

    As EBU Tech 3306 has it for recorders, which do not know the length when they begin: `ds64` becomes `JUNK`.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size > LONGEST or file.read(4) != b"RF64":
        return
    found = {chunk.name: chunk for chunk in walk(file)}
    _put(file, found[b"data"].start - 4, "<I", found[b"data"].size)
    _put(file, found[b"ds64"].start - 8, "4s", b"JUNK")
    _put(file, 4, "<I", size - 8)
    _put(file, 0, "4s", b"RIFF")


def _cues(payload: bytes, order: str) -> tuple[int, ...]:
    """Positions in a `cue ` chunk: the offset into the samples, and nothing else of it."""
    count = min(struct.unpack(order + "I", payload[:4])[0], (len(payload) - 4) // 24) if len(payload) >= 4 else 0
    return tuple(struct.unpack_from(order + "I", payload, 4 + 24 * i + 20)[0] for i in range(count))


def _put(file: BinaryIO, at: int, kind: str, value: int | bytes) -> None:
    file.seek(at)
    file.write(struct.pack(kind, value))

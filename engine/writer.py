"""The output file: whole under its name, or not there at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..kernels.jit import F32
from .failure import FileFailure
from .form import SHORT_HEADERS, Form, size_of
from .riff import LONGEST, finish, shorten

try:
    import fcntl
except ImportError:  # Windows, which lets nobody delete a file that is open
    fcntl = None  # type: ignore[assignment]

_FLOATS = ("FLOAT", "DOUBLE")
_LOSSY = ("VORBIS", "OPUS", "MPEG_LAYER_III")  # these take floats; all others get integers
_BITS = {"PCM_S8": 8, "PCM_U8": 8, "PCM_24": 24, "PCM_32": 32}  # the rest: 16
_IN_BLOCKS = (
    "GSM610",
    "IMA_ADPCM",
    "MS_ADPCM",
    "G721_32",
    "G723_24",
    "G723_40",
    "NMS_ADPCM_16",
    "NMS_ADPCM_24",
    "NMS_ADPCM_32",
)

WITH_CUES = ("WAV", "WAVEX", "RF64")

_cleaned: set[Path] = set()  # folders, once a run


class Writer:
    """One output, written under a temporary name beside its target; `commit` gives it its name, anything else leaves nothing.

    Integers are rounded and saturate here, so that no codec wraps. Samples and their form are all that is written: no tags,
    no names, no dates. A run that is killed leaves `.velavox-*.part`, which the next run that writes to that folder removes.

    Attributes:
        frames: written so far.
        clipped: samples beyond full scale, brought back to it.
        warnings: one line each, complete after `commit`.
    """

    def __init__(self, target: Path, form: Form, rate: int, channels: int) -> None:
        """Raises FileFailure where the place or the codec refuses."""
        self.frames, self.clipped = 0, 0
        self.warnings: list[str] = []
        self._target, self._form = target, form
        self._file: FileIO | None = None
        self._path = target
        try:
            self._open(rate, channels)
        except BaseException:  # Ctrl-C, too, at whatever moment
            self._discard()
            raise

    def _open(self, rate: int, channels: int) -> None:
        import soundfile

        folder, form = self._target.parent, self._form
        try:
            if self._target.is_dir():
                raise FileFailure("a folder has the output's name", "give another name")
            folder.mkdir(parents=True, exist_ok=True)
            if folder not in _cleaned:
                clean(folder)
                _cleaned.add(folder)
            self._file = self._reserve(folder)
        except OSError as error:
            raise FileFailure.of(error) from error
        try:
            self._sound = soundfile.SoundFile(
                self._file.fileno(), "w", rate, channels, form.subtype, form.endian, form.container, closefd=False
            )
        except soundfile.SoundFileError as error:
            refused = f"{form.container} {form.subtype} does not take {channels} channel(s) at {rate} Hz"
            raise FileFailure(refused, "end the output's name in .wav") from error

    def _reserve(self, folder: Path) -> FileIO:
        """A new file of a free temporary name in `folder`, locked."""
        while True:
            self._path = folder / f".velavox-{secrets.token_hex(8)}.part"  # known before it is there, to be removed
            file = self._path.open("x+b", buffering=0)
            if fcntl is not None:
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(file, fcntl.LOCK_EX)
            if self._path.exists():  # else another run took it for a leftover before it was locked
                return file
            file.close()

    def write(self, y: F32) -> None:
        """Append y, shape (frames, channels), full scale 1; FileFailure if it cannot be stored."""
        import soundfile

        frames = self.frames + len(y)
        size = size_of(self._form.subtype, frames, y.shape[1])
        if self._form.container in SHORT_HEADERS and size > LONGEST:
            raise FileFailure(f"over 4 GiB, which {self._form.container} cannot hold", "end the output's name in .w64 or .flac")
        try:
            self._sound.write(self._stored(y))
        except (soundfile.SoundFileError, AssertionError) as error:  # it asserts that all frames went out
            raise FileFailure(*_NOT_WHOLE) from error
        self.frames = frames

    def cut(self) -> bool:
        """After a `write` that failed: take back what there is of it, so that `commit` keeps what came before.

        False if nothing came, or the codec packs frames together: FLAC, Vorbis, Opus, MP3.
        """
        import soundfile

        try:
            self._sound.truncate(self.frames)
        except soundfile.SoundFileError:
            return False
        return self.frames > 0

    def forget(self) -> None:
        """Take its temporary name away while another thread may hang in writing or committing it: no file comes of it."""
        if self._path != self._target:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def commit(self, channel_mask: int = 0, cues: Sequence[int] = (), short: bool = False) -> None:
        """Close, check and name the file. `cues` are frame numbers, and for WAV, WAVEX and RF64 only, as `channel_mask` is.

        `short`: an RF64 file that could be a WAV file becomes one.
        """
        import soundfile

        assert self._file is not None
        try:
            self._sound.close()
            if self._form.container in (*WITH_CUES, "AIFF"):
                finish(self._file, self.frames, channel_mask, cues)
            if short:
                shorten(self._file)
            self._file.seek(0)
            with soundfile.SoundFile(self._file.fileno(), closefd=False) as written:
                extra = written.frames - self.frames
                lost = extra < 0
                if self.frames and not lost and written.seekable():
                    written.seek(self.frames - 1)  # MP3 announces its length at the start: is the last frame there?
                    lost = len(written.read(1)) == 0
            os.fsync(self._file.fileno())
            if lost or (extra and self._form.subtype not in _IN_BLOCKS):
                raise FileFailure(*_NOT_WHOLE)
            if extra:
                self.warnings.append(f"{extra} frames of silence added at the end: {self._form.subtype} stores whole blocks")
            self._file.close()
            os.replace(self._path, self._target)
        except OSError as error:
            raise FileFailure.of(error) from error
        except soundfile.SoundFileError as error:
            if self.frames == 0:
                raise FileFailure(f"no sample in it, and {self._form.container} has no empty files", "leave it out") from error
            raise FileFailure(*_NOT_WHOLE) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        from soundfile import SoundFileError

        with suppress(SoundFileError):  # it was writing to a full disk
            self._sound.close()
        self._discard()

    def _discard(self) -> None:
        if self._file is not None:
            self._file.close()
        self.forget()

    def _stored(self, y: F32) -> npt.NDArray[Any]:
        """y as the codec takes it, within full scale."""
        subtype = self._form.subtype
        if subtype in _FLOATS:
            return y
        self.clipped += int(np.count_nonzero(np.abs(y) > 1))
        if subtype in _LOSSY:
            return np.clip(y, -1, 1)
        bits = _BITS.get(subtype, 16)
        width, kind = (16, np.int16) if bits <= 16 else (32, np.int32)
        full = 2.0 ** (bits - 1)
        steps = np.clip(np.rint(y * full, dtype=np.float64), -full, full - 1)
        stored: npt.NDArray[Any] = steps.astype(kind) << (width - bits)
        return stored


_NOT_WHOLE = ("the output could not be written whole", "free space where the output goes")


def clean(folder: Path) -> None:
    """Remove what killed runs have left in `folder`; what a living one writes is locked, and stays."""
    for path in folder.glob(".velavox-*.part"):
        with suppress(OSError):
            if fcntl is None:
                path.unlink()
                continue
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()

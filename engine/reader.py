"""Any audio file as a stream of float32 blocks, in constant memory, broken headers included."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self

import numpy as np

from ..kernels.guard import SCALE_LIMIT
from ..kernels.jit import F32
from .failure import FileFailure
from .ffmpeg import Ffmpeg
from .resample import HIGHEST, LOWEST
from .riff import WavHeader, mended, read_header

if TYPE_CHECKING:
    import soundfile

BLOCK = 16_384  # frames
MOST_CHANNELS = 64  # a seventh-order ambisonic recording
# Containers with a signature that libsndfile also writes. It knows more, some of which it takes from a few bytes that also
# occur by chance in headerless samples.
CONTAINERS = ("WAV", "WAVEX", "RF64", "W64", "AIFF", "CAF", "AU", "FLAC", "OGG", "MP3", "NIST")
_LARGEST_EMPTY = 16_384  # bytes: a longer file that claims to hold no sample is broken
_NOT_KNOWN = 1  # libsndfile's SF_ERR_UNRECOGNISED_FORMAT
_UNKNOWN = 2**62  # frames: libsndfile's word for a FLAC stream without a length is near 2**63
# Decoded length may fall short of the announced one by this many seconds without being cut: MP3 files without a Xing
# header and MP4 durations are estimates, up to two frames (2 x 72 ms at 8 kHz) too long.
_TOLERANCE = 0.25
# In libsndfile's log where a header announces another length than the file has, and where an Ogg stream breaks off.
_DIFFER = ("should be", "lacks an end-of-stream bit")

_NO_LENGTH = "the header gives no length (a stream, or never closed): read to the end of the file"
_NO_SAMPLE = ("no readable sample: a header at most", "copy or record it again")


class Reader:
    """One open file.

    Attributes:
        rate: Hz; `channels`: count.
        frames: what the file announces, None if it does not; the blocks may give fewer, or more.
        container, subtype, endian: libsndfile's words; container "" if ffmpeg reads.
        channel_mask, cues: of WAV files; cues are frame numbers.
        warnings: one line each, complete when the last block has been read.
    """

    def __init__(self, path: Path) -> None:
        """Open by content, whatever the name says. Raises FileFailure if there is no readable sample."""
        self.warnings: list[str] = []
        self.channel_mask, self.cues = 0, ()  # type: tuple[int, tuple[int, ...]]
        with ExitStack() as opened:
            try:
                status = path.stat()
                if not stat.S_ISREG(status.st_mode):
                    raise FileFailure("not a regular file", "give a file, or a folder of files")
                if status.st_size == 0:
                    raise FileFailure("empty file of 0 bytes", "copy or record it again")
                file = opened.enter_context(path.open("rb", buffering=0))
                self._open(path, file, status.st_size, opened)
            except OSError as error:
                raise FileFailure.of(error) from error
            self._opened = opened.pop_all()

    def blocks(self) -> Iterator[F32]:
        """Blocks of shape (frames, channels), full scale 1, each valid until the next; FileFailure on integer-valued floats."""
        out = np.empty((BLOCK, self.channels), np.float32)
        done = 0
        while count := self._source.read(out):
            _refuse_integers(out[:count])
            done += count
            yield out[:count]
        if not done and self.frames != 0:
            raise FileFailure(*_NO_SAMPLE)
        if self.frames is not None and done < self.frames - _TOLERANCE * self.rate:
            found = f"{done / self.rate:.2f} s of {self.frames / self.rate:.2f} s could be read"
            self.warnings.append(f"damaged or cut short: {found}; processed as far as it goes")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._opened.close()

    def _open(self, path: Path, file: BinaryIO, size: int, opened: ExitStack) -> None:
        import soundfile

        # As a number, so that libsndfile sees no name: it would look for a resource fork beside it, "._name".
        stream: int | BinaryIO = file.fileno()
        header = read_header(file)
        if header is not None:
            self.channel_mask, self.cues = header.channel_mask, header.cues
            stream = self._judge(header, file)
        file.seek(0)
        sound = None
        try:
            sound = opened.enter_context(soundfile.SoundFile(stream, closefd=False))
        except soundfile.LibsndfileError as error:
            if error.code != _NOT_KNOWN:
                self.warnings.append("libsndfile cannot read it: read by ffmpeg, as far as it goes")
        if sound is None or sound.format not in CONTAINERS or sound.subtype == "ALAC_32":  # which libsndfile 1.2.2 garbles
            self._take_ffmpeg(path, opened)
        else:
            self._take_libsndfile(sound, header, size)

    def _take_libsndfile(self, sound: soundfile.SoundFile, header: WavHeader | None, size: int) -> None:
        _check_shape(sound.samplerate, sound.channels)
        self._source: _Libsndfile | Ffmpeg = _Libsndfile(sound)
        self.rate, self.channels = sound.samplerate, sound.channels
        self.container = sound.format if header is None else header.container
        self.subtype, self.endian = sound.subtype, sound.endian
        self.frames: int | None = sound.frames if sound.frames < _UNKNOWN else None
        if self.frames is None:
            self.warnings.append(_NO_LENGTH)
        if header is None and any(words in sound.extra_info for words in _DIFFER):
            if self.frames == 0:
                raise FileFailure(*_NO_SAMPLE)
            self.warnings.append("header and file differ in length: cut short, or never closed; processed as far as it goes")
        empty = header is not None and header.promised == 0
        if self.frames == 0 and not empty and (header is not None or size > _LARGEST_EMPTY or self.container == "NIST"):
            raise FileFailure(*_NO_SAMPLE)

    def _judge(self, header: WavHeader, file: BinaryIO) -> int | BinaryIO:
        """What libsndfile shall read for a WAV file with this header: the file itself, or the file with a mended header."""
        if not header.start or (not header.present and header.promised != 0):
            raise FileFailure(*_NO_SAMPLE)
        _check_shape(header.rate, header.channels)
        if header.promised is None:
            self.warnings.append(_NO_LENGTH)
            return mended(file, header)
        if header.promised > header.present:
            sizes = f"{header.promised} bytes of samples are announced, {header.present} are there"
            self.warnings.append(f"cut short: {sizes}; processed as far as it goes")
        return file.fileno()

    def _take_ffmpeg(self, path: Path, opened: ExitStack) -> None:
        source = Ffmpeg(path)
        opened.callback(source.close)
        _check_shape(source.rate, source.channels)
        self._source = source
        self.rate, self.channels, self.frames = source.rate, source.channels, source.frames
        self.container, self.subtype, self.endian = "", source.subtype, "FILE"
        if source.others:
            self.warnings.append(
                f"{source.others} other track(s), such as pictures, left out: only the first sound track is kept"
            )


class _Libsndfile:
    def __init__(self, sound: soundfile.SoundFile) -> None:
        self._sound = sound
        self._broken = False

    def read(self, out: F32) -> int:
        """Fill `out`, shape (frames, channels); the number of frames that came, 0 at the end."""
        if self._broken:
            return 0
        import soundfile

        out.fill(np.nan)
        try:
            return len(self._sound.read(out=out))
        except soundfile.SoundFileError:  # what came before the damage is in `out`
            self._broken = True
            return int(np.argmax(np.append(np.isnan(out[:, 0]), True)))


def _check_shape(rate: int, channels: int) -> None:
    if not LOWEST <= rate <= HIGHEST:
        raise FileFailure(f"sampling rate of {rate} Hz", f"give audio of {LOWEST} to {HIGHEST} Hz, or mend the header")
    if not 1 <= channels <= MOST_CHANNELS:
        raise FileFailure(f"{channels} channels", f"give audio of 1 to {MOST_CHANNELS} channels, or mend the header")


def _refuse_integers(block: F32) -> None:
    """Floats that are an integer recording's values would come out as noise at full scale."""
    peak = np.fmax.reduce(np.abs(block), axis=None)
    if peak < 2:
        return
    finite = block[np.isfinite(block)]
    if finite.size and (np.abs(finite).max() > SCALE_LIMIT or np.array_equal(finite, np.rint(finite))):
        raise FileFailure(
            f"float samples reach {np.abs(finite).max():.6g} where full scale is 1: integer values, most likely",
            "divide them by their full scale (32768 for 16 bits) and try again",
        )

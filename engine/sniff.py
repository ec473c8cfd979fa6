"""Which files in a folder are recordings, and how the output's name has to end: by name, else by the first bytes."""

from __future__ import annotations

from pathlib import Path

from .form import CONTAINERS

# Endings taken for audio without a look inside, beside those of `CONTAINERS`. These become WAV:
CONVERTED = frozenset(".m4a .m4b .mp4 .m4v .mov .3gp .webm .mka .mkv .aac .ac3 .wma .amr .avi .ape .wv .tta".split())  # noqa: SIM905
# These have no header: a failure with its remedy, not something to pass over in silence.
REFUSED = frozenset({".raw", ".pcm"})


def ending(path: Path) -> str | None:
    """The ending of the output: the file's own where that container can be written, .wav where not; None: it is no audio.

    By the file's own ending or, where that says nothing, by its first bytes. One that cannot be read, or is no file (to open a
    pipe may take forever), keeps its own: it fails where it is told.
    """
    own = path.suffix.lower()
    if own in CONVERTED:
        return ".wav"
    if own in REFUSED or own in CONTAINERS:
        return path.suffix
    try:
        if not path.is_file():
            return path.suffix
        with path.open("rb") as file:
            head = file.read(16)
    except OSError:
        return path.suffix
    return path.suffix if can_be_written(head) else ".wav" if can_be_converted(head) else None


def can_be_written(head: bytes) -> bool:
    """The first 16 bytes are those of a container that is also an output's."""
    if head[:4] in (b"RIFF", b"RIFX", b"RF64", b"FORM"):
        return head[8:12] in (b"WAVE", b"AIFF", b"AIFC")
    mp3 = len(head) > 2 and head[0] == 0xFF and head[1] & 0xE6 in (0xE2, 0xE4) and head[2] >> 4 not in (0, 15)
    return mp3 or head.startswith((b"fLaC", b"OggS", b"ID3", b".snd", b"caff", b"NIST_1A", b"riff\x2e\x91\xcf\x11"))


def can_be_converted(head: bytes) -> bool:
    """The first 16 bytes are those of sound, or of video with sound, that only ffmpeg reads."""
    if head[4:8] == b"ftyp":  # MP4 and kin; HEIC and AVIF pictures use the same box
        return head[8:12] in (b"M4A ", b"M4B ", b"isom", b"iso2", b"mp41", b"mp42", b"qt  ", b"3gp4", b"3gp5", b"dash")
    return head.startswith((b"\x1a\x45\xdf\xa3", b"#!AMR"))

"""Which container and codec an output gets: its source's wherever libsndfile can write them, else the nearest.

The rules, in order:

- The same ending as the source, or none: the source's container, whatever the ending says (a WAV file named .mp3 stays WAV,
  one named Jane.Example also under a name without an ending).
- Another ending: the container of that ending; .wav covers WAV, WAVEX and RF64.
- The source's codec where the container takes it. Else 24 bits for what has more than 16, else the container's usual codec
  (PCM_16, Vorbis, MP3). A float source in FLAC, which has no floats, becomes 24 bits; MPEG layers I and II become layer III;
  ALAC of more than 16 bits becomes PCM, which holds the same samples.
- What only ffmpeg reads (M4A, MP4, WebM, ...) cannot be written so: the target's ending has to be one of `CONTAINERS`, and the
  codec is PCM of 16 bits, or 24 where the source has more (ALAC).
- WAV and WAVEX over 4 GiB, or of unknown length, become RF64.

Codecs of whole blocks (GSM 6.10, IMA and MS ADPCM, G.72x) are padded with silence to their block by libsndfile, with a
warning. Opus takes 8, 12, 16, 24 and 48 kHz only, MP3 up to 48 kHz and two channels, FLAC up to eight channels.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .failure import FileFailure
from .riff import LONGEST

# By ending: the container, and its usual codec.
CONTAINERS = {
    ".wav": ("WAV", "PCM_16"),
    ".wave": ("WAV", "PCM_16"),
    ".bwf": ("WAV", "PCM_16"),
    ".rf64": ("RF64", "PCM_16"),
    ".w64": ("W64", "PCM_16"),
    ".aif": ("AIFF", "PCM_16"),
    ".aiff": ("AIFF", "PCM_16"),
    ".aifc": ("AIFF", "PCM_16"),
    ".caf": ("CAF", "PCM_16"),
    ".au": ("AU", "PCM_16"),
    ".snd": ("AU", "PCM_16"),
    ".sph": ("NIST", "PCM_16"),
    ".flac": ("FLAC", "PCM_16"),
    ".ogg": ("OGG", "VORBIS"),
    ".oga": ("OGG", "VORBIS"),
    ".opus": ("OGG", "OPUS"),
    ".mp3": ("MP3", "MPEG_LAYER_III"),
}
_USUAL = dict(reversed(CONTAINERS.values()))
_WAV = ("WAV", "WAVEX", "RF64")
_DEEP = ("PCM_24", "PCM_32", "FLOAT", "DOUBLE")
_INSTEAD = {"ALAC_20": "PCM_24", "ALAC_24": "PCM_24", "ALAC_32": "PCM_32"}  # libsndfile 1.2.2 garbles all but the first channel
# Listed by libsndfile, but it writes none of them.
_REFUSED = {("MP3", "MPEG_LAYER_I"), ("MP3", "MPEG_LAYER_II"), ("WAV", "MPEG_LAYER_III")}
_REFUSED |= {("AIFF", f"DWVW_{bits}") for bits in (12, 16, 24)}
_BYTES = {"PCM_S8": 1, "PCM_U8": 1, "ULAW": 1, "ALAW": 1, "PCM_16": 2, "PCM_24": 3, "PCM_32": 4, "FLOAT": 4, "DOUBLE": 8}
SHORT_HEADERS = ("WAV", "WAVEX", "AIFF", "AU")  # sizes of 32 bits


class Form(NamedTuple):
    """In libsndfile's words."""

    container: str
    subtype: str
    endian: str = "FILE"


def form_for(source: Form, source_name: Path, target_name: Path, frames: int | None, channels: int) -> Form:
    """The form of an output of `frames` frames (None: not known) for a source of this form (container "": by ffmpeg).

    Raises FileFailure if the target's ending names nothing that can be written.
    """
    import soundfile

    ending = target_name.suffix.lower()
    if source.container and ending in ("", source_name.suffix.lower()):
        container = source.container
    elif ending in CONTAINERS:
        container = source.container if source.container in _WAV and CONTAINERS[ending][0] == "WAV" else CONTAINERS[ending][0]
    else:
        raise FileFailure(f"sound cannot be written as {ending or 'a file without an ending'}", "end the output's name in .wav")
    usual = "OPUS" if ending == ".opus" else _USUAL.get(container, "PCM_16")
    codec = _INSTEAD.get(source.subtype, source.subtype)
    wanted = [codec, "PCM_24", usual] if codec in _DEEP else [codec, usual]
    known = soundfile.available_subtypes(container)
    subtype = next(s for s in wanted if s in known and (container, s) not in _REFUSED)
    container = container_for(container, subtype, frames, channels)
    endian = source.endian if soundfile.check_format(container, subtype, source.endian) else "FILE"
    return Form(container, subtype, endian)


def container_for(container: str, subtype: str, frames: int | None, channels: int) -> str:
    """RF64 in place of WAV or WAVEX where a header of 32-bit sizes may not do: a length over 4 GiB, or an unknown one."""
    if container not in ("WAV", "WAVEX") or subtype not in _BYTES:
        return container
    return container if frames is not None and size_of(subtype, frames, channels) <= LONGEST else "RF64"


def size_of(subtype: str, frames: int, channels: int) -> int:
    """Bytes of samples; compressed codecs stay below one byte a sample."""
    return frames * channels * _BYTES.get(subtype, 1)

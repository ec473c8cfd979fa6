"""The reader against files of every kind, sound and broken."""

from __future__ import annotations

import io
import shutil
import struct
import subprocess
import tracemalloc
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile as sf
import wavs
from signals import noise, tone, voice
from velavox.engine.failure import FileFailure
from velavox.engine.reader import BLOCK, Reader
from velavox.engine.riff import walk

pytestmark = pytest.mark.nojit
F32 = npt.NDArray[np.float32]

FFMPEG = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")


def read(path: Path) -> tuple[F32, Reader]:
    """All of a file, shape (frames, channels)."""
    with Reader(path) as reader:
        parts = [block.copy() for block in reader.blocks()]
    assert all(len(part) <= BLOCK for part in parts)
    return np.concatenate([np.zeros((0, reader.channels), np.float32), *parts]), reader


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.fixture
def speech() -> F32:
    """1.5 s at 16 kHz, on the 16-bit grid."""
    return np.asarray(np.rint(voice(1.5) * 32768) / 32768, np.float32)


@pytest.mark.parametrize(
    ("container", "subtype"),
    [
        *(("WAV", s) for s in ("PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE")),
        *((c, "PCM_16") for c in ("WAVEX", "RF64", "W64", "AIFF", "CAF", "AU", "FLAC", "NIST")),
    ],
)
def test_lossless_forms_are_read_exactly_and_named(tmp_path: Path, speech: F32, container: str, subtype: str) -> None:
    stereo = np.stack([speech, -speech], axis=1)
    sf.write(tmp_path / "a", stereo, 22_050, format=container, subtype=subtype)
    y, reader = read(tmp_path / "a")
    np.testing.assert_array_equal(y, stereo)
    assert (reader.container, reader.subtype, reader.rate, reader.frames) == (container, subtype, 22_050, len(stereo))
    assert reader.warnings == []


@pytest.mark.parametrize(("container", "subtype"), [("MP3", "MPEG_LAYER_III"), ("OGG", "OPUS"), ("OGG", "VORBIS")])
def test_compressed_speech_keeps_length_and_place(tmp_path: Path, container: str, subtype: str) -> None:
    x = voice(2.0, rate=48_000)[:-77]
    sf.write(tmp_path / "a", x, 48_000, format=container, subtype=subtype)
    y, _ = read(tmp_path / "a")
    assert len(y) == len(x)
    assert abs(lag(x, y[:, 0])) <= 48  # 1 ms


def lag(x: F32, y: F32) -> int:
    """Samples by which y is late against x."""
    n = min(len(x), len(y))
    spectrum = np.conj(np.fft.rfft(x[:n], 2 * n)) * np.fft.rfft(y[:n], 2 * n)
    at = int(np.argmax(np.fft.irfft(spectrum)))
    return at if at < n else at - 2 * n


def test_content_decides_not_the_name(tmp_path: Path, speech: F32) -> None:
    y, reader = read(put(tmp_path / "a.mp3", wavs.wav(wavs.pcm16(speech))))
    np.testing.assert_array_equal(y[:, 0], speech)
    assert reader.container == "WAV"


@pytest.mark.parametrize(
    ("riff_size", "data_size"), [(0, 0), (None, 0), (2**32 - 1, 2**32 - 1), (None, 2**32 - 1), (36, 0), (2**32 - 1, 0)]
)
def test_a_header_without_a_length_is_recovered(tmp_path: Path, speech: F32, riff_size: int | None, data_size: int) -> None:
    path = put(tmp_path / "a.wav", wavs.wav(wavs.pcm16(speech), riff_size=riff_size, data_size=data_size))
    y, reader = read(path)
    np.testing.assert_array_equal(y[:, 0], speech)
    assert reader.frames == len(speech)
    assert len(reader.warnings) == 1
    assert "no length" in reader.warnings[0]


def test_a_streamed_rf64_is_recovered_and_stays_rf64(tmp_path: Path, speech: F32) -> None:
    ds64 = wavs.chunk(b"ds64", bytes(28))
    body = b"WAVE" + ds64 + wavs.fmt() + wavs.chunk(b"data", wavs.pcm16(speech), 2**32 - 1)
    y, reader = read(put(tmp_path / "a.wav", struct.pack("<4sI", b"RF64", 2**32 - 1) + body))
    np.testing.assert_array_equal(y[:, 0], speech)
    assert (reader.container, len(reader.warnings)) == ("RF64", 1)


def test_sizes_that_wrapped_at_4_gib_are_recovered(tmp_path: Path, speech: F32) -> None:
    size = 2**32 + 3000 * 2
    path = put(tmp_path / "a.wav", wavs.wav(wavs.pcm16(speech), riff_size=size % 2**32 + 36, data_size=size % 2**32))
    with path.open("r+b") as file:
        file.truncate(44 + size)  # sparse: no room is taken
    with Reader(path) as reader:
        assert reader.frames == size // 2
        assert (reader.container, len(reader.warnings)) == ("WAV", 1)
        np.testing.assert_array_equal(next(reader.blocks())[:, 0], speech[:BLOCK])


@pytest.mark.parametrize("missing", [2, 3, 10_000, 47_000])
def test_samples_cut_short_are_read_as_far_as_they_go(tmp_path: Path, speech: F32, missing: int) -> None:
    path = put(tmp_path / "a.wav", wavs.wav(wavs.pcm16(speech))[:-missing])
    y, reader = read(path)
    np.testing.assert_array_equal(y[:, 0], speech[: len(speech) - (missing + 1) // 2])
    assert len(reader.warnings) == 1
    assert "cut short" in reader.warnings[0]


@pytest.mark.parametrize(
    ("container", "kept"), [("AIFF", 0.49), ("AU", 0.49), ("W64", 0.49), ("FLAC", 0.4), ("MP3", 0.4), ("OGG", 0.2)]
)
def test_other_containers_cut_short_warn_too(tmp_path: Path, container: str, kept: float) -> None:
    x = noise(64_000)
    sf.write(tmp_path / "a", x, 16_000, format=container)
    data = (tmp_path / "a").read_bytes()
    y, reader = read(put(tmp_path / "a", data[: len(data) // 2]))
    assert kept * len(x) < len(y) < 0.6 * len(x)
    assert len(reader.warnings) == 1
    if container not in ("MP3", "OGG"):
        np.testing.assert_allclose(y[:, 0], x[: len(y)], atol=1e-4)


def test_a_flac_stream_without_a_length_is_read_to_its_last_sample(tmp_path: Path) -> None:
    x = noise(20_011)
    sf.write(tmp_path / "a.flac", x, 16_000)
    data = bytearray((tmp_path / "a.flac").read_bytes())
    data[21] &= 0xF0  # the 36 bits of STREAMINFO that count the samples
    data[22:26] = bytes(4)
    y, reader = read(put(tmp_path / "a.flac", bytes(data)))
    np.testing.assert_allclose(y[:, 0], x, atol=1e-4)
    assert reader.frames is None
    assert len(reader.warnings) == 1


def test_an_empty_file_is_told_from_a_header_without_samples(tmp_path: Path) -> None:
    for i, good in enumerate([wavs.wav(b""), wavs.wav(b"", after=[wavs.chunk(b"LIST", b"INFO")])]):
        y, reader = read(put(tmp_path / f"{i}.wav", good))
        assert (len(y), reader.frames, reader.warnings) == (0, 0, [])
    for container in ("WAVEX", "RF64", "W64", "AIFF", "CAF", "AU"):
        sf.write(tmp_path / container, np.zeros((0, 2)), 8000, format=container)
        assert read(tmp_path / container)[0].shape == (0, 2)


def _cut_to_header(container: str) -> bytes:
    """A file of 4000 samples (16 bits) whose samples are gone."""
    file = io.BytesIO()
    sf.write(file, noise(4000), 16_000, format=container, subtype="PCM_16")
    return file.getvalue()[:-8000]


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "empty"),
        (b"this is a text\n" * 50, "no sound|ffmpeg"),
        (noise(8000, 0.1).tobytes(), "no sound|ffmpeg"),
        (wavs.pcm16(tone(8000, 440)), "no sound|ffmpeg"),
        (wavs.wav(b"")[:20], "no readable sample"),
        (wavs.wav(b"", data_size=64_000, riff_size=64_036), "no readable sample"),
        (wavs.wav(b"", riff_size=0), "no readable sample"),
        (wavs.wav(b"", riff_size=2**32 - 1, data_size=2**32 - 1), "no readable sample"),
        (wavs.wav(b"", riff_size=0, after=[wavs.chunk(b"LIST", b"INFOIART\4\0\0\0Jane")]), "no readable sample"),
        (wavs.wav(b"\1"), "no readable sample"),
        (struct.pack("<4sI", b"RIFF", 36) + b"WAVE" + wavs.fmt(), "no readable sample"),
        *((_cut_to_header(c), "no |ffmpeg") for c in ("WAVEX", "RF64", "W64", "AIFF", "AU", "NIST", "CAF")),
        (wavs.wav(bytes(2000), channels=0), "0 channels"),
        (wavs.wav(bytes(20_480), channels=1024), "1024 channels"),
        (wavs.wav(bytes(2000), rate=0), "0 Hz"),
        (wavs.wav(bytes(2000), rate=1), "1 Hz"),
        (wavs.wav(bytes(2000), rate=1_000_000_000), "1000000000 Hz"),
    ],
)
def test_what_holds_no_sound_fails_in_one_line_and_little_memory(tmp_path: Path, data: bytes, cause: str) -> None:
    path = put(tmp_path / "a.wav", data)
    tracemalloc.start()
    with pytest.raises(FileFailure, match=cause) as caught:
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000
    assert "\n" not in str(caught.value)
    assert caught.value.cause
    assert caught.value.remedy


def test_a_flood_of_chunks_is_not_followed() -> None:
    assert len(list(walk(io.BytesIO(b"RIFF\0\0\0\0WAVE" + b"junk\0\0\0\0" * 20_000)))) < 5000


def test_places_without_a_file_fail_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "dangling.wav").symlink_to("nowhere.wav")
    for path in (tmp_path, tmp_path / "missing.wav", tmp_path / "dangling.wav"):
        with pytest.raises(FileFailure, match=r"regular file|no such file"):
            Reader(path)


@pytest.mark.parametrize(
    "x",
    [
        32768 * tone(40_000, 440) * np.linspace(0, 1, 40_000),  # quiet at first
        np.rint(5 * noise(4000, 0.3)).astype(np.float32),  # a few least significant bits
        1e9 * noise(4000),
    ],
)
def test_integer_values_in_a_float_file_are_refused(tmp_path: Path, x: F32) -> None:
    sf.write(tmp_path / "a.wav", x, 16_000, subtype="FLOAT")
    with pytest.raises(FileFailure, match="integer values"):
        read(tmp_path / "a.wav")


def test_float_files_may_be_over_full_scale_and_hold_nan(tmp_path: Path) -> None:
    x = 7 * noise(4000, 0.3)
    x[::2] = np.nan
    for name, y in (("hot", 7 * noise(4000, 0.3)), ("holes", x), ("nan", np.full(50, np.nan, np.float32))):
        sf.write(tmp_path / name, y, 16_000, format="WAV", subtype="FLOAT")
        np.testing.assert_array_equal(read(tmp_path / name)[0][:, 0], y)


def test_cue_positions_and_loudspeakers_of_wav(tmp_path: Path, speech: F32) -> None:
    data = wavs.wav(wavs.pcm16(speech), before=[wavs.cues([0, 5000])])
    assert read(put(tmp_path / "a.wav", data))[1].cues == (0, 5000)
    data = wavs.wav(wavs.pcm16(speech), after=[wavs.cues([1, 23_999]), wavs.chunk(b"LIST", b"adtl")])
    assert read(put(tmp_path / "a.wav", data))[1].cues == (1, 23_999)
    data = wavs.wav(wavs.pcm16(speech), after=[wavs.chunk(b"cue ", struct.pack("<I", 2**31) + bytes(50))])
    assert len(read(put(tmp_path / "a.wav", data))[1].cues) == 2  # the count lies
    sf.write(tmp_path / "six.wav", np.zeros((10, 6)), 48_000, format="WAVEX")
    assert read(tmp_path / "six.wav")[1].channel_mask == 0x3F


@FFMPEG
@pytest.mark.parametrize(("ending", "codec"), [("m4a", "aac"), ("m4a", "alac"), ("mkv", "pcm_s24le"), ("webm", "libopus")])
def test_ffmpeg_reads_what_libsndfile_cannot(tmp_path: Path, ending: str, codec: str) -> None:
    x = np.stack([voice(1.0, rate=48_000), voice(1.0, seed=5, rate=48_000)], axis=1)
    sf.write(tmp_path / "a.wav", x, 48_000, subtype="PCM_24")
    path = tmp_path / f"-a.{ending}"
    _ffmpeg(
        "-i",
        str(tmp_path / "a.wav"),
        "-c:a",
        codec,
        "-f",
        "matroska" if ending == "mkv" else ending.replace("m4a", "mp4"),
        path,
    )
    y, reader = read(path)
    assert (reader.rate, reader.channels, reader.container) == (48_000, 2, "")
    assert reader.subtype == ("PCM_24" if codec in ("alac", "pcm_s24le") else "PCM_16")
    assert reader.frames is not None
    assert 0 <= len(y) - len(x) < 1024  # AAC may keep its last frame's padding
    assert abs(reader.frames - len(y)) < 0.1 * 48_000
    for channel in (0, 1):
        assert abs(lag(x[:, channel], y[:, channel])) <= 48  # 1 ms
    if codec in ("alac", "pcm_s24le"):
        np.testing.assert_allclose(y, x, atol=2**-22)


@FFMPEG
def test_a_webm_without_a_duration_is_measured(tmp_path: Path) -> None:
    sf.write(tmp_path / "a.wav", voice(3.0), 16_000)
    with (tmp_path / "a.webm").open("wb") as pipe:  # ffmpeg cannot go back to write it
        _ffmpeg("-i", str(tmp_path / "a.wav"), "-c:a", "libopus", "-f", "webm", "-", stdout=pipe)
    y, reader = read(tmp_path / "a.webm")
    assert reader.frames is not None
    assert abs(reader.frames - len(y)) < 0.1 * reader.rate


@FFMPEG
def test_only_the_first_sound_track_is_read_and_the_rest_named(tmp_path: Path) -> None:
    sources = ("-f", "lavfi", "-i", "sine=440:d=1", "-f", "lavfi", "-i", "sine=880:d=1")
    _ffmpeg(*sources, "-map", "0", "-map", "1", tmp_path / "a.mka")
    _, reader = read(tmp_path / "a.mka")
    assert any("1 other track" in line for line in reader.warnings)


@FFMPEG
def test_play_lists_are_not_followed(tmp_path: Path) -> None:
    _ffmpeg("-f", "lavfi", "-i", "sine=440:d=1", "-c:a", "aac", "-f", "mpegts", tmp_path / "secret.ts")
    text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nsecret.ts\n#EXT-X-ENDLIST\n"
    for name, list_of_files in (("a.m3u8", text), ("a.ffconcat", "ffconcat version 1.0\nfile secret.ts\n")):
        with pytest.raises(FileFailure, match="no sound"):
            Reader(put(tmp_path / name, list_of_files.encode()))


@pytest.mark.parametrize("answer", ["", "{", '{"streams": [', "Segmentation fault"])
def test_an_ffprobe_that_breaks_off_has_found_no_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    for name in ("ffmpeg", "ffprobe"):
        (tmp_path / name).write_text(f"#!/bin/sh\nprintf '%s' '{answer}'\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(FileFailure, match="no sound in it"):
        Reader(put(tmp_path / "a.m4a", bytes(1000)))


def test_without_ffmpeg_the_line_says_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileFailure, match="install ffmpeg for M4A, MP4, WebM"):
        Reader(put(tmp_path / "a.m4a", b"\0\0\0\x20ftypM4A " + bytes(200)))


def _ffmpeg(*arguments: str | Path, stdout: object = None) -> None:
    subprocess.run(["ffmpeg", "-v", "error", *map(str, arguments)], check=True, stdout=stdout)  # type: ignore[call-overload]

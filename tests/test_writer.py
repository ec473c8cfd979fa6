"""The writer and the choice of an output's form."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile as sf
import wavs
from signals import noise, voice
from velavox.engine import writer as module
from velavox.engine.failure import FileFailure
from velavox.engine.form import CONTAINERS, Form, container_for, form_for
from velavox.engine.reader import Reader
from velavox.engine.writer import Writer, clean

pytestmark = pytest.mark.nojit
F32 = npt.NDArray[np.float32]

FORMS = [
    *(("WAV", s) for s in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW")),
    *(("WAVEX", s) for s in ("PCM_U8", "PCM_24", "FLOAT", "ULAW")),
    *(("RF64", s) for s in ("PCM_16", "PCM_24", "FLOAT")),
    *(("W64", s) for s in ("PCM_16", "FLOAT", "ALAW")),
    *(("AIFF", s) for s in ("PCM_S8", "PCM_U8", "PCM_16", "PCM_24", "FLOAT", "ULAW")),
    *(("CAF", s) for s in ("PCM_S8", "PCM_16", "PCM_24", "FLOAT", "ALAC_16")),
    *(("AU", s) for s in ("PCM_16", "FLOAT", "ULAW")),
    *(("NIST", s) for s in ("PCM_16", "ULAW")),
    *(("FLAC", s) for s in ("PCM_S8", "PCM_16", "PCM_24")),
]
BITS = {"PCM_S8": 8, "PCM_U8": 8, "PCM_16": 16, "ALAC_16": 16, "PCM_24": 24}
LOSSY = [("OGG", "VORBIS"), ("OGG", "OPUS"), ("MP3", "MPEG_LAYER_III")]


def write(path: Path, x: F32, container: str, subtype: str, rate: int = 16_000, block: int = 1000) -> Writer:
    """x, shape (frames, channels), in blocks."""
    with Writer(path, Form(container, subtype), rate, x.shape[1]) as writer:
        for start in range(0, len(x), block):
            writer.write(x[start : start + block])
        writer.commit()
    return writer


@pytest.mark.parametrize(("container", "subtype"), FORMS)
@pytest.mark.parametrize("shape", [(1, 1), (4001, 1), (997, 3)])
def test_form_length_and_samples_are_kept(tmp_path: Path, container: str, subtype: str, shape: tuple[int, int]) -> None:
    x = np.clip(noise(shape[0] * shape[1], 0.3), -1, 1).reshape(shape)
    written = write(tmp_path / "a", x, container, subtype, 22_050)
    info = sf.info(tmp_path / "a")
    assert (info.format, info.subtype, info.samplerate, info.channels, info.frames) == (
        container,
        subtype,
        22_050,
        *shape[::-1],
    )
    assert written.warnings == []
    y, _ = sf.read(tmp_path / "a", dtype="float64", always_2d=True)
    if subtype in BITS:  # rounded: half a step, and no bias
        step = 2.0 ** (1 - BITS[subtype])
        assert np.abs(y - x).max() <= max(step, (x == 1).max() * 2 * step) / 2 + 1e-12
        assert abs((y - x).mean()) < 0.05 * step or shape[0] == 1
    else:
        companded = subtype in ("ULAW", "ALAW")
        np.testing.assert_allclose(y, x, rtol=0.05 if companded else 1e-7, atol=2e-3 if companded else 1e-9)


@pytest.mark.parametrize(("container", "subtype"), LOSSY)
@pytest.mark.parametrize("frames", [1, 960, 24_011])
def test_compressed_forms_keep_length_and_place(tmp_path: Path, container: str, subtype: str, frames: int) -> None:
    x = voice(1.0, rate=24_000)
    x = np.stack([np.resize(x, frames), np.resize(-0.5 * x, frames)], axis=1)
    write(tmp_path / "a", x, container, subtype, 24_000)
    y, rate = sf.read(tmp_path / "a", dtype="float32")
    assert (y.shape, rate) == (x.shape, 24_000)
    if frames > 10_000:
        at = np.fft.irfft(np.conj(np.fft.rfft(x[:, 0], 2 * frames)) * np.fft.rfft(y[:, 0], 2 * frames)).argmax()
        assert min(at, 2 * frames - at) <= 24  # 1 ms
        assert (x[:, 0] * y[:, 0]).sum() > 0.8 * np.linalg.norm(x[:, 0]) * np.linalg.norm(y[:, 0])


@pytest.mark.parametrize("subtype", ["GSM610", "IMA_ADPCM", "MS_ADPCM"])
def test_codecs_of_whole_blocks_pad_with_a_warning_and_not_at_all_when_even(tmp_path: Path, subtype: str) -> None:
    x = voice(0.5)[:, None]
    first = write(tmp_path / "a.wav", x, "WAV", subtype)
    frames = sf.info(tmp_path / "a.wav").frames
    assert len(x) < frames
    assert first.warnings
    assert f"{frames - len(x)} frames" in first.warnings[0]
    y, _ = sf.read(tmp_path / "a.wav", dtype="float32", always_2d=True)
    even = write(tmp_path / "b.wav", y[:frames], "WAV", subtype)
    if subtype != "GSM610" or frames % 320 == 0:
        assert (sf.info(tmp_path / "b.wav").frames, even.warnings) == (frames, [])


@pytest.mark.parametrize(("container", "subtype"), [f for f in FORMS if f[1] not in ("FLOAT", "DOUBLE")] + LOSSY)
def test_beyond_full_scale_saturates_and_is_counted(tmp_path: Path, container: str, subtype: str) -> None:
    x = np.repeat(np.array([3.4, -3.4, 1.0, -1.0, 0.0], np.float32), 480)[:, None]
    written = write(tmp_path / "a", x, container, subtype, 48_000)
    assert written.clipped == 960
    y, _ = sf.read(tmp_path / "a", dtype="float32", always_2d=True)
    middles = y[240::480, 0]
    np.testing.assert_array_equal(np.sign(middles[:4]), [1, -1, 1, -1])  # nothing has wrapped
    assert np.abs(y).max() <= (1.8 if (container, subtype) in LOSSY else 1)  # lossy codecs overshoot at the jumps
    if (container, subtype) not in LOSSY:
        np.testing.assert_allclose(np.abs(middles[:4]), 1, atol=0.03)


def test_float_files_keep_what_they_are_given(tmp_path: Path) -> None:
    x = np.array([[3.4], [-3.4]], np.float32)
    assert write(tmp_path / "a.wav", x, "WAV", "FLOAT").clipped == 0
    np.testing.assert_array_equal(sf.read(tmp_path / "a.wav")[0], x[:, 0])


@pytest.mark.parametrize("container", ["WAV", "WAVEX", "RF64", "W64", "AIFF", "CAF", "AU", "OGG"])
def test_no_samples_make_a_valid_empty_file(tmp_path: Path, container: str) -> None:
    write(tmp_path / "a", np.zeros((0, 1), np.float32), container, "VORBIS" if container == "OGG" else "PCM_16")
    with Reader(tmp_path / "a") as reader:
        assert (reader.frames, list(reader.blocks())) == (0, [])


@pytest.mark.parametrize(("container", "subtype"), [("FLAC", "PCM_16"), ("OGG", "OPUS"), ("MP3", "MPEG_LAYER_III")])
def test_codecs_without_empty_files_say_so_and_leave_nothing(tmp_path: Path, container: str, subtype: str) -> None:
    with pytest.raises(FileFailure, match="no sample"):
        write(tmp_path / "a", np.zeros((0, 1), np.float32), container, subtype)
    assert list(tmp_path.iterdir()) == []


def test_the_name_appears_with_the_whole_file_only(tmp_path: Path) -> None:
    target = tmp_path / "new" / "a.wav"
    with Writer(target, Form("WAV", "PCM_16"), 16_000, 1) as writer:
        writer.write(noise(50_000)[:, None])
        (temporary,) = target.parent.iterdir()
        assert temporary.name.startswith(".velavox-")
        assert temporary.suffix == ".part"
        writer.commit()
        assert list(target.parent.iterdir()) == [target]
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interruption_leaves_nothing_and_the_older_output(tmp_path: Path, error: type[BaseException]) -> None:
    target = tmp_path / "a.wav"
    target.write_bytes(b"older")
    with suppress(error), Writer(target, Form("WAV", "PCM_16"), 16_000, 1) as writer:
        writer.write(noise(50_000)[:, None])
        raise error
    assert target.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [target]


def test_leftovers_of_killed_runs_go_and_files_being_written_stay(tmp_path: Path) -> None:
    leftover, other = tmp_path / ".velavox-0123456789abcdef.part", tmp_path / "mine.part"
    leftover.write_bytes(b"RIFF")
    other.write_bytes(b"")
    with Writer(tmp_path / "a.wav", Form("WAV", "PCM_16"), 16_000, 1) as writer:
        assert not leftover.exists()
        leftover.write_bytes(b"RIFF")
        clean(tmp_path)
        assert not leftover.exists()
        writer.write(noise(100)[:, None])
        writer.commit()
    assert sorted(tmp_path.iterdir()) == [tmp_path / "a.wav", other]


@pytest.mark.parametrize("container", ["WAV", "FLAC"])
def test_a_full_disk_is_a_failure_and_leaves_nothing(tmp_path: Path, container: str) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(FileFailure, match="not be written whole"):
            write(tmp_path / "a", noise(200_000)[:, None], container, "PCM_16", block=16_384)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("container", "subtype"), [*LOSSY, ("FLAC", "PCM_16"), ("AIFF", "PCM_16")])
@pytest.mark.parametrize("missing", [1, 300])
def test_a_disk_that_is_full_at_the_very_end_is_noticed(tmp_path: Path, container: str, subtype: str, missing: int) -> None:
    x = voice(2.0)[:, None]
    write(tmp_path / "whole", x, container, subtype)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "whole").stat().st_size - missing, before[1]))
    try:
        with pytest.raises(FileFailure, match="not be written whole"):
            write(tmp_path / "cut", x, container, subtype)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [p.name for p in tmp_path.iterdir()] == ["whole"]


def test_samples_that_got_lost_on_the_way_to_the_disk_are_noticed(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.wav", Form("WAV", "PCM_16"), 16_000, 1) as writer:
        writer.write(noise(50_000)[:, None])
        (temporary,) = tmp_path.iterdir()
        os.truncate(temporary, 60_000)
        with pytest.raises(FileFailure, match="not be written whole"):
            writer.commit()
    assert list(tmp_path.iterdir()) == []


def test_places_that_refuse_fail_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "folder.wav").mkdir()
    (tmp_path / "file").write_bytes(b"")
    for target in (tmp_path / "folder.wav", tmp_path / "file" / "a.wav", tmp_path / ("a" * 300) / "a.wav"):
        with pytest.raises(FileFailure):
            Writer(target, Form("WAV", "PCM_16"), 16_000, 1)


def test_a_codec_that_does_not_take_the_rate_or_channels_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    for form, rate, channels in (
        (("OGG", "OPUS"), 44_100, 1),
        (("MP3", "MPEG_LAYER_III"), 96_000, 1),
        (("FLAC", "PCM_16"), 8000, 9),
    ):
        with pytest.raises(FileFailure, match=rf"{channels} channel\(s\) at {rate} Hz"):
            Writer(tmp_path / "a", Form(*form), rate, channels)
    assert list(tmp_path.iterdir()) == []


def test_a_32_bit_header_is_never_overrun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 3000)
    with pytest.raises(FileFailure, match="4 GiB"):
        write(tmp_path / "a", noise(1501)[:, None], "WAV", "PCM_16")
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / "a", noise(1500)[:, None], "WAV", "PCM_16")
    write(tmp_path / "a", noise(1501)[:, None], "RF64", "PCM_16")


@pytest.mark.parametrize("container", ["WAV", "WAVEX", "AIFF"])
def test_no_time_of_writing_is_in_the_file(tmp_path: Path, container: str) -> None:
    write(tmp_path / "a", noise(500)[:, None], container, "FLOAT")
    peak = wavs.chunks((tmp_path / "a").read_bytes())[b"PEAK"]
    assert peak[4:8] == bytes(4)
    assert any(peak[8:12])  # the peak's height is still there


@pytest.mark.parametrize("container", ["WAV", "WAVEX", "RF64"])
@pytest.mark.parametrize("frames", [999, 1000])
def test_cue_positions_and_loudspeakers_go_in_without_labels(tmp_path: Path, container: str, frames: int) -> None:
    x = np.clip(noise(frames * 3, 0.3), -1, 1).reshape(-1, 3)
    with Writer(tmp_path / "a.wav", Form(container, "PCM_U8"), 16_000, 3) as writer:
        writer.write(x)
        writer.commit(channel_mask=0x103, cues=(0, 17, 999))
    with Reader(tmp_path / "a.wav") as reader:
        assert reader.cues == (0, 17, 999)
        assert reader.channel_mask == (0 if container == "WAV" else 0x103)
        assert (reader.frames, reader.container, reader.warnings) == (frames, container, [])
        np.testing.assert_allclose(next(reader.blocks()), x, atol=2**-7)
    data = (tmp_path / "a.wav").read_bytes()
    assert data[-(4 + 3 * 24) - 8 :][:4] == b"cue "
    assert b"LIST" not in data
    size = data[20:28] if container == "RF64" else data[4:8]
    assert int.from_bytes(size, "little") == len(data) - 8


@pytest.mark.parametrize(
    ("container", "subtype", "frames", "channels", "chosen"),
    [
        ("WAV", "PCM_16", 2**31 - 2**15, 1, "WAV"),
        ("WAV", "PCM_16", 2**31 - 2**15 + 1, 1, "RF64"),
        ("WAVEX", "PCM_24", 2**31 // 3, 2, "RF64"),
        ("WAV", "ULAW", 2**31, 1, "WAV"),
        ("WAV", "DOUBLE", 2**29, 1, "RF64"),
        ("WAV", "PCM_16", None, 1, "RF64"),
        ("RF64", "PCM_16", 10, 1, "RF64"),
        ("W64", "PCM_16", None, 1, "W64"),
        ("FLAC", "PCM_16", None, 1, "FLAC"),
        ("WAV", "GSM610", 2**33, 1, "WAV"),  # RF64 has no GSM; it is stored in 1/5 of a byte a sample
    ],
)
def test_long_or_unknown_lengths_go_to_rf64(
    container: str, subtype: str, frames: int | None, channels: int, chosen: str
) -> None:
    assert container_for(container, subtype, frames, channels) == chosen


@pytest.mark.parametrize(
    ("source", "source_name", "target_name", "form"),
    [
        (("WAV", "PCM_U8"), "a.wav", "b.wav", ("WAV", "PCM_U8")),
        (("WAVEX", "PCM_24"), "a.WAV", "b.wav", ("WAVEX", "PCM_24")),
        (("RF64", "FLOAT"), "a.rf64", "b.wav", ("RF64", "FLOAT")),
        (("WAV", "GSM610"), "a.wav", "b.wav", ("WAV", "GSM610")),
        (("WAV", "PCM_16"), "a.mp3", "b.mp3", ("WAV", "PCM_16")),
        (("WAV", "PCM_16"), "a", "b", ("WAV", "PCM_16")),
        (("FLAC", "PCM_24"), "Jane.Example", "recording-0001", ("FLAC", "PCM_24")),
        (("OGG", "OPUS"), "a.ogg", "b.ogg", ("OGG", "OPUS")),
        (("OGG", "OPUS"), "a.ogg", "b.opus", ("OGG", "OPUS")),
        (("WAV", "PCM_16"), "a.wav", "b.opus", ("OGG", "OPUS")),
        (("MP3", "MPEG_LAYER_II"), "a.mp3", "b.mp3", ("MP3", "MPEG_LAYER_III")),
        (("WAV", "FLOAT"), "a.wav", "b.flac", ("FLAC", "PCM_24")),
        (("WAV", "PCM_U8"), "a.wav", "b.flac", ("FLAC", "PCM_16")),
        (("WAV", "FLOAT"), "a.wav", "b.mp3", ("MP3", "MPEG_LAYER_III")),
        (("AIFF", "PCM_24"), "a.aiff", "b.wav", ("WAV", "PCM_24")),
        (("MP3", "MPEG_LAYER_III"), "a.mp3", "b.wav", ("WAV", "PCM_16")),
        (("WAV", "MPEG_LAYER_III"), "a.wav", "b.wav", ("WAV", "PCM_16")),
        (("CAF", "ALAC_16"), "a.caf", "b.caf", ("CAF", "ALAC_16")),
        (("CAF", "ALAC_24"), "a.caf", "b.caf", ("CAF", "PCM_24")),
        (("CAF", "ALAC_32"), "a.caf", "b.wav", ("WAV", "PCM_32")),
        (("", "PCM_16"), "a.m4a", "b.wav", ("WAV", "PCM_16")),
        (("", "PCM_24"), "a.m4a", "b.flac", ("FLAC", "PCM_24")),
        (("", "PCM_16"), "a.ogg", "b.ogg", ("OGG", "VORBIS")),
    ],
)
def test_form_rules(source: tuple[str, str], source_name: str, target_name: str, form: tuple[str, str]) -> None:
    assert form_for(Form(*source), Path(source_name), Path(target_name), 1000, 1)[:2] == form


@pytest.mark.parametrize(("source", "name"), [("", "a.m4a"), ("WAV", "a.m4a"), ("WAV", "a.xyz"), ("", "noending")])
def test_an_ending_that_names_no_container_fails_with_the_remedy(source: str, name: str) -> None:
    with pytest.raises(FileFailure, match=r"\.wav"):
        form_for(Form(source, "PCM_16"), Path("noending" if source == "" else "a.wav"), Path(name), 1000, 1)


def test_byte_order_is_kept(tmp_path: Path) -> None:
    for container, endian in (("WAV", "BIG"), ("AIFF", "LITTLE")):
        sf.write(tmp_path / "a", noise(100), 16_000, "PCM_16", endian, container)
        with Reader(tmp_path / "a") as reader:
            form = form_for(Form(reader.container, reader.subtype, reader.endian), Path("a"), Path("b"), 100, 1)
            assert form == (container, "PCM_16", endian)
        with Writer(tmp_path / "b", form, 16_000, 1) as writer:
            writer.write(noise(100)[:, None])
            writer.commit()
        assert (tmp_path / "b").read_bytes()[:4] == (tmp_path / "a").read_bytes()[:4]
        np.testing.assert_allclose(sf.read(tmp_path / "b")[0], noise(100), atol=2**-15)


def test_every_ending_can_be_written(tmp_path: Path) -> None:
    for ending, (container, subtype) in CONTAINERS.items():
        write(tmp_path / f"a{ending}", noise(960)[:, None], container, subtype)
        assert sf.info(tmp_path / f"a{ending}").frames == 960


@pytest.mark.parametrize(("container", "subtype"), [("WAV", "PCM_16"), ("RF64", "PCM_24"), ("AIFF", "FLOAT"), ("AU", "ULAW")])
def test_a_write_that_failed_can_be_taken_back(tmp_path: Path, container: str, subtype: str) -> None:
    x = np.clip(noise(3000, 0.3), -1, 1).reshape(-1, 3)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Writer(tmp_path / "a", Form(container, subtype), 16_000, 3) as writer:
        writer.write(x)
        writer.write(x)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
        try:
            with pytest.raises(FileFailure, match="free space"):
                writer.write(np.tile(x, (20, 1)))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert writer.cut()
        writer.commit()
    y, _ = sf.read(tmp_path / "a", dtype="float32")
    np.testing.assert_allclose(y, np.concatenate([x, x]), atol=0.05)


def test_nothing_can_be_kept_of_nothing(tmp_path: Path) -> None:
    with Writer(tmp_path / "a", Form("WAV", "PCM_16"), 16_000, 1) as writer:
        assert not writer.cut()
    assert os.listdir(tmp_path) == []

"""Every row of the fixtures' index through `anonymize_file`, with its right outcome."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile as sf
from conftest import SHARED
from needs import lacking
from velavox.engine.failure import FileFailure
from velavox.engine.files import FileReport, anonymize_file
from velavox.engine.host import Policy
from velavox.engine.identity import Identity
from velavox.engine.methods import METHODS

F64 = npt.NDArray[np.float64]
Made = Callable[..., tuple[F64, F64, FileReport]]


def outcome(path: Path) -> F64:
    return sf.read(path, always_2d=True)[0]  # type: ignore[no-any-return]


FAILS = {
    "empty_0_bytes.wav": "empty",
    "header_channels_0.wav": "0 channels",
    "header_channels_1024.wav": "1024 channels",
    "header_rate_0.wav": "0 Hz",
    "header_rate_1Hz.wav": "1 Hz",
    "header_rate_1GHz.wav": "1000000000 Hz",
    "float_int16_scale_16k.wav": "integer values",
    "not_audio_text.wav": "no sound|ffmpeg",
    "raw_pcm_no_header_16k_s16le.pcm": "velavox pipe",
    "riff_header_only_44bytes.wav": "no readable sample",
    "riff_truncated_header_20bytes.wav": "no readable sample",
    "two_speakers_alternating_16k.json": "no sound|ffmpeg",
}
LENGTHS = {  # where libsndfile cannot tell, or the index gives a number
    "riff_size_ffffffff_streaming.wav": 32_000,
    "stereo_vbr_44k1.mp3": 227_027,
    "whatsapp_voice.opus": 262_168,
    "voice_webm.webm": 262_168,
    "video_with_audio.mp4": 144_384,
    "speech_m1_16k.flac": 48_000,
    "speech_m1_16k.ogg": 48_000,
    "speech_m1_16k.caf": 32_000,
    "wav_named.mp3": 32_000,
    "len_0000_16k.wav": 0,
}
WARNS = {
    "riff_size_ffffffff_streaming.wav": "no length",
    "float_all_nan_16k.wav": "not finite",
    "video_with_audio.mp4": "track",
}
BY_FFMPEG = {"voice_webm.webm", "video_with_audio.mp4"}


NAMES = sorted(path.name for path in (SHARED / "fixtures").glob("*.*") if path.suffix not in (".md", ".tar"))


def levels(y: F64) -> F64:
    """RMS of each channel in dB re full scale."""
    return np.asarray(10 * np.log10((y**2).mean(axis=0) + 1e-20))


@pytest.mark.parametrize("name", NAMES)
def test_fixture(shared: Path, tmp_path: Path, name: str) -> None:
    source, target = shared / "fixtures" / name, tmp_path / name
    before = source.read_bytes()
    if name in FAILS:
        with pytest.raises(FileFailure, match=FAILS[name]):
            anonymize_file(source, target)
        assert list(tmp_path.iterdir()) == []
        return
    if name in BY_FFMPEG:
        if shutil.which("ffmpeg") is None:
            lacking("needs ffmpeg")
        target = target.with_suffix(".wav")
    report = anonymize_file(source, target)
    assert list(tmp_path.iterdir()) == [target]
    assert source.read_bytes() == before
    after = sf.info(target)
    assert (after.frames, after.format, after.subtype) == (report.frames, report.container, report.subtype)
    if name in BY_FFMPEG:
        assert (after.samplerate, after.channels, after.format, after.subtype) == (48_000, 1, "WAV", "PCM_16")
    else:
        original = sf.info(source)
        for fact in ("samplerate", "channels", "format", "subtype"):
            assert getattr(after, fact) == getattr(original, fact)
    assert after.frames == LENGTHS.get(name) or (name not in LENGTHS and after.frames == original.frames)
    y = outcome(target)
    assert np.isfinite(y).all()
    assert np.abs(y).max(initial=0) <= 1.001  # a lossy decoder may overshoot
    assert report.muted == 0
    assert len(report.warnings) == (name in WARNS)
    assert WARNS.get(name, "") in "".join(report.warnings)


@pytest.fixture
def made(shared: Path, tmp_path: Path) -> Made:
    """Input samples, output samples and report for a fixture, a stage and a policy."""

    def make_it(name: str, stage: str | Identity = "mcadams", policy: Policy = "each") -> tuple[F64, F64, FileReport]:
        source = shared / "fixtures" / name
        report = anonymize_file(source, tmp_path / "b.wav", stage, policy=policy, seed=1)  # levels are each voice's own
        return outcome(source), outcome(tmp_path / "b.wav"), report

    return make_it


@pytest.mark.parametrize("method", METHODS)
def test_fixtures_by_level(made: Made, method: str) -> None:
    for name in ("speech_whisper_16k.wav", "speech_whisper_f_16k.wav", "speech_in_noise_5dB_16k.wav"):
        x, y, _ = made(name, method)
        assert abs(levels(y) - levels(x)) < 6, name
    x, y, _ = made("white_noise_16k.wav", method)
    if method == "dp":  # in which nobody speaks: there is nothing to say again
        assert levels(y) < levels(x) - 20
    else:
        assert abs(levels(y) - levels(x)) < 6
    for name in ("silence_2s_16k.wav", "silence_48k_stereo.wav", "denormal_noise_1e-39_16k.wav"):
        assert (levels(made(name, method)[1]) < -60).all(), name
    x, y, _ = made("one_lsb_noise_16k.wav", method)
    assert levels(y) - levels(x) < 6
    for name in ("dc_offset_0p3_16k.wav", "speech_dc_offset_0p25_16k.wav"):
        x, y, _ = made(name, method)
        assert np.abs(y[:800]).max() <= 0.5, name
        assert abs(y.mean()) <= 1.05 * abs(x.mean()), name


def test_fixtures_that_are_clipped_have_it_counted(made: Made) -> None:
    for name in ("speech_clipped_fullscale_16k.wav", "square_200Hz_fullscale_16k.wav", "float_over1_peak3p5_16k.wav"):
        assert made(name)[2].full_scale > 1000, name


def test_fixtures_with_channels(made: Made) -> None:
    x, y, _ = made("stereo_48k_left_only.wav")
    assert np.abs(y[:, 1]).max() == 0
    assert abs(levels(y) - levels(x))[0] < 3
    left = levels(x)[0]
    _, mixed, _ = made("stereo_48k_left_only.wav", policy="mix")
    assert abs(levels(mixed) - left).max() < 3
    x, mixed, _ = made("stereo_48k_antiphase.wav", policy="mix")
    assert abs(levels(mixed) - levels(x)).max() < 3
    x, y, _ = made("stereo_44k1_two_speakers.wav")
    loud = (
        np.abs(x[: len(x) // 441 * 441].reshape(-1, 441, 2)).mean(axis=1),
        np.abs(y[: len(y) // 441 * 441].reshape(-1, 441, 2)).mean(axis=1),
    )
    likeness = np.corrcoef(loud[0].T, loud[1].T)[:2, 2:]  # envelopes of 10 ms
    assert likeness[0, 0] > 0.6 > likeness[0, 1]
    assert likeness[1, 1] > 0.6 > likeness[1, 0]


def test_fixture_of_turns_keeps_its_pauses(made: Made) -> None:
    x, y, _ = made("two_speakers_alternating_16k.wav")
    for start in (1.6, 3.4, 5.2):
        pause = slice(int((start + 0.03) * 16_000), int((start + 0.17) * 16_000))
        assert levels(y[pause])[0] < max(-60.0, float(levels(x[pause])[0]) + 6)


def test_fixture_tones_keep_their_pitch_through_the_engine(made: Made) -> None:
    for name, rate, hz in (("tone_1kHz_48k", 48_000, 1000), ("tone_440Hz_16k", 16_000, 440), ("tone_60Hz_16k", 16_000, 60)):
        y = made(f"{name}.wav", Identity())[1][:, 0]
        assert abs(np.abs(np.fft.rfft(y * np.hanning(len(y)), 2**20)).argmax() * rate / 2**20 - hz) < 2


def test_fixture_names(shared: Path, tmp_path: Path) -> None:
    with tarfile.open(shared / "fixtures" / "names.tar") as archive:
        archive.extractall(tmp_path, filter="tar")
    names = sorted(path for path in (tmp_path / "names").rglob("*") if not path.is_dir())
    refused = {".DS_Store", "._resource.wav", "dangling.wav", "notes.txt"}
    assert refused < {path.name for path in names}
    for source in names:
        target = tmp_path / "out" / source.relative_to(tmp_path / "names")
        if source.name in refused:
            with pytest.raises(FileFailure):
                anonymize_file(source, target, Identity())
        else:
            anonymize_file(source, target, Identity())
            assert sf.info(target).frames == 16_000
            assert target.name in os.listdir(target.parent)

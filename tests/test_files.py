"""Whole files through the engine: what comes out, where, and what does not."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile as sf
import wavs
from signals import noise, tone, voice
from velavox.engine.failure import FileFailure
from velavox.engine.files import anonymize_file
from velavox.engine.host import Policy
from velavox.engine.identity import Identity
from velavox.engine.methods import METHODS, make
from velavox.kernels.jit import F32

F64 = npt.NDArray[np.float64]


class Broken(Identity):
    """Gives NaN in hops `first` to `last`, and raises if told so."""

    def __init__(self, first: int, last: int, error: bool = False) -> None:
        super().__init__()
        self.hops, self.range, self.error = 0, range(first, last + 1), error

    def step(self, x: F32, y: F32) -> None:
        y[:] = np.nan if self.hops in self.range else x
        if self.error and self.hops in self.range:
            raise RuntimeError("no such luck")
        self.hops += 1


def outcome(path: Path) -> F64:
    return sf.read(path, always_2d=True)[0]  # type: ignore[no-any-return]


@pytest.mark.parametrize("rate", [8000, 11_025, 16_000, 44_100, 48_000, 96_000])
@pytest.mark.parametrize("frames", [1, 159, 401, 16_385, 40_001])
def test_output_frame_n_is_input_frame_n(tmp_path: Path, rate: int, frames: int) -> None:
    x = np.stack([tone(frames, 440, rate=rate), tone(frames, 700, 0.3, rate)], axis=1)
    sf.write(tmp_path / "a.wav", x, rate, subtype="FLOAT")
    report = anonymize_file(tmp_path / "a.wav", tmp_path / "b.wav", Identity())
    y = outcome(tmp_path / "b.wav")
    assert y.shape == x.shape
    assert (report.frames, report.sample_rate, report.channels) == (frames, rate, 2)
    assert report.seconds == frames / rate
    ends = rate // 50  # resampling spreads the tone's sudden start
    np.testing.assert_allclose(y[ends:-ends], x[ends:-ends], atol=3e-3)


def test_clicks_stay_in_place_over_a_minute(tmp_path: Path) -> None:
    x = np.zeros(60 * 44_100, np.float32)
    x[22_050::44_100] = 0.5
    sf.write(tmp_path / "a.wav", x, 44_100)
    anonymize_file(tmp_path / "a.wav", tmp_path / "b.wav", Identity())
    seconds = np.abs(outcome(tmp_path / "b.wav")[:, 0].reshape(60, 44_100))
    np.testing.assert_array_equal(seconds.argmax(axis=1), 22_050)


@pytest.mark.parametrize("method", METHODS)
def test_each_file_gets_a_voice_of_its_own_unless_seed_and_key_say_which(tmp_path: Path, method: str) -> None:
    sf.write(tmp_path / "a.wav", voice(2.0), 16_000)

    def run(name: str, seed: int | None = None, key: str = "") -> bytes:
        report = anonymize_file(tmp_path / "a.wav", tmp_path / name, method, seed=seed, key=key)
        assert report.warnings == ()
        assert report.muted == 0
        return (tmp_path / name).read_bytes()

    assert len({run("b.wav"), run("c.wav"), run("d.wav", 7, "x"), run("e.wav", 7, "y"), run("f.wav", 8, "x")}) == 5
    assert run("g.wav", 7, "x") == run("h.wav", 7, "x")
    original, changed = outcome(tmp_path / "a.wav")[:, 0], outcome(tmp_path / "g.wav")[:, 0]
    assert np.corrcoef(original, changed)[0, 1] < 0.9


def test_channels_have_voices_of_their_own_or_share_one_or_are_mixed(tmp_path: Path) -> None:
    sf.write(tmp_path / "a.wav", np.stack([voice(1.0)] * 2, axis=1), 16_000)
    policies: tuple[Policy, ...] = ("each", "one", "mix")
    for policy in policies:
        anonymize_file(tmp_path / "a.wav", tmp_path / f"{policy}.wav", policy=policy)
    each, shared, mixed = (outcome(tmp_path / f"{policy}.wav") for policy in policies)
    assert (each[:, 0] != each[:, 1]).any()  # one voice for both would give equal samples; two may be drawn close
    np.testing.assert_array_equal(shared[:, 0], shared[:, 1])
    np.testing.assert_array_equal(mixed[:, 0], mixed[:, 1])


def test_make_reads_settings_as_typed_and_refuses_in_one_line() -> None:
    stage = make("mcadams", {"alpha": "0.6,0.7"})
    assert stage.method == "mcadams"
    assert stage.values["alpha"] == (0.6, 0.7)
    assert make("mcadams", {"alpha": 0.65}).values["alpha"] == 0.65
    for method, settings, text in (
        ("nothing", {}, "mcadams, vtln, voicemask"),
        ("mcadams", {"beta": "1"}, "alpha"),
        ("mcadams", {"alpha": "x"}, "alpha"),
    ):
        with pytest.raises(ValueError, match=text):
            make(method, settings)
    with pytest.raises(ValueError, match="mcadams"):
        anonymize_file("a.wav", "b.wav", "identity")


NAME = b"Jane Example"
TAGGED = [
    wavs.chunk(b"LIST", b"INFO" + wavs.chunk(b"IART", NAME)),
    wavs.chunk(b"bext", NAME.ljust(602, b"\0")),
    wavs.chunk(b"iXML", b"<BWFXML><NOTE>" + NAME + b"</NOTE></BWFXML>"),
    wavs.chunk(b"id3 ", b"ID3\3\0\0\0\0\0\x17TPE1\0\0\0\x0d\0\0\0" + NAME),
    wavs.cues([100, 9000]),
    wavs.chunk(b"LIST", b"adtl" + wavs.chunk(b"labl", struct.pack("<I", 1) + NAME)),
    wavs.chunk(b"_PMX", NAME),
]


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("place", ["before", "after"])
def test_nothing_of_a_wav_but_its_sound_survives_and_cue_positions_on_request(tmp_path: Path, keep: bool, place: str) -> None:
    sound = wavs.pcm16(voice(1.0))
    data = wavs.wav(sound, before=TAGGED) if place == "before" else wavs.wav(sound, after=TAGGED)
    (tmp_path / "a.wav").write_bytes(data)
    anonymize_file(tmp_path / "a.wav", tmp_path / "b.wav", Identity(), keep_cues=keep)
    written = (tmp_path / "b.wav").read_bytes()
    assert NAME not in written
    found = wavs.chunks(written)
    assert set(found) == ({b"fmt ", b"data", b"cue "} if keep else {b"fmt ", b"data"})
    if keep:
        points = struct.unpack("<I" + "II4sIII" * 2, found[b"cue "])
        assert points == (2, 1, 100, b"data", 0, 0, 100, 2, 9000, b"data", 0, 0, 9000)


@pytest.mark.parametrize("container", ["AIFF", "CAF", "FLAC", "OGG", "MP3", "RF64"])
def test_tags_of_other_containers_are_dropped(tmp_path: Path, container: str) -> None:
    with sf.SoundFile(tmp_path / "a", "w", 16_000, 1, format=container) as file:
        file.title, file.artist, file.comment = "Jane Example", "Jane Example", "Jane Example"
        file.write(voice(1.0))
    assert NAME in (tmp_path / "a").read_bytes()
    report = anonymize_file(tmp_path / "a", tmp_path / "b", Identity(), keep_cues=True)
    assert report.container == container
    assert b"Jane" not in (tmp_path / "b").read_bytes()


def test_cues_that_cannot_be_kept_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(wavs.wav(wavs.pcm16(voice(1.0)), before=[wavs.cues([100])]))
    report = anonymize_file(tmp_path / "a.wav", tmp_path / "b.flac", Identity(), keep_cues=True)
    assert report.warnings == ("cue points left out: FLAC output has none",)


@pytest.mark.parametrize(
    ("sizes", "missing", "frames", "warning"),
    [
        ({}, 0, 16_000, None),
        ({"riff_size": 0, "data_size": 0}, 0, 16_000, "no length"),
        ({"riff_size": 2**32 - 1, "data_size": 2**32 - 1}, 0, 16_000, "no length"),
        ({}, 12_001, 9_999, "cut short"),
        ({}, 32_000, None, "no readable sample"),
    ],
)
def test_broken_headers(tmp_path: Path, sizes: dict[str, int], missing: int, frames: int | None, warning: str | None) -> None:
    data = wavs.wav(wavs.pcm16(voice(1.0)), **sizes)  # type: ignore[arg-type]
    (tmp_path / "a.wav").write_bytes(data[: len(data) - missing])
    if frames is None:
        with pytest.raises(FileFailure, match=warning):
            anonymize_file(tmp_path / "a.wav", tmp_path / "b.wav", Identity())
        assert not (tmp_path / "b.wav").exists()
        return
    report = anonymize_file(tmp_path / "a.wav", tmp_path / "b.wav", Identity())
    assert report.frames == sf.info(tmp_path / "b.wav").frames == frames
    assert len(report.warnings) == (warning is not None)
    assert warning is None or warning in report.warnings[0]


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "FLOAT", "ULAW", "ALAW", "GSM610"])
def test_codecs_are_kept(tmp_path: Path, subtype: str) -> None:
    sf.write(tmp_path / "a.wav", voice(1.0, rate=8000), 8000, subtype=subtype)
    before = sf.info(tmp_path / "a.wav")
    report = anonymize_file(tmp_path / "a.wav", tmp_path / "b.wav", Identity())
    after = sf.info(tmp_path / "b.wav")
    assert (after.frames, after.subtype, after.samplerate) == (before.frames, subtype, 8000)
    assert (report.subtype, report.container, report.warnings) == (subtype, "WAV", ())
    x, y = outcome(tmp_path / "a.wav")[:, 0], outcome(tmp_path / "b.wav")[:, 0]
    assert np.corrcoef(x, y)[0, 1] > 0.85  # the band above 3.6 kHz is lost to the resampling


def test_a_stage_that_fails_leaves_no_output(tmp_path: Path) -> None:
    sf.write(tmp_path / "a.wav", np.resize(voice(1.0), 16_001), 16_000)  # 100 hops, and one in the flush
    (tmp_path / "out").mkdir()
    last = 10**6
    for stage, cause in (
        (Broken(50, 50, error=True), "no such luck"),
        (Broken(100, last, error=True), "no such luck"),  # in the flush
        (Broken(0, last), "all of it was muted"),
    ):
        with pytest.raises(FileFailure, match=cause):
            anonymize_file(tmp_path / "a.wav", tmp_path / "out" / "b.wav", stage)
        assert list((tmp_path / "out").iterdir()) == []


def test_the_first_error_of_a_stage_ends_the_work(tmp_path: Path) -> None:
    sf.write(tmp_path / "a.wav", noise(100_000), 16_000)
    blocks: list[int] = []
    with pytest.raises(FileFailure):
        anonymize_file(
            tmp_path / "a.wav", tmp_path / "b.wav", Broken(150, 150, error=True), progress=lambda done, _: blocks.append(done)
        )
    assert len(blocks) == 1


def test_hops_that_had_to_be_muted_are_told(tmp_path: Path) -> None:
    sf.write(tmp_path / "a.wav", voice(1.0), 16_000)
    report = anonymize_file(tmp_path / "a.wav", tmp_path / "b.wav", Broken(20, 22))
    assert report.muted == 3
    assert len(report.warnings) == 1
    assert "3 of " in report.warnings[0]
    y = outcome(tmp_path / "b.wav")[:, 0]
    assert np.abs(y[20 * 160 : 23 * 160]).max() == 0


def test_samples_that_are_no_numbers_become_silence_and_are_told(tmp_path: Path) -> None:
    x = voice(1.0)
    x[1000:1100], x[5000] = np.nan, np.inf
    sf.write(tmp_path / "a.wav", x, 16_000, subtype="FLOAT")
    report = anonymize_file(tmp_path / "a.wav", tmp_path / "b.wav", Identity())
    assert report.sanitised == 101
    assert any("101 samples" in line for line in report.warnings)
    assert np.isfinite(outcome(tmp_path / "b.wav")).all()


def test_clipping_is_counted(tmp_path: Path) -> None:
    square = np.sign(tone(16_000, 200) + 1e-9).astype(np.float32)
    sf.write(tmp_path / "a.wav", square, 16_000)
    report = anonymize_file(tmp_path / "a.wav", tmp_path / "b.wav", Identity())
    assert report.full_scale > 15_000
    sf.write(tmp_path / "hot.wav", 3 * tone(16_000, 200), 16_000, subtype="FLOAT")
    report = anonymize_file(tmp_path / "hot.wav", tmp_path / "b.wav", Identity())
    assert report.clipped > 1000
    assert np.abs(outcome(tmp_path / "b.wav")).max() <= 1


def test_the_recording_stays_as_it_is_and_is_never_the_output(tmp_path: Path) -> None:
    source, link = tmp_path / "a.wav", tmp_path / "link.wav"
    sf.write(source, voice(0.5), 16_000)
    link.symlink_to(source)
    before = source.read_bytes(), source.stat().st_mtime_ns
    for target in (source, link, tmp_path / "." / "a.wav"):
        with pytest.raises(FileFailure, match="the recording itself"):
            anonymize_file(source, target, Identity())
    anonymize_file(source, tmp_path / "b.wav", Identity())
    anonymize_file(link, tmp_path / "b.wav", Identity())  # replaces what is there
    assert (source.read_bytes(), source.stat().st_mtime_ns) == before
    assert {p.name for p in tmp_path.iterdir()} == {"a.wav", "b.wav", "link.wav"}


def test_progress_counts_up_to_the_length(tmp_path: Path) -> None:
    sf.write(tmp_path / "a.wav", noise(50_000), 16_000)
    seen: list[tuple[int, int | None]] = []
    anonymize_file(tmp_path / "a.wav", tmp_path / "b.wav", Identity(), progress=lambda done, of: seen.append((done, of)))
    assert seen[-1] == (50_000, 50_000)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the memory in use from /proc")
def test_memory_does_not_grow_with_the_length(tmp_path: Path) -> None:
    """From the first to the tenth minute of a stereo file."""
    minute = 60 * 16_000
    with sf.SoundFile(tmp_path / "a.flac", "w", 16_000, 2) as file:
        for _ in range(10):
            file.write(np.zeros((minute, 2), np.int16))
    memory: list[int] = []

    def progress(done: int, _: int | None) -> None:
        if done > minute:
            memory.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))

    anonymize_file(tmp_path / "a.flac", tmp_path / "b.flac", Identity(), progress=progress)
    assert len(memory) > 500
    assert max(memory) - memory[0] < 2_000_000  # what came after is 70 MB as floats


SLOW = """
import sys, time
from velavox.engine.files import anonymize_file
from velavox.engine.identity import Identity

class Slow(Identity):
    def step(self, x, y):
        y[:] = 0
        time.sleep(0.002)

def progress(done, total):
    assert "sounddevice" not in sys.modules
    print(done, flush=True)

anonymize_file(sys.argv[1], sys.argv[2], Slow(), progress=progress)
"""


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_killed_run_leaves_no_output_no_recording_and_is_cleaned_up_after(tmp_path: Path) -> None:
    sound = np.clip(np.rint(noise(600_000) * 32768), -32768, 32767).astype(np.int16)
    sf.write(tmp_path / "a.wav", sound, 16_000)
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-c", SLOW, str(tmp_path / "a.wav"), str(out / "b.wav")]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        for _ in range(3):
            assert process.stdout.readline().strip().isdigit()
        process.send_signal(signal.SIGKILL)
    (left,) = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "a.wav"]
    assert left.parent == out
    assert left.suffix == ".part"
    assert sound[8000:8040].tobytes() not in left.read_bytes()
    from velavox.engine.writer import clean

    clean(out)
    assert list(out.iterdir()) == []

"""The recording: every sample that was sent, whole under its name or not there, and no burden to the stream."""

from __future__ import annotations

import os
import resource
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from doubles import running
from signals import F32, noise
from velavox.engine.dummy import DummyCard
from velavox.engine.failure import FileFailure
from velavox.engine.identity import Identity
from velavox.engine.live import Live
from velavox.engine.recorder import Recorder, Source
from velavox.engine.riff import shorten
from velavox.engine.status import Status
from velavox.engine.writer import Writer


class Sent:
    """A stream that has sent `pieces`, each at a rate of its own."""

    def __init__(self, *pieces: tuple[int, F32]) -> None:
        self.pieces = [(rate, list(np.split(x, range(4000, len(x), 4000)))) for rate, x in pieces]
        self.asked_in: set[int] = set()
        self.unrecorded = 0

    def sent(self, y: F32) -> int:
        self.asked_in.add(threading.get_ident())
        while len(self.pieces) > 1 and not self.pieces[0][1]:
            self.pieces.pop(0)
        blocks = self.pieces[0][1]
        if not blocks:
            return 0
        block = blocks.pop(0)
        y[: len(block)] = block
        return len(block)

    def status(self) -> Status:
        return running(rate_out=self.pieces[0][0])


def record(target: Path, source: Source) -> Recorder:
    with Recorder(target) as recorder:
        recorder.start(source)
    return recorder


@pytest.mark.parametrize(("name", "container"), [("a.wav", "WAVEX"), ("a.w64", "W64"), ("a.caf", "CAF"), ("a.au", "AU")])
def test_floats_are_kept_to_the_bit(tmp_path: Path, name: str, container: str) -> None:
    x = noise(100_000) * np.float32(1.7)
    recorder = record(tmp_path / name, Sent((48_000, x)))
    y, rate = soundfile.read(tmp_path / name, dtype="float32")
    assert rate == 48_000
    np.testing.assert_array_equal(y, x)
    assert (recorder.trouble, recorder.note) == ("", "")
    assert recorder.seconds == pytest.approx(len(x) / 48_000)
    assert (soundfile.info(tmp_path / name).format, os.listdir(tmp_path)) == (container, [name])


@pytest.mark.parametrize(("name", "error"), [("a.flac", 2**-23), ("a.ogg", 0.2), ("a.mp3", 0.2)])
def test_other_endings_hold_what_they_can(tmp_path: Path, name: str, error: float) -> None:
    x = (0.5 * np.sin(np.arange(96_000) * 0.02)).astype(np.float32)
    assert record(tmp_path / name, Sent((48_000, x))).trouble == ""
    y, _ = soundfile.read(tmp_path / name, dtype="float32")
    assert len(y) == len(x)
    assert np.abs(y - x).max() < error


def test_it_is_fetched_while_the_stream_runs_and_by_another_thread(tmp_path: Path) -> None:
    source = Sent((48_000, noise(40_000)))
    with Recorder(tmp_path / "a.wav") as recorder:
        recorder.start(source)
        until = time.monotonic() + 10
        while source.pieces[0][1]:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert [p.suffix for p in tmp_path.iterdir()] == [".part"]
    assert threading.get_ident() not in source.asked_in
    assert soundfile.info(tmp_path / "a.wav").frames == 40_000


def test_another_rate_ends_it_and_says_so(tmp_path: Path) -> None:
    x = noise(30_000)
    recorder = record(tmp_path / "a.wav", Sent((48_000, x), (44_100, noise(50_000))))
    y, rate = soundfile.read(tmp_path / "a.wav", dtype="float32")
    assert rate == 48_000
    np.testing.assert_array_equal(y, x)
    assert (recorder.note, recorder.trouble) == ("it ends after 0.6 s, as the device came back at 44100 Hz", "")


@contextmanager
def room(size: int) -> Iterator[None]:
    """No file may grow beyond `size` bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", ["a.wav", "a.rf64", "a.w64", "a.caf", "a.au", "a.aiff"])
def test_on_a_full_disk_what_it_took_is_kept(tmp_path: Path, name: str) -> None:
    x = noise(100_000)
    with room(100_001), Recorder(tmp_path / name) as recorder:
        recorder.start(Sent((48_000, x)))
        recorder.close()
    y, rate = soundfile.read(tmp_path / name, dtype="float32")
    assert 20_000 <= len(y) < 25_100
    assert recorder.seconds == pytest.approx(len(y) / rate)
    assert recorder.trouble.endswith(f"free space where the output goes; the first {len(y) / rate:.1f} s are kept")
    np.testing.assert_array_equal(y, x[: len(y)])
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["a.flac", "a.ogg", "a.mp3"])
def test_what_is_packed_together_cannot_be_kept(tmp_path: Path, name: str) -> None:
    with room(20_000), Recorder(tmp_path / name) as recorder:
        recorder.start(Sent((48_000, noise(400_000))))
        recorder.close()
    assert recorder.trouble.endswith("free space where the output goes; nothing of it is kept")
    assert recorder.seconds == 0
    assert os.listdir(tmp_path) == []


class Endless(Sent):
    """A stream that is written more slowly than it sends."""

    def sent(self, y: F32) -> int:
        time.sleep(0.01)
        return 480


def test_it_can_be_given_up_while_it_is_being_finished(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.wav")
    recorder.start(Endless((48_000, noise(480))))
    assert not recorder.finish(0.5)
    recorder.drop("no time")
    assert os.listdir(tmp_path) == []
    assert (recorder.trouble, recorder.seconds) == ("no time", 0)


def test_given_up_while_the_disk_hangs_it_leaves_nothing_even_if_that_wakes_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung, woken, commit = threading.Event(), threading.Event(), Writer.commit

    def hang(self: Writer, **how: Any) -> None:
        hung.set()
        woken.wait(10)
        commit(self, **how)

    monkeypatch.setattr(Writer, "commit", hang)
    recorder = Recorder(tmp_path / "a.wav")
    recorder.start(Sent((48_000, noise(4800))))
    assert not recorder.finish(0.5)
    assert hung.is_set()
    recorder.drop("no time")
    assert (os.listdir(tmp_path), recorder.trouble) == ([], "no time")
    woken.set()
    assert recorder.finish(10)
    assert (os.listdir(tmp_path), recorder.trouble, recorder.seconds) == ([], "no time", 0)


def test_given_up_once_it_is_whole_it_stays(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.wav", Sent((48_000, noise(4800))))
    recorder.drop("too late")
    assert (os.listdir(tmp_path), recorder.trouble) == (["a.wav"], "")


def test_what_cannot_be_written_is_refused_before_it_starts(tmp_path: Path) -> None:
    with pytest.raises(FileFailure, match=r"cannot be written as \.m4a"):
        Recorder(tmp_path / "a.m4a")
    with pytest.raises(FileFailure, match=r"does not take 1 channel\(s\) at 44100 Hz"):
        Recorder(tmp_path / "a.opus").start(Sent((44_100, noise(100))))
    (tmp_path / "folder.wav").mkdir()
    with pytest.raises(FileFailure, match="a folder has"):
        Recorder(tmp_path / "folder.wav").start(Sent((48_000, noise(100))))
    assert os.listdir(tmp_path) == ["folder.wav"]


def test_a_recording_that_never_began_leaves_nothing(tmp_path: Path) -> None:
    with Recorder(tmp_path / "a.wav"):
        pass
    assert os.listdir(tmp_path) == []


def test_beyond_4_gib_it_stays_rf64(tmp_path: Path) -> None:
    """A sparse file with the header of 5 GiB of samples."""
    path, size = tmp_path / "long.wav", 5 * 2**30
    with soundfile.SoundFile(path, "w", 48_000, 1, "FLOAT", format="RF64") as file:
        file.write(np.zeros(0, np.float32))
    with path.open("r+b") as file:
        head = len(file.read())
        file.truncate(head + size)
        file.seek(20)
        file.write(struct.pack("<QQQ", head - 8 + size, size, size // 4))
        file.flush()
        before = os.pread(file.fileno(), head, 0)
        shorten(file)
        assert os.pread(file.fileno(), head, 0) == before
    assert (soundfile.info(path).format, soundfile.info(path).frames) == ("RF64", size // 4)


def test_frames_that_came_too_late_for_it_are_trouble(tmp_path: Path) -> None:
    """A stream that nobody fetched from for 10 s, of which it keeps 4 at least."""
    live = Live(Identity(), card=DummyCard(noise(48_000)), record=True)
    live.run(10.0)
    recorder = record(tmp_path / "a.wav", live)
    frames = soundfile.info(tmp_path / "a.wav").frames
    assert 4 * 48_000 <= frames < 6 * 48_000
    missing = live.unrecorded
    assert frames + missing == pytest.approx(480_000, abs=960)
    assert recorder.trouble.startswith(f"it lacks {missing} frames: ")


def test_of_a_live_stream_it_is_what_the_device_was_given(tmp_path: Path) -> None:
    played: list[F32] = []
    card = DummyCard(noise(48_000), real_time=True, listener=lambda now, y: played.append(y[:, 0].copy()))
    live = Live(Identity(), card=card, record=True)
    with Recorder(tmp_path / "a.wav") as recorder:
        with live:
            recorder.start(live)
            time.sleep(1.5)
        live.close()
    y, _ = soundfile.read(tmp_path / "a.wav", dtype="float32")
    given = np.concatenate(played)
    assert np.abs(y).max() > 0.1
    assert len(y) > 24_000
    np.testing.assert_array_equal(y, given[: len(y)])
    assert len(given) - len(y) <= 480

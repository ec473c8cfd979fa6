"""Raw PCM through an engine: in one process with a stage that changes nothing, and the real command between real pipes."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from signals import F32, noise, tone
from velavox.engine.host import Engine
from velavox.engine.identity import Identity
from velavox.engine.pipe import CODINGS, stream

pytestmark = pytest.mark.usefixtures("compiled")

COMMAND = [sys.executable, "-c", "from velavox.engine.cli import main; main()", "pipe"]


def through(engine: Engine, coding: str, pieces: Iterable[bytes]) -> tuple[bytes, int]:
    """What comes out for `pieces`, each written by itself, and what stream() returned."""
    source, feed = os.pipe()
    drain, sink = os.pipe()
    got = bytearray()

    def write() -> None:
        with os.fdopen(feed, "wb", buffering=0) as pipe:
            for piece in pieces:
                pipe.write(piece)

    def read() -> None:
        with os.fdopen(drain, "rb", buffering=0) as pipe:
            while data := pipe.read(65536):
                got.extend(data)

    threads = [threading.Thread(target=write), threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    dropped = stream(engine, CODINGS[coding], source, sink)
    os.close(sink)
    os.close(source)
    for thread in threads:
        thread.join()
    return bytes(got), dropped


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("channels", [1, 3])
def test_frames_out_are_frames_in_and_latency(coding: str, channels: int) -> None:
    engine = Engine(Identity(), sample_rate=16_000, channels=channels)
    x = np.stack([tone(4000, 300 + 100 * c, 0.4) for c in range(channels)], axis=1)
    data = CODINGS[coding].encode(x).tobytes()
    out, dropped = through(engine, coding, [data])
    assert len(out) == len(data) + engine.latency * CODINGS[coding].width * channels
    assert dropped == 0
    decoded = CODINGS[coding].decode(out)
    y = (decoded / 32768 if decoded.dtype.kind == "i" else decoded).reshape(-1, channels)
    assert np.abs(y[: engine.latency]).max() < 1e-3
    np.testing.assert_allclose(y[engine.latency :][800:3800], x[800:3800], atol=0.03)  # half a step of A-law at 0.4: 0.008


def test_reads_that_cut_frames_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = CODINGS["s16le"].encode(noise(6000).reshape(-1, 2)).tobytes()
    whole, _ = through(Engine(Identity(), sample_rate=44_100, channels=2), "s16le", [data])
    cuts = np.cumsum(np.random.default_rng(0).integers(1, 40, 400))
    pieces = iter([data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)])
    monkeypatch.setattr(os, "read", lambda fd, most: next(pieces, b""))  # a pipe would put some of them together
    cut, dropped = through(Engine(Identity(), sample_rate=44_100, channels=2), "s16le", [])
    assert (len(cut), dropped) == (len(whole), 0)
    assert np.abs(np.frombuffer(cut, "<i2").astype(int) - np.frombuffer(whole, "<i2")).max() <= 1


def test_an_unfinished_frame_at_the_end_is_dropped_and_counted() -> None:
    engine = Engine(Identity(), sample_rate=16_000, channels=2)
    out, dropped = through(engine, "s16le", [bytes(4 * 100 + 3)])
    assert (len(out), dropped) == (4 * (100 + engine.latency), 3)


def test_answers_before_the_input_ends() -> None:
    source, feed = os.pipe()
    drain, sink = os.pipe()
    engine = Engine(Identity(), sample_rate=16_000)
    running = threading.Thread(target=stream, args=(engine, CODINGS["s16le"], source, sink))
    running.start()
    for _ in range(3):
        os.write(feed, bytes(320))
        assert len(os.read(drain, 65536)) == 320
    os.close(feed)
    assert len(os.read(drain, 65536)) == 2 * engine.latency
    running.join()
    for fd in (source, drain, sink):
        os.close(fd)


def test_a_closed_sink_ends_it_and_the_collector_runs_again() -> None:
    source, feed = os.pipe()
    drain, sink = os.pipe()
    os.close(drain)
    os.write(feed, bytes(320))
    assert stream(Engine(Identity(), sample_rate=16_000), CODINGS["s16le"], source, sink) == 0
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    for fd in (source, feed, sink):
        os.close(fd)


def test_no_collection_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(Identity(), sample_rate=16_000)
    process, seen = engine.process, list[bool]()

    def watched(x: npt.ArrayLike) -> F32:
        seen.append(gc.isenabled())
        return process(x)

    monkeypatch.setattr(engine, "process", watched)
    through(engine, "f32le", [bytes(640)])
    assert seen == [False]


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    command = line.replace("velavox", " ".join([sys.executable, "-c", "'from velavox.engine.cli import main; main()'"]))
    return subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], cwd=folder, capture_output=True, check=False)


def test_command_ends_well_when_nobody_reads_on(tmp_path: Path) -> None:
    (tmp_path / "x.raw").write_bytes(CODINGS["s16le"].encode(noise(16_000 * 60)).tobytes())
    done = shell("cat x.raw | velavox pipe --rate 16000 | head -c 1000 | wc -c", tmp_path)
    assert done.stdout.split() == [b"1000"]
    assert b"Traceback" not in done.stderr
    assert b"delay" in done.stderr


def test_command_with_a_seed_repeats_itself_and_says_what_that_costs(tmp_path: Path) -> None:
    (tmp_path / "x.ul").write_bytes(CODINGS["mulaw"].encode(tone(8000, 200)).tobytes())
    line = "velavox pipe --rate 8000 --format mulaw --seed 5 < x.ul"
    first, second, free = (shell(text, tmp_path) for text in (line, line, line.replace("--seed 5", "")))
    assert first.returncode == second.returncode == free.returncode == 0
    assert first.stdout == second.stdout != free.stdout
    assert b"No privacy is claimed" in first.stderr
    assert b"privacy" not in free.stderr


def test_command_ends_with_130_on_interrupt() -> None:
    running = subprocess.Popen(
        [*COMMAND, "--rate", "16000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write(bytes(320))
    running.stdin.flush()
    assert len(running.stdout.read(320)) == 320
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=20)
    assert running.returncode == 130
    assert b"Traceback" not in told


def test_command_without_stderr_writes_samples_alone(tmp_path: Path) -> None:
    line = "velavox pipe --rate 16000 --seed 5 < /dev/zero 2>{} | head -c 20000"
    told, untold = (shell(line.format(stderr), tmp_path) for stderr in ("told", "&-"))
    assert b"delay" in (tmp_path / "told").read_bytes()
    assert told.stdout == untold.stdout


@pytest.mark.parametrize(
    ("kept", "value", "status", "message"),
    [
        (0, 12_345.0, 1, "1000 samples were far beyond full scale"),
        (0, np.nan, 1, "1000 samples were not finite"),
        (990, np.inf, 0, "10 samples were not finite"),
    ],
)
def test_command_tells_of_samples_that_it_could_not_use(
    tmp_path: Path, kept: int, value: float, status: int, message: str
) -> None:
    x = tone(1000, 200).astype("<f4")
    x[kept:] = value
    (tmp_path / "x.raw").write_bytes(x.tobytes())
    done = shell("velavox pipe --rate 16000 --format f32le < x.raw", tmp_path)
    assert done.returncode == status
    assert message in done.stderr.decode()
    assert ("give the --format" in done.stderr.decode()) == (status == 1)


def test_a_source_that_does_not_block_is_waited_for() -> None:
    source, feed = os.pipe()
    drain, sink = os.pipe()
    os.set_blocking(source, False)
    engine = Engine(Identity(), sample_rate=16_000)
    threading.Timer(0.2, os.close, [feed]).start()
    stream(engine, CODINGS["s16le"], source, sink)
    assert len(os.read(drain, 65536)) == 2 * engine.latency
    for fd in (source, drain, sink):
        os.close(fd)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_command_between_two_ffmpegs(tmp_path: Path) -> None:
    ffmpeg = "ffmpeg -v error -nostdin"
    line = (
        f"{ffmpeg} -f lavfi -i 'sine=frequency=200:duration=1:sample_rate=48000' -ac 2 -f f32le - | "
        f"velavox pipe --rate 48000 --channels 2 --format f32le | ffmpeg -v error -f f32le -ar 48000 -ac 2 -i - out.wav"
    )
    done = shell(line, tmp_path)
    assert done.returncode == 0
    import soundfile

    out = soundfile.info(tmp_path / "out.wav")
    assert (out.samplerate, out.channels) == (48_000, 2)
    assert 48_000 < out.frames < 48_000 + 0.1 * 48_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--rate 100", "velavox: --rate 100: give 4000 to 384000 Hz"),
        ("--rate 16000 --set alhpa=0.7", "it has alpha"),
        ("--rate 16000 --set alpha", "NAME=VALUE"),
        ("--rate 16000 --method nothing", "give one of mcadams"),
        ("--rate 16000 --format s24", "s16le"),
        ("--rate 16000 --channels 1000000000", "give 1 to 64"),
        ("", "--rate"),
    ],
)
def test_command_wrongly_used(tmp_path: Path, options: str, message: str) -> None:
    done = shell(f"velavox pipe {options} < /dev/null", tmp_path)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert done.stdout == b""


def test_live_drops_what_piled_up_and_keeps_whole_frames(tmp_path: Path) -> None:
    """Three bytes too many wait with 1000 frames: the frame that they begin is the first one through."""
    engine = Engine(Identity(), sample_rate=16_000, channels=2)
    source, feed = os.pipe()
    with (tmp_path / "out").open("wb") as sink:
        os.write(feed, b"\x11" * 4000 + b"\x01\x02\x03")

        def go_on() -> None:
            threading.Event().wait(0.2)
            os.write(feed, b"\x04" + b"\x05\x06\x07\x08" * 99)
            os.close(feed)

        thread = threading.Thread(target=go_on)
        thread.start()
        assert stream(engine, CODINGS["s16le"], source, sink.fileno(), live=True) == 0
        thread.join()
    os.close(source)
    out = (tmp_path / "out").read_bytes()[4 * engine.latency :]
    assert out == b"\x01\x02\x03\x04" + b"\x05\x06\x07\x08" * 99

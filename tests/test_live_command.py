"""The real command on a real sound server: what it says and plays, how it ends, and that nothing of it is left."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from livecommand import COMMAND, MAIN, PATIENCE, live
from rig import RATE, Rig
from signals import F32, voice

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("compiled")]


def left(rig: Rig) -> list[str]:
    """What stands in the server: modules, and programs that play or record."""
    listed = (rig.pactl("list", "short", kind) for kind in ("modules", "sink-inputs", "source-outputs"))
    return [" ".join(line.split("\t")[1:4]) for text in listed for line in text.splitlines()]


def found(pieces: list[F32], sound: F32) -> float:
    """Share of the pieces that stand in `sound` to the bit."""
    data = np.ascontiguousarray(sound).tobytes()
    return float(np.mean([piece.tobytes() in data for piece in pieces]))


def test_what_is_recorded_is_what_was_played(rig: Rig, tmp_path: Path) -> None:
    before = left(rig)
    with live(rig, "--record", tmp_path / "sent.wav", "--json", "--seconds", "5") as command:
        command.wait_for("delay ")
        with rig.recording() as monitor:
            rig.feed(voice(3.0, rate=RATE)).wait(PATIENCE)
        summary = json.loads(command.finish())
    assert summary["ended_by"] == "seconds"
    assert summary["rate_out_hz"] == RATE
    assert command.lines[0].startswith("running: ")
    assert command.lines[-1].startswith("ended after ")
    sent, rate = soundfile.read(tmp_path / "sent.wav", dtype="float32")
    assert rate == RATE
    assert len(sent) == pytest.approx(summary["record"]["seconds"] * RATE)
    loud = [piece for piece in np.split(sent, range(960, len(sent), 960)) if np.abs(piece).max() > 0.01]
    assert len(loud) > 50
    assert found(loud, monitor.sound[:, 1]) > 0.9  # all but where the server slips
    assert found(loud, monitor.sound[:, 0]) == 0  # what the microphone heard
    assert left(rig) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_within_2_s(rig: Rig, number: int) -> None:
    before = left(rig)
    with live(rig, "--json") as command:
        command.wait_for("running: ")
        assert len(left(rig)) == len(before) + 2
        took, out = command.stop(number)
    assert took < 2
    assert json.loads(out)["ended_by"] == "signal"
    assert left(rig) == before


@pytest.mark.parametrize("after", [0.3, 0.8, 1.3])
def test_a_signal_ends_it_within_2_s_while_it_starts(rig: Rig, after: float) -> None:
    before = left(rig)
    with live(rig) as command:
        time.sleep(after)
        took, _ = command.stop()
    assert took < 2
    assert left(rig) == before


def test_a_server_that_dies_is_told_and_waited_for(fresh_rig: Rig) -> None:
    with live(fresh_rig, "--json") as command:
        command.wait_for("running: ")
        fresh_rig.kill()
        command.wait_for("device lost: ")
        fresh_rig.restart()
        command.wait_for("the device is back")
        with fresh_rig.recording() as monitor:
            fresh_rig.feed(voice(1.0, rate=RATE)).wait(PATIENCE)
        assert np.abs(monitor.sound[:, 1]).max() > 0.01
        took, out = command.stop()
    assert took < 2
    assert json.loads(out)["reopened"] == 1


def test_a_signal_ends_it_within_2_s_while_the_device_is_lost(fresh_rig: Rig) -> None:
    with live(fresh_rig) as command:
        command.wait_for("running: ")
        fresh_rig.kill()
        command.wait_for("device lost: ")
        took, _ = command.stop()
    assert took < 2


@pytest.mark.parametrize("virtual", [(), ("--virtual-mic", "Test")])
def test_a_signal_ends_it_within_2_s_while_the_server_hangs(fresh_rig: Rig, virtual: tuple[str, ...]) -> None:
    with live(fresh_rig, *virtual) as command:
        command.wait_for("running: ")
        fresh_rig.pause()
        command.wait_for("device lost: ")
        took, _ = command.stop()
        fresh_rig.resume()
    assert took < 2


def test_a_virtual_microphone_is_heard_by_another_program_and_removed(rig: Rig) -> None:
    before = left(rig)
    with live(rig, "--virtual-mic", "Test Voice", "--seed", "5") as command:
        command.wait_for("delay ")
        assert any(line.startswith("choose the microphone 'Test Voice' ") for line in command.lines)
        assert any("No privacy is claimed" in line for line in command.lines)
        (source,) = (s.split("\t")[1] for s in rig.pactl("list", "short", "sources").splitlines() if "test_voice_mic" in s)
        with rig.recording(source, channels=1) as heard, rig.recording() as monitor:
            rig.feed(voice(1.0, rate=RATE)).wait(PATIENCE)
        assert np.abs(heard.sound).max() > 0.01
        assert np.abs(monitor.sound[:, 1]).max() == 0  # nothing on the loudspeaker
        took, _ = command.stop()
    assert took < 2
    assert left(rig) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_who_listens_to_the_virtual_microphone_hears_silence_when_it_ends(fresh_rig: Rig, number: int) -> None:
    """And not the default microphone, to which the sound server takes those whose microphone goes."""
    speaking = fresh_rig.feed(voice(12.0, rate=RATE))
    with live(fresh_rig, "--virtual-mic", "Test Voice", "--seed", "5") as command:
        command.wait_for("delay ")
        with fresh_rig.recording("velavox_test_voice_mic", channels=1) as call:
            time.sleep(1.0)
            command.process.send_signal(number)
            command.process.wait(PATIENCE)
            time.sleep(0.3)
            heard = time.monotonic()
            time.sleep(2.0)
            after = int((time.monotonic() - heard - 0.5) * RATE)
        assert speaking.poll() is None
        assert np.abs(call.sound).max() > 0.05
        assert not call.sound[-after:].any()
        if number == signal.SIGINT:
            command.output()
            assert any(line.startswith("'Test Voice' stays, silent: a program listens") for line in command.lines)


def test_keys_and_the_line_on_a_terminal(rig: Rig) -> None:
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 200, 0, 0))
    before = termios.tcgetattr(theirs)
    running = subprocess.Popen(
        [*COMMAND, "--json"], env=rig.env, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, text=True
    )
    shown = bytearray()
    reader = threading.Thread(target=_drain, args=(ours, shown))
    reader.start()
    try:
        for key, text in (
            (b"", b"\rkeys: m mute, n new voice, q quit\r\n"),
            (b"", b"\rrunning  "),
            (b"m", b"\rMUTED "),
            (b"n", b"\rvoice 2\r\n"),
            (b"m", b"\rrunning "),
        ):
            shown.clear()
            os.write(ours, key)
            until = time.monotonic() + PATIENCE
            while text not in shown:
                assert time.monotonic() < until, shown
                assert running.poll() is None, shown
                time.sleep(0.02)
        os.write(ours, b"q")
        out, _ = running.communicate(timeout=PATIENCE)
        assert (running.returncode, json.loads(out)["ended_by"]) == (0, "key")
        assert termios.tcgetattr(theirs) == before
    finally:
        running.kill()
        running.wait()
        os.close(theirs)
        reader.join(PATIENCE)
        os.close(ours)


def _drain(terminal: int, shown: bytearray) -> None:
    while True:
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # the other end is closed
            return


@pytest.mark.parametrize(
    ("options", "status", "start", "also"),
    [
        ("--input yeti", 2, "velavox: there is no input device 'yeti'; name one: ", "AnonymizedMic"),
        ("--output 99", 2, "velavox: there is no output device 99; name one: ", "spk"),
        ("--output Remapped", 2, "velavox: output device 'Remapped' is ambiguous; give the number ", "micfeed"),
        ("--rate 1000000", 2, "velavox: ", "1000000"),
        ("--set alpha=2,3", 2, "velavox: ", "alpha"),
    ],
)
def test_what_cannot_be_is_one_line(rig: Rig, options: str, status: int, start: str, also: str) -> None:
    before = left(rig)
    done = subprocess.run([*COMMAND, "--json", *options.split()], env=rig.env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (status, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(start)
    assert also in line
    assert left(rig) == before


def test_without_a_server_or_portaudio_it_is_one_line(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / ".asoundrc").write_text("")
    silent = rig.env | {"HOME": str(tmp_path), "PULSE_SERVER": f"unix:{tmp_path}/none"}
    blind = "import ctypes.util; ctypes.util.find_library = lambda name: None; " + MAIN
    for code, env, message in (
        (MAIN, silent, "device"),
        (blind, rig.env, "the sound library PortAudio is missing; install it: "),
    ):
        for words in (["live"], ["devices", "--json"]):
            done = subprocess.run([sys.executable, "-c", code, *words], env=env, capture_output=True, text=True, timeout=60)
            if code is MAIN and words[0] == "devices":
                assert (done.returncode, json.loads(done.stdout)) == (0, {"devices": []})
                continue
            (line,) = done.stderr.splitlines()
            assert (done.returncode, done.stdout) == (1, "")
            assert line.startswith("failed: ")
            assert message in line

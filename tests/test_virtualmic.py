"""The virtual microphone: made, heard by another program, gone afterwards; cables by name where it cannot be made."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from fakesound import FakeSound, device
from rig import Rig
from signals import noise
from velavox.engine import soundserver
from velavox.engine.card import DeviceError
from velavox.engine.devices import find
from velavox.engine.virtualmic import virtual_microphone


@pytest.mark.parametrize("name", ["", "  ", 'My "mic"', "a\\b", "a\nb"])
def test_a_name_that_cannot_be_quoted_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="give a name without double quotes"), virtual_microphone(name):
        pass


def test_without_pactl_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DeviceError, match="pulseaudio-utils"), virtual_microphone("Mic"):
        pass


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("echo 'Connection failure: Connection refused' >&2; exit 1", "is not there; start the sound server"),
        ("echo 'Failure: Module initialization failed' >&2; exit 1", "refuses `list short`: Failure: Module"),
        ("exec sleep 30", "does not answer; restart it"),
    ],
)
def test_a_server_that_does_not_do_it_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, said: str
) -> None:
    (tmp_path / "pactl").write_text(f"#!/bin/sh\n{answer}\n")
    (tmp_path / "pactl").chmod(0o755)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(DeviceError) as caught, virtual_microphone("Mic"):
        pass
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("outputs", "inputs", "output", "pick"),
    [
        (["Speakers", "BlackHole 2ch"], ["BlackHole 2ch"], "BlackHole 2ch", "BlackHole 2ch"),
        (["CABLE Input (VB-Audio Virtual Cable)"], ["CABLE Output (VB-Audio Virtual Cable)"], "CABLE Input", "CABLE Output"),
        (["Voicemeeter Input (VB-Audio)"], ["Voicemeeter Output (VB-Audio)"], "Voicemeeter Input", "VoiceMeeter Output"),
    ],
)
def test_elsewhere_a_cable_is_found_by_name(
    monkeypatch: pytest.MonkeyPatch, outputs: list[str], inputs: list[str], output: str, pick: str
) -> None:
    every = [device(name, 0, 2) for name in outputs] + [device(name, 2, 0) for name in inputs]
    monkeypatch.setitem(sys.modules, "sounddevice", FakeSound(every, default=(len(outputs), 0)))
    monkeypatch.setattr(sys, "platform", "darwin")
    with virtual_microphone("Mic") as mic:
        assert output in find(mic.output, "output").name
        assert mic.pick == pick
        mic.renew()


def test_no_cable_is_answered_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", FakeSound([device("Speakers", 0, 2)], default=(-1, 0)))
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(DeviceError, match=r"no virtual cable.*install VB-Cable"), virtual_microphone("Mic"):
        pass


@pytest.fixture
def server(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Rig:
    """The rig, with this process among its clients."""
    for name, value in rig.settings.items():
        monkeypatch.setenv(name, value)
    return rig


def ours(rig: Rig) -> list[str]:
    return [line for line in rig.pactl("list", "short", "modules").splitlines() if "velavox" in line]


@pytest.mark.live
@pytest.mark.parametrize("name", ["Veiled Voice ä", "Bob's mic's 'best'"])
def test_another_program_hears_it_and_it_goes(server: Rig, name: str) -> None:
    x = noise(24_000)
    with virtual_microphone(name) as mic:
        sources = server.pactl("list", "sources")
        assert f"Description: {mic.pick}\n" in sources
        assert mic.pick == name
        source = f"{mic.output}_mic"
        with server.recording(source, channels=1) as take:
            assert server.feed(x, into=str(mic.output)).wait(20) == 0
        start = int(np.flatnonzero(take.sound[:, 0] == x[0])[0])
        np.testing.assert_array_equal(take.sound[start : start + x.size, 0], x)
    assert not ours(server)


@pytest.mark.live
def test_it_goes_whatever_ends_the_context(server: Rig) -> None:
    with pytest.raises(SystemExit), virtual_microphone("Mic"):  # as SIGTERM does in the command
        sys.exit(143)
    assert not ours(server)


HOLD = "from velavox.engine.virtualmic import *\nwith virtual_microphone('Mic'): print('made', flush=True); input()"


@pytest.mark.live
def test_what_a_killed_run_left_is_replaced_and_what_another_run_uses_is_not(server: Rig) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLD], env=server.env, text=True, **pipes) as other:  # type: ignore[call-overload]
        assert other.stdout.readline() == "made\n"
        with pytest.raises(DeviceError, match=rf"'mic' belongs to process {other.pid}"), virtual_microphone("mic"):
            pass
        left = ours(server)
        assert len(left) == 2
        other.send_signal(signal.SIGKILL)
    assert ours(server) == left
    with virtual_microphone("Mic"):
        assert len(ours(server)) == 2
        assert not set(left) & set(ours(server))
    assert not ours(server)


@pytest.mark.live
def test_while_a_program_listens_it_stays_silent_and_the_next_run_takes_it_over(server: Rig) -> None:
    """The server would connect the listener to another microphone: to the default one, which hears the speaker."""
    x = noise(24_000)
    with virtual_microphone("Mic") as mic:
        made = ours(server)
        listening = server.recording(f"{mic.output}_mic", channels=1)
        with listening as take:
            assert not mic.kept
            with contextlib.ExitStack() as speaking:
                speaking.callback(server.feed(noise(480_000)).kill)  # into the default microphone
                time.sleep(0.5)
                mic.remove()  # type: ignore[attr-defined]  # the end of the context, while somebody listens
                assert mic.kept
                assert ours(server) == made
                with virtual_microphone("Mic") as again:
                    assert ours(server) == made
                    assert server.feed(x, into=str(again.output)).wait(20) == 0
                assert again.kept
                time.sleep(0.5)
        sound = take.sound[:, 0]
        start = int(np.flatnonzero(sound)[0])
        np.testing.assert_array_equal(sound[start : start + x.size], x)
        assert not sound[start + x.size :].any()
    with virtual_microphone("Mic"):
        assert not set(made) & set(ours(server))  # nobody listens: replaced
    assert not ours(server)


@pytest.mark.live
def test_what_another_run_has_taken_over_is_refused(server: Rig) -> None:
    with virtual_microphone("Mic") as mic:
        for_ever = server.feed(noise(480_000), into=str(mic.output))
        time.sleep(0.5)
        with pytest.raises(DeviceError, match="something plays into the virtual microphone 'Mic'"), virtual_microphone("Mic"):
            pass
        for_ever.kill()


@pytest.mark.live
def test_a_server_that_hangs_does_not_keep_it(fresh_rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in fresh_rig.settings.items():
        monkeypatch.setenv(name, value)
    with virtual_microphone("Mic"):
        fresh_rig.pause()
        began = time.monotonic()
    assert time.monotonic() - began < 0.8


@pytest.mark.live
def test_a_thread_that_was_left_behind_does_not_bring_it_back(server: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    with virtual_microphone("Mic") as mic:
        pass
    with pytest.raises(DeviceError, match="'Mic' has been removed"):
        mic.renew()
    assert not ours(server)

    asking, go_on = threading.Event(), threading.Event()
    ask = soundserver.ask

    def slow(*words: str, **kept: float) -> str:
        if threading.current_thread() is renewing and words[1] == "module-remap-source":
            asking.set()
            go_on.wait(10)
        return ask(*words, **kept)

    with virtual_microphone("Mic") as mic:
        for line in ours(server):
            server.pactl("unload-module", line.split("\t")[0], check=False)
        monkeypatch.setattr(soundserver, "ask", slow)
        renewing = threading.Thread(target=lambda: mic.renew())
        renewing.start()
        assert asking.wait(10)
        threading.Timer(0.1, go_on.set).start()
    renewing.join(10)
    assert not ours(server)


@pytest.mark.live
def test_a_question_that_hangs_ends_with_the_process(fresh_rig: Rig) -> None:
    code = """
import threading, time
from velavox.engine import soundserver
threading.Thread(target=soundserver.ask, args=("load-module", "module-null-sink", "sink_name=late"), daemon=True).start()
time.sleep(0.5)
"""
    fresh_rig.pause()
    subprocess.run([sys.executable, "-c", code], env=fresh_rig.env, timeout=20, check=True, stderr=subprocess.DEVNULL)
    fresh_rig.resume()
    time.sleep(0.3)
    assert "late" not in fresh_rig.pactl("list", "short", "sinks")


@pytest.mark.live
def test_it_is_renewed_after_a_restart_of_the_server(fresh_rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in fresh_rig.settings.items():
        monkeypatch.setenv(name, value)
    with virtual_microphone("Mic") as mic:
        before = ours(fresh_rig)
        mic.renew()
        assert ours(fresh_rig) == before
        fresh_rig.kill()
        with pytest.raises(DeviceError):
            mic.renew()
        fresh_rig.restart()
        assert not ours(fresh_rig)
        mic.renew()
        assert len(ours(fresh_rig)) == 2
    assert not ours(fresh_rig)

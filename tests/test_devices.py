"""Devices by number, name and part of a name; the sound server's; what is said where PortAudio is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakesound import FakeSound, PortAudioError, device
from rig import Rig
from velavox.engine import devices, portaudio, soundserver
from velavox.engine.card import DeviceError, WrongDevice

Use = Callable[..., FakeSound]

LAPTOP = [device("HDA Intel: ALC257 (hw:0,0)", 2, 2), device("Blue Yeti: USB (hw:1,0)", 2, 0), device("default", 32, 32)]
WINDOWS = [
    device("Microphone (Yeti)", 2, 0, 44100, host=0),
    device("Speakers (Realtek)", 0, 2, 44100, host=0),
    device("Microphone (Yeti)", 2, 0, 48000, host=1),
    device("Speakers (Realtek)", 0, 2, 48000, host=1),
]

SOURCES = """\
Source #1
	State: RUNNING
	Name: alsa_output.pci.monitor
	Description: Monitor of Built-in Audio
	Sample Specification: s16le 2ch 48000Hz
	Monitor of Sink: alsa_output.pci
	Properties:
		device.class = "monitor"
		alsa.card = "0"
Source #2
	Name: alsa_input.yeti
	Description: Blue Yeti Mono
	Sample Specification: s24le 1ch 44100Hz
	Monitor of Sink: n/a
	Properties:
		device.class = "sound"
		alsa.card = "1"
Source #3
	Name: quiet_mic
	Description: Noise-free Mic
	Sample Specification: float32le 1ch 48000Hz
	Monitor of Sink: n/a
	Properties:
		device.master_device = "alsa_input.yeti"
"""
SINKS = """\
Sink #4
	Name: alsa_output.pci
	Description: Built-in Audio
	Sample Specification: s16le 2ch 48000Hz
	Monitor Source: alsa_output.pci.monitor
	Properties:
		alsa.card = "0"
Sink #5
	Name: alsa_output.yeti
	Description: Blue Yeti Phones
	Sample Specification: s16le 2ch 48000Hz
	Properties:
		alsa.card = "1"
"""
INFO = "Server Name: pulseaudio\nDefault Sink: alsa_output.pci\nDefault Source: alsa_input.yeti\n"


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Use:
    """Have these devices, and no sound server."""

    def have(some: list[dict[str, Any]], default: tuple[int, int] = (0, 0), hosts: tuple[str, ...] = ("ALSA",)) -> FakeSound:
        fake = FakeSound(some, default, hosts)
        monkeypatch.setitem(sys.modules, "sounddevice", fake)
        monkeypatch.setattr(soundserver, "ask", refuse)
        return fake

    return have


@pytest.fixture
def served(use: Use, monkeypatch: pytest.MonkeyPatch) -> FakeSound:
    """A laptop with a sound server."""
    answers = {("info",): INFO, ("list", "sources"): SOURCES, ("list", "sinks"): SINKS}
    fake = use([*LAPTOP, device("pulse", 32, 32, 44100)], default=(2, 2))
    monkeypatch.setattr(soundserver, "ask", lambda *words: answers[words])
    monkeypatch.setattr(sys, "platform", "linux")
    return fake


def refuse(*words: str) -> str:
    raise DeviceError("no server", "start it")


@pytest.mark.parametrize(
    "wanted", [1, "1", " 1 ", "Blue Yeti: USB (hw:1,0)", "blue yeti: usb (HW:1,0)", "yeti", "Blue Yeti: USB (hw:1,0), ALSA"]
)
def test_number_name_or_part_of_it(use: Use, wanted: str | int) -> None:
    use(LAPTOP)
    assert devices.find(wanted, "input").number == 1


def test_nothing_asked_for_is_the_systems_default(use: Use) -> None:
    use(LAPTOP, default=(1, 0))
    assert devices.find(None, "input").number == 1
    assert devices.find(None, "output").number == 0


def test_an_exact_name_beats_a_part(use: Use) -> None:
    use([device("Mic", 1, 0), device("Mic 2", 1, 0)])
    assert devices.find("mic", "input").number == 0


def test_an_ambiguous_name_lists_candidates_with_numbers(use: Use) -> None:
    use([device("USB Mic A", 1, 0), device("USB Mic B", 1, 0), device("Other", 1, 0)])
    with pytest.raises(WrongDevice, match=r"ambiguous.*0 USB Mic A.*1 USB Mic B") as caught:
        devices.find("usb", "input")
    assert "Other" not in str(caught.value)


@pytest.mark.parametrize("wanted", ["headset", 7, "7", 1])
def test_what_is_not_there_is_refused_and_never_replaced(use: Use, wanted: str | int) -> None:
    use(LAPTOP)
    with pytest.raises(WrongDevice, match=r"0 HDA Intel.*2 default"):
        devices.find(wanted, "output")


def test_no_device_at_all(use: Use) -> None:
    use([device("Speakers", 0, 2)], default=(-1, 0))
    with pytest.raises(DeviceError, match=r"no input device; plug one in"):
        devices.find(None, "input")


def test_no_default(use: Use) -> None:
    use(LAPTOP, default=(-1, 0))
    with pytest.raises(WrongDevice, match="no default input"):
        devices.find(None, "input")


def test_a_card_under_several_host_apis_is_that_of_the_default_one(use: Use) -> None:
    use(WINDOWS, default=(2, 3), hosts=("MME", "Windows WASAPI"))
    assert devices.find("yeti", "input").number == 2
    assert devices.find("Microphone (Yeti)", "input").number == 2
    assert devices.find("Microphone (Yeti), MME", "input").number == 0


def test_a_found_device_is_found_again_where_it_stands_now(use: Use) -> None:
    use(LAPTOP)
    yeti = devices.find("yeti", "input")
    use([device("Camera (hw:1,0)", 1, 0), device("Other Yeti (hw:3,0)", 1, 0), device("Blue Yeti: USB (hw:2,0)", 2, 0)])
    assert devices.again(yeti, "input").number == 2
    use([device("Other Yeti (hw:1,0)", 1, 0)])
    with pytest.raises(WrongDevice, match="gone"):
        devices.again(yeti, "input")


def test_the_servers_nodes_by_description_or_name(served: FakeSound) -> None:
    for wanted in ("Blue Yeti Mono", "alsa_input.yeti", "yeti"):  # not the raw card, which the server holds
        found = devices.find(wanted, "input")
        assert (found.node, found.opened_as) == ("alsa_input.yeti", 3)
        assert found.input is not None
        assert (found.input.channels, found.input.rate) == (1, 44100)
    assert devices.find("Yeti: USB", "input").number == 1


def test_a_node_tells_what_it_hears(served: FakeSound) -> None:
    chain = {node.name: node.chain for node in soundserver.nodes()}
    assert chain["alsa_output.pci.monitor"] == ("alsa_output.pci.monitor", "alsa_output.pci")
    assert chain["quiet_mic"] == ("quiet_mic", "alsa_input.yeti")


def test_monitors_fit_where_nothing_else_does(served: FakeSound) -> None:
    assert devices.find("built-in", "input").node == "alsa_output.pci.monitor"
    assert devices.find("mon", "input").node == "alsa_input.yeti"  # "Mono"


def test_behind_the_default_device_stands_the_servers(served: FakeSound) -> None:
    found = devices.find(None, "input")
    assert found.input is not None
    assert found.output is not None
    assert (found.name, found.input.channels, found.input.rate) == ("default", 1, 44100)
    assert (found.output.channels, found.output.rate) == (2, 48000)
    assert found.input.clock != found.output.clock


def test_nodes_of_one_card_have_one_clock(served: FakeSound) -> None:
    clock = {node.name: node.clock for node in soundserver.nodes()}
    assert clock["alsa_input.yeti"] == clock["alsa_output.yeti"] == clock["quiet_mic"]
    assert clock["alsa_output.pci"] == clock["alsa_output.pci.monitor"] != clock["alsa_input.yeti"]


def test_a_server_that_portaudio_does_not_reach(served: FakeSound) -> None:
    served.devices.pop()
    with pytest.raises(DeviceError, match=r"Blue Yeti Mono.*libasound2-plugins"):
        devices.find("alsa_input.yeti", "input")


def test_rates_that_a_device_takes(use: Use) -> None:
    fake = use([device("Card", 2, 2, takes={44100, 48000})])
    card = devices.find(0, "input")
    assert devices.rates(card, "input") == [44100, 48000]
    fake.devices[0]["error"] = PortAudioError("Device unavailable", -9985)
    with pytest.raises(DeviceError, match=r"input 'Card': it is in use"):
        devices.rates(card, "input")


def test_listing_names_every_device(served: FakeSound) -> None:
    text = devices.listing()
    rows = json.loads(devices.listing(as_json=True))["devices"]
    assert len(rows) == 9
    for row in rows:
        assert f"{row['number']}  {row['name']}" in text
    for direction, names in (("input", ["default", "Blue Yeti Mono"]), ("output", ["default", "Built-in Audio"])):
        assert [row["name"] for row in rows if row[direction] and row[direction]["default"]] == names
    assert "< 5  Blue Yeti Mono" in text
    assert "> 7  Built-in Audio" in text
    assert rows[5]["node"] == "alsa_input.yeti"
    assert rows[5]["input"] == {"channels": 1, "rate_hz": 44100, "delay_ms": None, "default": True}


def test_a_listing_of_nothing_is_one_line_with_a_remedy(use: Use) -> None:
    use([], default=(-1, -1))
    assert devices.listing() == "There is no sound device: plug one in, or start the sound server."
    assert json.loads(devices.listing(as_json=True)) == {"devices": []}


def test_a_server_that_hangs_is_told_before_portaudio_is_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pactl").write_text("#!/bin/sh\nexec sleep 30\n")
    (tmp_path / "pactl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(soundserver.ask, "__kwdefaults__", {"seconds": 0.2})
    monkeypatch.setattr(portaudio, "sounddevice", lambda: pytest.fail("it would hang"))
    with pytest.raises(DeviceError, match="does not answer; restart it"):
        devices.listing()
    with pytest.raises(DeviceError, match="does not answer; restart it"):
        soundserver.check()


def test_listing_needs_no_kernels() -> None:
    code = "import sys, velavox.engine.devices; sys.exit(any('numba' in name or 'kernels' in name for name in sys.modules))"
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)


def test_portaudio_that_did_not_start_once_starts_later(use: Use) -> None:
    fake = use(LAPTOP)
    fake.broken = [PortAudioError("Error initializing PortAudio", -9999)] * 2
    for _ in range(2):
        with pytest.raises(DeviceError, match="PortAudio does not start: Error init"):
            portaudio.refresh()
    portaudio.refresh()
    portaudio.refresh()
    assert fake.refreshed == 2


def test_without_sounddevice_and_without_portaudio_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(DeviceError, match="pip install sounddevice"):
        devices.devices()
    monkeypatch.delitem(sys.modules, "sounddevice")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')")
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(DeviceError, match="libportaudio2"):
        devices.devices()
    (tmp_path / "sounddevice.py").write_text("raise RuntimeError('Error initializing PortAudio: Unanticipated host error')")
    with pytest.raises(DeviceError, match="does not start"):
        devices.devices()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PortAudioError("Error opening Stream: Device unavailable", -9985), "in use"),
        (PortAudioError("Error opening Stream: Invalid sample rate", -9997), "refuses this rate"),
        (PortAudioError("Error opening Stream: Invalid device", -9996), "plug it in"),
        (PortAudioError("Unanticipated host error", -9999, (0, -13, "Permission denied")), "group audio"),
        (PortAudioError("Unanticipated host error", -9999, (0, -16, "Device or resource busy")), "in use"),
        (PortAudioError("Unanticipated host error", -9999, (0, -111, "Connection refused")), "not there"),
        (PortAudioError("Unanticipated host error", -9999, (0, -5, "Input/output\nerror")), r"Input/output error"),
    ],
)
def test_each_refusal_is_one_line_with_a_remedy(error: Exception, said: str) -> None:
    text = str(portaudio.explained(error, "input 'Yeti'"))
    assert text.startswith("input 'Yeti': ")
    assert said in text
    assert "; " in text
    assert "\n" not in text


def test_quiet_drops_what_libraries_write_and_keeps_what_python_writes() -> None:
    code = """
import os, sys
from velavox.engine.portaudio import quiet
with quiet():
    os.write(2, b"ALSA lib: noise\\n")
    print("kept", file=sys.stderr)
os.write(2, b"after\\n")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "kept\nafter\n"


def test_quiet_is_undone_though_the_terminal_has_gone() -> None:
    code = """
import os, sys
from velavox.engine.portaudio import quiet
kept = os.dup(2)
ours, theirs = os.openpty()
os.dup2(theirs, 2)
os.close(theirs)
python = sys.stderr = open(os.dup(2), "w")
print("unwritten", end="", file=sys.stderr)
terminal = os.fstat(2).st_rdev
os.close(ours)
with quiet():
    print("no line's end, so that it is written when closed", end="", file=sys.stderr)
os.write(kept, repr((sys.stderr is python, os.fstat(2).st_rdev == terminal)).encode())
os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "(True, True)")


def test_quiet_without_a_stderr() -> None:
    code = "from velavox.engine.portaudio import quiet\nwith quiet(): print('done')"
    done = subprocess.run(f'{sys.executable} -c "{code}" 2>&-', shell=True, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "done\n")


@pytest.mark.live
def test_the_rigs_devices(rig: Rig) -> None:
    code = """
from velavox.engine.devices import find, listing
print(listing(as_json=True))
print(find("fakemic", "input").input.clock == find("spk", "output").output.clock)
"""
    done = subprocess.run([sys.executable, "-c", code], env=rig.env, capture_output=True, text=True, timeout=60, check=True)
    table, _, one_clock = done.stdout.strip().rpartition("\n")
    nodes = {row["node"]: row for row in json.loads(table)["devices"]}
    assert {"fakemic", "anonmic", "spk", "micfeed"} <= nodes.keys()
    assert nodes["anonmic"]["name"] == "AnonymizedMic"
    assert one_clock == "True"

"""A named device that goes while the stream runs is never replaced, though the sound server would; and it is taken again."""

from __future__ import annotations

import time

import numpy as np
import pytest
from livecommand import PATIENCE, Command, live
from rig import RATE, Rig
from signals import voice

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("compiled")]

UNDERWAY = 0.25  # s of the voice that may have been on its way: 0.02 measured, more where the machine is busy


def load(rig: Rig, *words: str) -> str:
    return rig.pactl("load-module", *words).strip()


def headset(rig: Rig) -> str:
    properties = "sink_properties=device.description=Headset"
    return load(rig, "module-null-sink", "sink_name=headset", properties, f"rate={RATE}", "norewinds=1")


def usb_microphone(rig: Rig) -> str:
    properties = "source_properties=device.description=UsbMic"
    return load(rig, "module-remap-source", "master=feed.monitor", "source_name=usbmic", properties)


def wait_for_last(command: Command, start: str) -> None:
    """Until the last line starts so."""
    until = time.monotonic() + PATIENCE
    while not command.lines[-1].startswith(start):
        assert time.monotonic() < until, command.lines
        time.sleep(0.02)


def goes_while_somebody_speaks(rig: Rig, command: Command, module: str, last: str = "device lost: ") -> None:
    """Somebody speaks into the default microphone for 4 s; in its middle a module goes that the command needs.

    Nothing is played on the default output. Returns when the command has said a line that starts like `last`, too.
    """
    with rig.recording() as take:
        speaking = rig.feed(voice(4.0, rate=RATE))
        time.sleep(1.5)
        rig.pactl("unload-module", module)
        command.wait_for("device lost: ")
        command.wait_for(last)
        speaking.wait(PATIENCE)
    assert np.abs(take.sound[:, 0]).max() > 0.1
    assert np.count_nonzero(take.sound[:, 1]) < UNDERWAY * RATE


def loud(rig: Rig, monitor: str, into: str) -> float:
    """Peak at a monitor while somebody speaks into a sink."""
    with rig.recording(monitor, channels=1) as take:
        rig.feed(voice(1.0, rate=RATE), into=into).wait(PATIENCE)
        time.sleep(0.3)
    return float(np.abs(take.sound).max())


def test_the_voice_does_not_come_out_of_another_output(fresh_rig: Rig) -> None:
    module = headset(fresh_rig)
    with live(fresh_rig, "--output", "Headset", "--seed", "7") as command:
        command.wait_for("delay ")
        goes_while_somebody_speaks(fresh_rig, command, module)
        wait_for_last(command, "device lost: output 'Headset' is gone; plug it in")
        assert loud(fresh_rig, "spk.monitor", "micfeed") == 0
        headset(fresh_rig)
        command.wait_for("the device is back")
        assert loud(fresh_rig, "headset.monitor", "micfeed") > 0.05
        took, _ = command.stop()
    assert took < 2


def test_no_other_input_is_heard(fresh_rig: Rig) -> None:
    load(fresh_rig, "module-null-sink", "sink_name=feed", f"rate={RATE}", "norewinds=1")
    module = usb_microphone(fresh_rig)
    with live(fresh_rig, "--input", "UsbMic", "--seed", "7") as command:
        command.wait_for("delay ")
        goes_while_somebody_speaks(fresh_rig, command, module)
        wait_for_last(command, "device lost: input 'UsbMic' is gone; plug it in")
        assert loud(fresh_rig, "spk.monitor", "micfeed") == 0
        usb_microphone(fresh_rig)
        command.wait_for("the device is back")
        assert loud(fresh_rig, "spk.monitor", "feed") > 0.05
        took, _ = command.stop()
    assert took < 2


def test_a_virtual_microphone_that_is_taken_away_comes_back(fresh_rig: Rig) -> None:
    with live(fresh_rig, "--virtual-mic", "Bob's mic", "--seed", "7") as command:
        command.wait_for("delay ")
        modules = fresh_rig.pactl("list", "short", "modules").splitlines()
        (module,) = (line.split("\t")[0] for line in modules if "sink_name=velavox_bob_s_mic " in line)
        goes_while_somebody_speaks(fresh_rig, command, module, "the device is back")
        assert loud(fresh_rig, "velavox_bob_s_mic_mic", "micfeed") > 0.05
        took, _ = command.stop()
        assert "velavox" not in fresh_rig.pactl("list", "short", "modules")
    assert took < 2


def test_an_output_that_is_moved_by_its_user_goes_back(fresh_rig: Rig) -> None:
    headset(fresh_rig)
    with live(fresh_rig, "--output", "Headset", "--seed", "7") as command:
        command.wait_for("delay ")
        blocks = fresh_rig.pactl("list", "sink-inputs").split("\n\n")
        (number,) = (block.partition("#")[2].split()[0] for block in blocks if "velavox.stream" in block)
        fresh_rig.pactl("move-sink-input", number, "spk")
        command.wait_for("device lost: ")
        command.wait_for("the device is back")
        assert loud(fresh_rig, "headset.monitor", "micfeed") > 0.05
        command.stop()

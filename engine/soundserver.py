"""The Linux desktop's sound server, PulseAudio or PipeWire, asked through `pactl`: its sources and sinks, and their clocks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Literal

from .card import DeviceError

Direction = Literal["input", "output"]

SECONDS = 3.0  # a server that hangs must not hang its caller
_INSTALL = "install it: `apt-get install pulseaudio-utils` on Debian, Ubuntu and Fedora (dnf)"
_START = "start the sound server: `systemctl --user start pipewire-pulse`, or `pulseaudio --start`"


@dataclass(frozen=True)
class Node:
    """A source or a sink of the server."""

    direction: Direction
    name: str
    description: str
    channels: int
    rate: int  # Hz
    monitor: bool  # a source that gives what is played to a sink
    clock: str  # two nodes of one clock do not drift apart: on one sound card, or fed by one another
    default: bool


def ask(*words: str, seconds: float = SECONDS) -> str:
    """What `pactl` answers within `seconds`; DeviceError where it is missing, or the server does not answer or refuses."""
    if shutil.which("pactl") is None:
        raise DeviceError("the program pactl is missing, which asks the sound server", _INSTALL)
    try:
        done = subprocess.run(
            ["pactl", *words],
            env=os.environ | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the command, which then removes what it has made
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DeviceError("the sound server does not answer", "restart it") from None
    if done.returncode:
        said = " ".join(done.stderr.split()) or "no reason given"
        if "onnection" in said:
            raise DeviceError("the sound server is not there", _START)
        raise DeviceError(f"the sound server refuses `{' '.join(words[:2])}`: {said}", "see its log")
    return done.stdout


def nodes() -> list[Node]:
    """Its sources and sinks; none where there is no server, or no `pactl` to ask it."""
    if sys.platform != "linux":
        return []
    try:
        defaults = {key: value for key, value in map(_pair, ask("info").splitlines()) if key.startswith("Default S")}
        sources, sinks = _blocks(ask("list", "sources")), _blocks(ask("list", "sinks"))
    except DeviceError:
        return []
    every = {block.get("Name", ""): block for block in [*sources, *sinks]}
    found = [_node("input", block, every, defaults.get("Default Source")) for block in sources]
    return found + [_node("output", block, every, defaults.get("Default Sink")) for block in sinks]


def _node(direction: Direction, block: dict[str, str], every: dict[str, dict[str, str]], default: str | None) -> Node:
    channels, rate = block["Sample Specification"].split()[1:]
    return Node(
        direction=direction,
        name=block["Name"],
        description=block.get("Description", block["Name"]),
        channels=int(channels.removesuffix("ch")),
        rate=int(rate.removesuffix("Hz")),
        monitor=block.get("device.class") == "monitor",
        clock=_clock(block, every),
        default=block["Name"] == default,
    )


def _clock(block: dict[str, str], every: dict[str, dict[str, str]]) -> str:
    """What paces a node: at the end of the chain of those that it only passes on, a card or itself."""
    for _ in range(len(every)):
        master = block.get("Monitor of Sink", "n/a"), block.get("device.master_device", "n/a")
        known = [every[name] for name in master if name in every]
        if not known:
            break
        block = known[0]
    card = block.get("alsa.card")
    return block["Name"] if card is None else f"card {card}"


def _blocks(text: str) -> list[dict[str, str]]:
    """The entries of `pactl list`, each with its fields and properties as one dictionary; the first word on a key wins."""
    found: list[dict[str, str]] = []
    for line in text.splitlines():
        if line[:1] not in ("", "\t", " "):
            found.append({})
        elif found:
            key, value = _pair(line)
            found[-1].setdefault(key, value)
    return [block for block in found if "Name" in block and len(block.get("Sample Specification", "").split()) == 3]


def _pair(line: str) -> tuple[str, str]:
    """ "Name: rig" and 'device.class = "monitor"' as pairs."""
    if " = " in line:
        key, _, value = line.partition(" = ")
        return key.strip(), value.strip().strip('"')
    key, _, value = line.partition(": ")
    return key.strip(), value.strip()

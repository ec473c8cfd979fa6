"""The Linux desktop's sound server, PulseAudio or PipeWire, asked through `pactl`: its sources and sinks, and their clocks."""

from __future__ import annotations

import atexit
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
class Kind:
    """What one direction is called by `pactl`."""

    node: str
    stream: str  # by which a program is attached to a node


KINDS: dict[Direction, Kind] = {"input": Kind("source", "source-output"), "output": Kind("sink", "sink-input")}


@dataclass(frozen=True)
class Node:
    """A source or a sink of the server."""

    direction: Direction
    number: str  # among those of its direction, and of no other one later
    name: str
    description: str
    channels: int
    rate: int  # Hz
    monitor: bool  # a source that gives what is played to a sink
    chain: tuple[str, ...]  # itself, then what it passes on, nearest first: a remapped source, a monitor, the monitor's sink
    clock: str  # two nodes of one clock do not drift apart: on one sound card, or fed by one another
    default: bool


class NoAnswer(DeviceError):  # noqa: N818
    """The server is there and hangs; whoever connects to it would hang too."""


_asking: set[subprocess.Popen[str]] = set()


def ask(*words: str, seconds: float = SECONDS) -> str:
    """What `pactl` answers within `seconds`; DeviceError where it is missing or the server refuses, NoAnswer where it hangs."""
    if shutil.which("pactl") is None:
        raise DeviceError("the program pactl is missing, which asks the sound server", _INSTALL)
    process = subprocess.Popen(
        ["pactl", *words],
        env=in_english(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the command, which then removes what it has made
        encoding="utf-8",
        errors="replace",
    )
    with process:
        _asking.add(process)
        try:
            out, said = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise NoAnswer("the sound server does not answer", "restart it") from None
        finally:
            process.kill()
            _asking.discard(process)
    if process.returncode:
        said = " ".join(said.split()) or "no reason given"
        if "onnection" in said:
            raise DeviceError("the sound server is not there", _START)
        raise DeviceError(f"the sound server refuses `{' '.join(words[:2])}`: {said}", "see its log")
    return out


@atexit.register
def _stop_asking() -> None:
    """Leave nothing that waits for a server that hangs, and would do its work once that runs again."""
    for process in list(_asking):
        process.kill()


def in_english() -> dict[str, str]:
    """The environment in which `pactl` says what is understood here."""
    return os.environ | {"LC_ALL": "C"}


def check() -> None:
    """NoAnswer where there is a server, and it hangs."""
    if sys.platform != "linux":
        return
    try:
        ask("info")
    except NoAnswer:
        raise
    except DeviceError:  # there is none
        return


def nodes() -> list[Node]:
    """Its sources and sinks; none where there is no server, or no `pactl` to ask it. NoAnswer where it hangs."""
    if sys.platform != "linux":
        return []
    try:
        defaults = {key: value for key, value in map(_pair, ask("info").splitlines()) if key.startswith("Default S")}
        sources, sinks = ([block for block in blocks(ask("list", kind)) if _is_node(block)] for kind in ("sources", "sinks"))
    except NoAnswer:
        raise
    except DeviceError:
        return []
    every = {block["Name"]: block for block in [*sources, *sinks]}
    found = [_node("input", block, every, defaults.get("Default Source")) for block in sources]
    return found + [_node("output", block, every, defaults.get("Default Sink")) for block in sinks]


def streams_at(direction: Direction, name: str, seconds: float = SECONDS) -> int:
    """How many streams of programs are attached to the node of this name; DeviceError as for `ask`."""
    kind = KINDS[direction]
    numbers = [block["#"] for block in blocks(ask("list", f"{kind.node}s", seconds=seconds)) if block.get("Name") == name]
    streams = blocks(ask("list", f"{kind.stream}s", seconds=seconds)) if numbers else []
    return sum(block.get(kind.node.capitalize()) in numbers for block in streams)


def _node(direction: Direction, block: dict[str, str], every: dict[str, dict[str, str]], default: str | None) -> Node:
    channels, rate = block["Sample Specification"].split()[1:]
    chain = _chain(block, every)
    card = chain[-1].get("alsa.card")
    return Node(
        direction=direction,
        number=block["#"],
        name=block["Name"],
        description=block.get("Description", block["Name"]),
        channels=int(channels.removesuffix("ch")),
        rate=int(rate.removesuffix("Hz")),
        monitor=block.get("device.class") == "monitor",
        chain=tuple(link["Name"] for link in chain),
        clock=chain[-1]["Name"] if card is None else f"card {card}",
        default=block["Name"] == default,
    )


def _chain(block: dict[str, str], every: dict[str, dict[str, str]]) -> list[dict[str, str]]:
    """A node and those that it passes on, nearest first; the last one paces them all."""
    chain = [block]
    while len(chain) <= len(every):
        master = block.get("Monitor of Sink", "n/a"), block.get("device.master_device", "n/a")
        known = [every[name] for name in master if name in every]
        if not known:
            break
        block = known[0]
        chain.append(block)
    return chain


def _is_node(block: dict[str, str]) -> bool:
    return "Name" in block and len(block.get("Sample Specification", "").split()) == 3


def blocks(text: str) -> list[dict[str, str]]:
    """The entries of `pactl list`, each with its fields and properties as one dictionary; the first word on a key wins.

    "#" is its number."""
    found: list[dict[str, str]] = []
    for line in text.splitlines():
        if line[:1] not in ("", "\t", " "):
            found.append({"#": line.rpartition("#")[2]})
        elif found:
            key, value = _pair(line)
            found[-1].setdefault(key, value)
    return found


def _pair(line: str) -> tuple[str, str]:
    """ "Name: rig" and 'device.class = "monitor"' as pairs."""
    if " = " in line:
        key, _, value = line.partition(" = ")
        return key.strip(), value.strip().strip('"')
    key, _, value = line.partition(": ")
    return key.strip(), value.strip()

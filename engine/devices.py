"""Sound devices by number, name or part of a name: PortAudio's, and on Linux the sound server's sources and sinks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import portaudio, soundserver
from .card import DeviceError, WrongDevice
from .soundserver import Direction, Node

RATES = (8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000, 192_000)  # Hz, the usual ones
SERVER_API = "sound server"
_PULSE = "pulse"  # ALSA's device that libpulse serves, where PULSE_SOURCE and PULSE_SINK say which node
_SERVED = (_PULSE, "pipewire", "default")  # ALSA's devices behind which a running server stands
_JACK = "JACK Audio Connection Kit"
_BRIDGE = (
    "install ALSA's plugin for the sound server: `apt-get install libasound2-plugins` on Debian and Ubuntu, "
    "`dnf install alsa-plugins-pulseaudio` on Fedora"
)


@dataclass(frozen=True)
class End:
    """One direction of a device."""

    channels: int
    rate: int  # Hz, its own
    delay: float | None  # s, the low one that PortAudio names; None: it is not known before a stream is open
    default: bool  # what the system takes where nothing is asked for, or the sound server
    clock: str  # ends of one clock do not drift apart
    chain: tuple[str, ...] = ()  # the sound server's nodes: its own, then what that passes on, nearest first


@dataclass(frozen=True)
class Device:
    """A sound device as it is now."""

    number: int  # moves when devices come and go
    name: str
    host_api: str
    input: End | None
    output: End | None
    opened_as: int  # PortAudio's number
    node: str = ""  # of the sound server
    monitor: bool = False  # gives what is played elsewhere

    @property
    def full_name(self) -> str:
        """Tells it from a device of the same name under another host API."""
        return f"{self.name}, {self.host_api}"

    def end(self, direction: Direction) -> End | None:
        return self.input if direction == "input" else self.output


def devices() -> list[Device]:
    """What PortAudio found when it was last initialised, then the sound server's. DeviceError without PortAudio, or where the
    server hangs."""
    nodes = soundserver.nodes()  # first: a server that hangs would hang PortAudio, which connects to it as it starts
    sd = portaudio.sounddevice()
    hosts = sd.query_hostapis()
    default = _defaults(sd)
    found = [_device(i, info, hosts[info["hostapi"]], default, nodes) for i, info in enumerate(sd.query_devices())]
    bridge = next((d.opened_as for d in found if (d.name, d.host_api) == (_PULSE, "ALSA")), -1)
    return found + [_served(len(found) + i, node, bridge) for i, node in enumerate(nodes)]


def find(wanted: str | int | None, direction: Direction) -> Device:
    """The device that `wanted` names: a number, a name, "NAME, HOST API", or any part of that, in upper or lower case.

    None is the system's default. Several that fit: the sound server's, or on other systems that of the default host API
    (where Windows lists a card under each of four), if that is one; else WrongDevice lists them, as when none fits.
    A whole name always fits. By a part of it, monitors, which give what is played elsewhere, fit only where nothing else does:
    "usb" is the microphone of that name and not the monitor of the loudspeakers of that name.
    """
    every = devices()
    able = [d for d in every if d.end(direction)]
    if not able:
        raise DeviceError(f"there is no {direction} device", "plug one in, or start the sound server")
    if wanted is None:
        fits = [d for d in able if _end(d, direction).default and not d.node]  # the server's stands behind one of PortAudio's
        if not fits:
            raise WrongDevice(f"the system names no default {direction} device", f"name one: {_names(able)}")
        return _usable(fits[0])
    number = int(wanted) if isinstance(wanted, int) or wanted.strip().isdecimal() else None
    if number is not None:
        numbered = [d for d in able if d.number == number]
        if not numbered:
            raise WrongDevice(f"there is no {direction} device {number}", f"name one: {_names(able)}")
        return _usable(numbered[0])
    fits = _fitting(str(wanted), able)
    if not fits:
        raise WrongDevice(f"there is no {direction} device {wanted!r}", f"name one: {_names(able)}")
    preferred = _preferred(fits, every)
    if len(preferred) != 1:
        raise WrongDevice(f"{direction} device {wanted!r} is ambiguous", f"give the number or more of the name: {_names(fits)}")
    return _usable(preferred[0])


def again(known: Device, direction: Direction) -> Device:
    """The device that was found before, wherever it stands now; WrongDevice while it is gone, never another one."""
    able = [d for d in devices() if d.end(direction) and (d.host_api, d.node) == (known.host_api, known.node)]
    fits = [d for d in able if d.name == known.name] or [d for d in able if _card_name(d.name) == _card_name(known.name)]
    if len(fits) != 1:
        raise WrongDevice(f"{direction} {known.name!r} is {'there twice' if fits else 'gone'}", "plug it in as it was")
    return _usable(fits[0])


def rates(device: Device, direction: Direction, channels: int | None = None) -> list[int]:
    """Those of RATES that it takes, Hz. DeviceError if it takes none, as when another program has it."""
    taken = [rate for rate in RATES if takes(device, direction, rate, channels)]
    if not taken:
        raise DeviceError(f"{direction} {device.name!r} takes no usual rate", "choose another device")
    return taken


def takes(device: Device, direction: Direction, rate: int, channels: int | None = None) -> bool:
    """Whether it runs at `rate` Hz; a sound server's runs at any. DeviceError if it cannot be asked."""
    if device.node:
        return True
    sd = portaudio.sounddevice()
    check = sd.check_input_settings if direction == "input" else sd.check_output_settings
    try:
        check(device=device.opened_as, channels=channels or used(_end(device, direction)), dtype="float32", samplerate=rate)
    except sd.PortAudioError as error:
        if len(error.args) > 1 and error.args[1] == portaudio.INVALID_RATE:
            return False
        raise portaudio.explained(error, f"{direction} {device.name!r}") from None
    return True


def used(end: End) -> int:
    """Channels that a stream opens: a pair at most, since the engine mixes them without losing a one-sided microphone."""
    return min(end.channels, 2)


def listing(as_json: bool = False) -> str:
    """Every device, for `velavox devices`."""
    every = devices()
    if not every and not as_json:
        return "There is no sound device: plug one in, or start the sound server."
    if as_json:
        return json.dumps({"devices": [_plain(d) for d in every]}, indent=1, ensure_ascii=False)
    rows: list[tuple[str, ...]] = [("", "name", "host", "in", "out", "rate", "server's name")]
    for d in every:
        marks = "".join(mark for mark, end in (("<", d.input), (">", d.output)) if end and end.default)
        ends = [end for end in (d.input, d.output) if end]
        hertz = "/".join(dict.fromkeys(str(end.rate) for end in ends))
        counts = [str(end.channels) if end else "-" for end in (d.input, d.output)]
        rows.append((f"{marks:>2} {d.number}", d.name, d.host_api, *counts, hertz, d.node))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", "<, >: the default input, output. Name one by number, name or part of the name."])


def _plain(device: Device) -> dict[str, Any]:
    def plain(end: End | None) -> dict[str, Any] | None:
        if end is None:
            return None
        delay = None if end.delay is None else round(end.delay * 1e3, 2)
        return {"channels": end.channels, "rate_hz": end.rate, "delay_ms": delay, "default": end.default}

    ends = {"input": plain(device.input), "output": plain(device.output)}
    return {"number": device.number, "name": device.name, "host_api": device.host_api, "node": device.node or None, **ends}


def _defaults(sd: Any) -> dict[Direction, int]:
    """PortAudio's numbers of the default devices."""
    found: dict[Direction, int] = {}
    for direction in ("input", "output"):
        try:
            found[direction] = sd.query_devices(kind=direction)["index"]
        except (sd.PortAudioError, ValueError):  # there is none
            found[direction] = -1
    return found


def _device(number: int, info: Any, host: Any, default: dict[Direction, int], nodes: Sequence[Node]) -> Device:
    def end(direction: Direction) -> End | None:
        channels, rate = info[f"max_{direction}_channels"], round(info["default_samplerate"])
        clock = _JACK if host["name"] == _JACK else f"{host['name']} {number}"
        chain: tuple[str, ...] = ()
        if host["name"] == "ALSA" and info["name"] in _SERVED:
            # PortAudio sees 32 channels and 44100 Hz; what is behind it spares the server a conversion, which costs delay
            for node in nodes:
                if node.default and node.direction == direction:
                    channels, rate, clock, chain = node.channels, node.rate, f"{SERVER_API} {node.clock}", node.chain
        if channels < 1:
            return None
        return End(channels, rate, info[f"default_low_{direction}_latency"], default[direction] == number, clock, chain)

    return Device(number, info["name"], host["name"], end("input"), end("output"), number)


def _served(number: int, node: Node, bridge: int) -> Device:
    end = End(node.channels, node.rate, None, node.default, f"{SERVER_API} {node.clock}", node.chain)
    source, sink = (end, None) if node.direction == "input" else (None, end)
    return Device(number, node.description, SERVER_API, source, sink, bridge, node.name, node.monitor)


def _card_name(name: str) -> str:
    """Without ALSA's "(hw:1,0)", which counts cards in the order of plugging in."""
    return name.partition(" (hw:")[0]


def _fitting(wanted: str, able: Sequence[Device]) -> list[Device]:
    text = wanted.strip().casefold()
    names = [(d, [name.casefold() for name in (d.name, d.full_name, d.node) if name]) for d in able]
    exact = [d for d, known in names if text in known]
    part = [d for d, known in names if any(text in name for name in known)]
    return exact or [d for d in part if not d.monitor] or part


def _preferred(fits: Sequence[Device], every: Sequence[Device]) -> list[Device]:
    """Of several that fit, those of the system's usual way to sound, if any."""
    usual = SERVER_API if any(d.node for d in every) else _usual_api(every)
    return [d for d in fits if d.host_api == usual] or list(fits)


def _usual_api(every: Sequence[Device]) -> str:
    ends = [(d.host_api, end) for d in every for end in (d.input, d.output) if end]
    return next((api for api, end in ends if end.default), "")


def _usable(device: Device) -> Device:
    if device.node and device.opened_as < 0:
        raise DeviceError(f"{device.name!r} belongs to the sound server, which PortAudio does not reach", _BRIDGE)
    return device


def _end(device: Device, direction: Direction) -> End:
    end = device.end(direction)
    assert end is not None
    return end


def _names(some: Sequence[Device]) -> str:
    return "; ".join(f"{d.number} {d.full_name}{f' ({d.node})' if d.node else ''}" for d in some)

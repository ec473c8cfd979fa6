"""A double of the module sounddevice: devices, refusals and streams as a test sets them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class PortAudioError(Exception):
    """As sounddevice's: text, PortAudio's code, and for host errors (host API, code, text)."""


def device(
    name: str, inputs: int, outputs: int, rate: float = 48_000.0, host: int = 0, takes: set[int] | None = None
) -> dict[str, Any]:
    """As in query_devices(), with what the double asks itself: the rates that are taken (None: all), and an error to raise."""
    ends = {"max_input_channels": inputs, "max_output_channels": outputs, "default_samplerate": rate}
    delays = {"default_low_input_latency": 0.01, "default_low_output_latency": 0.02}
    return {"name": name, "hostapi": host, **ends, **delays, "takes": takes, "error": None}


class Stream:
    """A stream; `lives` is how often it says that it is active before it ends."""

    def __init__(self, module: FakeSound, kind: str, **arguments: Any) -> None:
        if module.refusals:
            raise module.refusals.pop(0)
        self.kind, self.arguments = kind, arguments
        self.lives = module.lives.pop(0) if module.lives else 1 << 30
        self.calls: list[str] = []
        self.environment = module.environment()
        self.latency = (0.02, 0.03) if kind == "duplex" else {"input": 0.02, "output": 0.03}[kind]
        module.streams.append(self)

    @property
    def active(self) -> bool:
        self.lives -= 1
        return self.lives >= 0

    def start(self) -> None:
        self.calls.append("start")

    def abort(self) -> None:
        self.calls.append("abort")

    def close(self) -> None:
        self.calls.append("close")


class FakeSound:
    """Put it into sys.modules["sounddevice"].

    Args:
        devices: from `device`.
        default: numbers of the default input and output, -1 for none.
        hosts: names of the host APIs.
    """

    PortAudioError = PortAudioError

    def __init__(
        self, devices: list[dict[str, Any]], default: tuple[int, int] = (0, 0), hosts: tuple[str, ...] = ("ALSA",)
    ) -> None:
        self.devices, self.default_numbers, self.hosts = devices, default, hosts
        self.refusals: list[Exception] = []  # of the next streams to open
        self.lives: list[int] = []  # of the next streams to open
        self.broken: list[Exception] = []  # of the next initialisations
        self.streams: list[Stream] = []
        self.refreshed = 0
        self._initialized = 1
        self.environment: Any = dict
        self._ffi = SimpleNamespace(cast=lambda kind, value: (kind, value))

    def query_devices(self, kind: str | None = None) -> Any:
        every = [{**d, "index": i} for i, d in enumerate(self.devices)]
        if kind is None:
            return every
        number = self.default_numbers[kind == "output"]
        if number < 0:
            raise PortAudioError("Error querying device -1")
        return every[number]

    def query_hostapis(self) -> Any:
        return tuple({"name": name} for name in self.hosts)

    def check_input_settings(self, **asked: Any) -> None:
        self._check("input", **asked)

    def check_output_settings(self, **asked: Any) -> None:
        self._check("output", **asked)

    def _check(self, direction: str, *, device: int, channels: int, dtype: str, samplerate: int) -> None:
        known = self.devices[device]
        if known["error"] is not None:
            raise known["error"]
        if channels > known[f"max_{direction}_channels"]:
            raise PortAudioError("Invalid number of channels", -9998)
        if known["takes"] is not None and samplerate not in known["takes"]:
            raise PortAudioError("Invalid sample rate", -9997)

    def _StreamBase(self, kind: str, **arguments: Any) -> Stream:  # noqa: N802
        return Stream(self, kind, **arguments)

    def _terminate(self) -> None:
        if not self._initialized:
            raise PortAudioError("Error terminating PortAudio: PortAudio not initialized", -10000)
        self._initialized -= 1

    def _initialize(self) -> None:
        if self.broken:
            raise self.broken.pop(0)
        self._initialized += 1
        self.refreshed += 1

    def _exit_handler(self) -> None:
        pass

"""What a live stream needs of a sound card: the real one and the dummy have this face."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # it brings the kernels, which listing devices does not need
    from .exchange import Exchange


class DeviceError(Exception):
    """A device cannot be used, in one line: what, why, remedy."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what, self.remedy = what, remedy


class WrongDevice(DeviceError):  # noqa: N818
    """No device is what was asked for: none or several of that name, or no such rate. Trying again would not help."""


@dataclass(frozen=True)
class Format:
    """How a card will run, known before it is opened."""

    rate_in: int  # Hz, by the input's clock
    rate_out: int
    block_in: int  # frames a callback
    block_out: int
    channels_in: int
    channels_out: int
    one_clock: bool  # one callback serves both directions, so that they cannot drift apart
    name_in: str = ""
    name_out: str = ""


class Card(Protocol):
    """A sound card. One thread opens, asks and closes it; the card calls `exchange` from its own."""

    def plan(self) -> Format:
        """Find the devices and settle rates and channels, anew at each call; DeviceError if that cannot be."""

    def open(self, plan: Format, exchange: Exchange) -> tuple[float, float]:
        """Start calling `exchange`. Returns the delays of input and output that the card reports, s. DeviceError if refused."""

    def close(self) -> None:
        """Stop. May block for as long as the system's audio service hangs; nothing if not open."""

    @property
    def active(self) -> bool:
        """False once the device has ended by itself; a device may also stop calling and stay active."""

    def now(self) -> float:
        """Time in s by the clock that `wait` waits by."""

    def wait(self, seconds: float) -> None: ...

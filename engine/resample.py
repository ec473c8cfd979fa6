"""The plan of a rate change to 16 kHz and back whose whole delay is a whole number of the host's samples.

All times are ticks of the common rate F = rate * up = 16000 * down (see `kernels.polyphase`): a host sample is `up` ticks
long, a sample at 16 kHz `down` ticks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import index

from ..kernels import polyphase
from .stage import RATE

LOWEST, HIGHEST = 4_000, 384_000  # Hz: below lies no speech, above no sound card


def whole(name: str, value: object, low: int, high: int, unit: str = "") -> int:
    """`value` as an int; ValueError in one line if it is no whole number from low to high."""
    if isinstance(value, float) and value.is_integer():
        return whole(name, int(value), low, high, unit)
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        number = low - 1
    if not low <= number <= high:
        raise ValueError(f"{name}={value!r}: give a whole number{f' of {unit}' if unit else ''} from {low} to {high}")
    return number


@dataclass(frozen=True)
class Plan:
    """How `rate` and hops of `hop` samples with stages that delay by `stages` samples fit together."""

    rate: int  # Hz, the host's
    hop: int  # samples at 16 kHz
    stages: int  # samples at 16 kHz

    @property
    def direct(self) -> bool:
        """The host runs at 16 kHz: no resampling."""
        return self.rate == RATE

    @cached_property
    def up(self) -> int:
        return polyphase.ratio(self.rate, RATE)[0]

    @cached_property
    def down(self) -> int:
        return polyphase.ratio(self.rate, RATE)[1]

    @cached_property
    def filter_ticks(self) -> tuple[int, int]:
        """Delay of the filters in and out."""
        if self.direct:
            return 0, 0
        return polyphase.centre(self.rate, RATE), polyphase.centre(RATE, self.rate)

    @cached_property
    def advance(self) -> int:
        """Ticks by which the output filter runs ahead, less than one host sample, so that the sum is whole."""
        return (sum(self.filter_ticks) + self.stages * self.down) % self.up

    @cached_property
    def primed(self) -> int:
        """Host samples of silence that the output starts with, the fewest that never let any block run short.

        It runs lowest just before a hop is complete: the hops' pattern repeats after `up` hops at the most.
        """
        shortest = 0
        for hop in range(1, self.up + 1):
            taken = (hop * self.hop - 1) * self.down // self.up  # the most that leaves this hop incomplete
            given = polyphase.count((hop - 1) * self.hop, self.down, self.up, self.advance)
            shortest = max(shortest, taken - given)
        return shortest

    @property
    def latency_parts(self) -> dict[str, float]:
        """Where the delay comes from, in host samples; the sum is whole."""
        into, out = self.filter_ticks
        return {
            "resample_in": into / self.up,
            "reblock": float(self.primed),
            "stages": self.stages * self.down / self.up,
            "resample_out": (out - self.advance) / self.up,
        }

    @cached_property
    def latency(self) -> int:
        """Host samples from an input sample to its output."""
        return self.primed + (sum(self.filter_ticks) + self.stages * self.down - self.advance) // self.up

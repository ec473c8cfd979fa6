"""The rings of `kernels.exchange` as an object with two ends: the card's callback at one, the worker at the other."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..kernels import exchange
from ..kernels.jit import F32


class Exchange:
    """Rings between a sound card's callback and the worker.

    The card's end: `duplex`, `capture`, `play`; a compiled callback (`kernels.callback`) gets `address` instead.
    The worker's end: `take`, `drop`, `put`. The recorder's: `sent`. `counts` reads every counter of `kernels.exchange.STATE`.

    Args:
        channels_in, channels_out: interleaved channels of the card.
        rate_in, rate_out: Hz.
        captured, playing, sent: frames that each ring has room for at least; sent=0: nobody records.
    """

    def __init__(
        self, channels_in: int, channels_out: int, rate_in: int, rate_out: int, *, captured: int, playing: int, sent: int = 0
    ) -> None:
        self._state, self._memory = exchange.fresh(channels_in, channels_out, rate_in, rate_out, (captured, playing, sent))
        self.counts: Any = self._state[0]  # a view: as the callback writes them

    @property
    def address(self) -> int:
        """What a compiled callback takes as `userdata`. This object must stay alive until the device has been closed."""
        return int(self._state.ctypes.data)

    def counter(self, name: str) -> npt.NDArray[Any]:
        """A field of `counts` as a view of shape (1, ...): read in 0.03 us, where an attribute of `counts` takes 1."""
        return self._state[name]

    def duplex(self, x: F32, y: F32, flags: int = 0) -> None:
        """Take x and fill y, interleaved, both 1-D."""
        exchange.duplex(self._state, self._memory, x, y, flags)

    def capture(self, x: F32, flags: int = 0) -> None:
        """Take x, interleaved, 1-D."""
        exchange.captured(self._state, self._memory, x, flags)

    def play(self, y: F32, flags: int = 0) -> None:
        """Fill y, interleaved, 1-D."""
        exchange.played(self._state, self._memory, y, flags)

    def take(self, x: F32) -> int:
        """Fill x, shape (frames, channels), from the start with what was captured; how many frames that was."""
        return exchange.take(self._state, self._memory, x)

    def drop(self, frames: int) -> None:
        """Throw away the oldest of the frames that wait to be taken; there are so many."""
        exchange.drop(self._state, frames)

    def put(self, y: F32, frames: int) -> bool:
        """Have y[:frames], clipped to full scale in place, played; False, and none of it, where there is no room."""
        return exchange.put(self._state, self._memory, y, frames) == frames

    def sent(self, y: F32) -> int:
        """Fill y, shape (n,), from the start with what the device was given; how many frames that was."""
        return exchange.sent(self._state, self._memory, y)

    @property
    def to_take(self) -> int:
        """Frames captured and not taken yet."""
        ring = self.counts.captured
        return int(ring.write - ring.read) // int(self.counts.channels_in)

    @property
    def to_play(self) -> int:
        """Frames put and not played yet."""
        ring = self.counts.playing
        return int(ring.write - ring.read)

    @property
    def to_fetch(self) -> int:
        """Frames sent and not fetched yet."""
        ring = self.counts.sent
        return int(ring.write - ring.read)

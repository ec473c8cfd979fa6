"""What whoever holds an adapter can do with its voice, the same for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..host import Policy
from ..stage import Stage
from ..stats import Stats
from .frames import Frames
from .worker import runner


class Controls:
    """An engine behind an adapter: muted, tuned, asked. All of it at any time and from any thread."""

    def _control(
        self,
        stages: Stage | Sequence[Stage],
        sample_rate: int,
        channels: int,
        policy: Policy,
        worker: bool | None,
    ) -> None:
        """Make the engine; slow. No constructor, since those of the hosts' classes take other arguments."""
        self._frames = Frames(stages, sample_rate=sample_rate, channels=channels, policy=policy)
        self._runner = runner(self._frames, worker)

    @property
    def enabled(self) -> bool:
        """False: silence. What is said meanwhile comes out at no time."""
        return self._frames.enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._frames.enabled = value

    @property
    def muted(self) -> bool:
        """The contrary of `enabled`."""
        return not self._frames.enabled

    @muted.setter
    def muted(self, value: bool) -> None:
        self._frames.enabled = not value

    @property
    def latency(self) -> float:
        """s by which the voice comes out later than it went in."""
        return self._frames.latency / self._frames.sample_rate

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Of channel 0; `set` reaches every channel."""
        return self._frames.stages

    @property
    def stats(self) -> Stats:
        """The engine's counters."""
        return self._frames.stats

    @property
    def silenced(self) -> dict[str, int]:
        """Samples of a channel that became silence outside of the engine, by cause, as a copy."""
        return dict(self._frames.muted)

    @property
    def last_error(self) -> str:
        """The last exception, of a stage or outside of the engine; one line."""
        return self._frames.last_error or self.stats.last_error

    def set(self, **values: Any) -> None:
        """Set parameters of the stages by name; TypeError if none has one, ValueError if a value is out of range."""
        self._frames.set(**values)

    def new_voice(self) -> None:
        """Draw another voice. Slow where DpVoice enrols from a recording or keeps a ledger."""
        self._frames.new_voice()

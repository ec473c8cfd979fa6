"""What an engine counts. Everything that was muted, mended or late is in here, with its cause."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Stats:
    """Counters since construction or the last reset. A hop is 10 ms of one channel with the built-in stages."""

    blocks: int = 0  # calls of process()
    frames: int = 0  # frames taken in, at the host's rate
    hops: int = 0  # hops that went through the stages
    muted: int = 0  # hops (blocks, when closed) that became silence
    causes: dict[str, int] = field(default_factory=dict)  # `muted` by cause
    last_error: str = ""  # the last exception of a stage, one line
    clipped: int = 0  # samples over full scale: limited at 16 kHz, or clipped to it at the host's rate after that
    full_scale: int = 0  # input samples at full scale or above
    sanitised: int = 0  # input samples that were NaN or infinite, or of an impossible scale, made 0
    scale: int = 0  # of these: beyond 16 times full scale, as float files of integer values are
    late: int = 0  # blocks that took longer to process than they last

    def mute(self, cause: str) -> None:
        """Count one muted hop or block."""
        self.muted += 1
        self.causes[cause] = self.causes.get(cause, 0) + 1

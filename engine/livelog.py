"""What a live stream tells while it runs, in lines, and its summary at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from .status import State, Status

EVERY = 10.0  # s between lines on sound that was late or lost
_NOT_NOW = ("state", "level_in_db", "level_out_db")  # mean nothing at the end
_UNITS = {"rate_in": "rate_in_hz", "rate_out": "rate_out_hz", "block": "block_frames"}


class LiveLog:
    """Turns one status after another into lines for `say`: each change once, and trouble that goes on every 10 s."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._ran: Status | None = None  # the latest status with sound going through
        self._cause = ""  # of the loss that has been told
        self._lost_at: float | None = None
        self._troubles, self._told_at = "", -EVERY

    def look(self, status: Status) -> None:
        """Tell what is new in `status`."""
        if status.state is State.lost:
            self._tell_of_loss(status)
        elif status.state not in (State.starting, State.closed):
            self._tell_of_sound(status)
            self._ran, self._cause, self._lost_at = status, "", None
            self._tell_of_troubles(status)

    def summary(self, end: Status) -> dict[str, Any]:
        """In plain JSON values, units in the keys; counters as at the `end`, delay and load as they were last."""
        last = self._ran or end
        held = {
            name: getattr(last, name) for name in ("delay_ms", "delay_parts_ms", "deadline_p50", "deadline_p99", "drift_ppm")
        }
        fields = asdict(replace(end, **held))
        return {_UNITS.get(name, name): value for name, value in fields.items() if name not in _NOT_NOW}

    def _tell_of_loss(self, status: Status) -> None:
        if self._lost_at is None:
            self._lost_at = status.seconds
        if status.cause and status.cause != self._cause:
            self._say(f"device lost: {status.cause}: silence, until it is back")
            self._cause = status.cause

    def _tell_of_sound(self, status: Status) -> None:
        if self._ran is None:
            parts = ", ".join(f"{name.replace('_', ' ')} {ms:.1f}" for name, ms in status.delay_parts_ms.items())
            ends = f"{status.input} at {status.rate_in} Hz to {status.output} at {status.rate_out} Hz"
            self._say(f"running: {ends}, blocks of {status.block} frames, {status.voice}, {status.worker} priority")
            self._say(f"delay {status.delay_ms:.1f} ms: {parts}")
        elif status.reopened > self._ran.reopened:
            gone = f" after {status.seconds - self._lost_at:.1f} s" if self._lost_at is not None else ""
            self._say(f"the device is back{gone}: {status.rate_in} Hz in, {status.rate_out} Hz out")

    def _tell_of_troubles(self, status: Status) -> None:
        now = troubles(status)
        if now != self._troubles and status.seconds - self._told_at >= EVERY:
            self._say(f"late or lost so far: {now}; a larger --block helps, and delays more")
            self._troubles, self._told_at = now, status.seconds


def troubles(status: Status) -> str:
    """What went wrong so far, "" if nothing."""
    counts = (
        (status.xruns, f"{status.xruns} xruns"),
        (status.starved_ms, f"{status.starved_ms:.0f} ms of silence for want of sound"),
        (status.dropped_ms, f"{status.dropped_ms:.0f} ms of old sound dropped"),
        (status.muted_hops, f"{status.muted_hops} hops silenced by the engine"),
    )
    return ", ".join(words for count, words in counts if count)

"""What a live stream tells while it runs, in lines, and its summary at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from .progress import counted
from .status import State, Status

EVERY = 10.0  # s between lines on sound that was late or lost, and between lines on the delay
LONG_BLOCK = 0.1  # s: a conversation suffers
MOVED = 5.0  # ms by which the delay may change without a word
FOR_GOOD = 2.0  # s for which it has to, until that is told
_NOT_NOW = ("state", "level_in_db", "level_out_db")  # mean nothing at the end
_UNITS = {"rate_in": "rate_in_hz", "rate_out": "rate_out_hz", "block": "block_frames"}
_DIGITS = {"deadline_p50": 5, "deadline_p99": 5}  # of fractions; of all else 3: ms to the us, s to the ms


class LiveLog:
    """Turns one status after another into lines for `say`: each change once, and trouble that goes on every 10 s."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._ran: Status | None = None  # the latest status with sound going through
        self._seconds: float | None = None  # when its end began
        self._cause = ""  # of the loss that has been told
        self._lost_at: float | None = None
        self._troubles, self._told_at = "", -EVERY
        self._delay, self._delay_told_at = 0.0, 0.0
        self._moved_at: float | None = None  # since when the delay has been another one

    def look(self, status: Status) -> None:
        """Tell what is new in `status`."""
        if status.state is State.lost:
            self._tell_of_loss(status)
        elif status.state not in (State.starting, State.closed):
            self._tell_of_sound(status)
            self._ran, self._cause, self._lost_at = status, "", None
            self._tell_of_troubles(status)

    def end(self, status: Status) -> None:
        """The stream is about to be closed: how long it ran is settled."""
        self._seconds = status.seconds

    def closing(self, end: Status | None) -> str:
        """The last line. `end`: the status after all; None if there was no stream."""
        if end is None or self._ran is None:
            return "ended before any sound"
        return f"ended after {self._length(end):.1f} s: {troubles(end, explained=True) or 'no sound was late or lost'}"

    def summary(self, end: Status | None) -> dict[str, Any]:
        """In plain JSON values, units in the keys; counters as at the `end`, delay and load as they were last."""
        if end is None:
            return {"seconds": 0.0}
        last = self._ran or end
        held = {
            name: getattr(last, name) for name in ("delay_ms", "delay_parts_ms", "deadline_p50", "deadline_p99", "drift_ppm")
        }
        fields = asdict(replace(end, seconds=self._length(end), **held))
        return {_UNITS.get(name, name): _rounded(name, value) for name, value in fields.items() if name not in _NOT_NOW}

    def _length(self, end: Status) -> float:
        return end.seconds if self._seconds is None else self._seconds

    def _tell_of_loss(self, status: Status) -> None:
        if self._lost_at is None:
            self._lost_at = status.seconds
        if status.cause and status.cause != self._cause:
            self._say(f"device lost: {status.cause}: silence, until it is back")
            self._cause = status.cause

    def _tell_of_sound(self, status: Status) -> None:
        if self._ran is None:
            ends = f"{status.input} at {status.rate_in} Hz to {status.output} at {status.rate_out} Hz"
            blocks = f"blocks of {counted(status.block, 'frame')}"
            self._say(f"running: {ends}, {blocks}, {status.voice}, {status.worker} priority")
            self._tell_of_delay(status)
            lasts = status.block / status.rate_out
            if lasts > LONG_BLOCK:
                self._say(f"warning: blocks of {1e3 * lasts:.0f} ms make a long delay; a smaller --block shortens it")
        elif status.reopened > self._ran.reopened:
            gone = f" after {status.seconds - self._lost_at:.1f} s" if self._lost_at is not None else ""
            self._say(f"the device is back{gone}: {status.rate_in} Hz in, {status.rate_out} Hz out")
        self._watch_delay(status)

    def _watch_delay(self, status: Status) -> None:
        if abs(status.delay_ms - self._delay) <= MOVED:
            self._moved_at = None
            return
        if self._moved_at is None:
            self._moved_at = status.seconds
        if status.seconds - self._moved_at >= FOR_GOOD and status.seconds - self._delay_told_at >= EVERY:
            self._tell_of_delay(status)

    def _tell_of_delay(self, status: Status) -> None:
        parts = ", ".join(f"{name.replace('_', ' ')} {ms:.1f}" for name, ms in status.delay_parts_ms.items())
        self._say(f"delay {status.delay_ms:.1f} ms: {parts}")
        self._delay, self._delay_told_at, self._moved_at = status.delay_ms, status.seconds, None

    def _tell_of_troubles(self, status: Status) -> None:
        now = troubles(status)
        if now != self._troubles and status.seconds - self._told_at >= EVERY:
            self._say(f"late or lost so far: {now}; a larger --block helps, and delays more")
            self._troubles, self._told_at = now, status.seconds


def troubles(status: Status, explained: bool = False) -> str:
    """What went wrong so far, "" if nothing. `explained`: say what an xrun is."""
    meaning = " (times when sound came late or was lost)" if explained else ""
    counts = (
        (status.xruns, counted(status.xruns, "xrun") + meaning),
        (status.starved_ms, f"{status.starved_ms:.0f} ms of silence for want of sound"),
        (status.dropped_ms, f"{status.dropped_ms:.0f} ms of old sound dropped"),
        (status.muted_hops, f"{counted(status.muted_hops, 'hop')} silenced by the engine"),
    )
    return ", ".join(words for count, words in counts if count)


def _rounded(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(key, one) for key, one in value.items()}
    return round(value, _DIGITS.get(name, 3)) if isinstance(value, float) else value

"""What a guard has counted, over all of its streams, and the report that it gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .events import Log
from .findings import Findings
from .line import Line
from .summary import Summary, Work
from .watch import Watch


class Tally:
    """Counts of the streams before the one that runs, whose own are still with `line` and `findings`; s of sound.

    Attributes:
        unjudged: frames since the guard's last reset that left in silence, of streams before this one.
        not_sound: s of input that was not finite, or of an impossible scale.
        errors: times that the guard itself failed.
    """

    def __init__(self, delay: float, log: Log) -> None:
        self._delay, self._log = delay, log
        self._seconds = self._hidden = self._silent = self._missed = 0.0
        self._callbacks_failed = self._played = 0
        self.unjudged, self.not_sound, self.errors = 0, 0.0, 0

    def add(self, rate: int, frames: int, line: Line, findings: Findings) -> None:
        """A stream of so many frames has ended."""
        self._seconds += frames / rate
        self._hidden += line.hidden / rate
        self._silent += line.unjudged / rate
        self._missed += findings.missed
        self._callbacks_failed += findings.callbacks_failed
        self._played += findings.spans.played
        self.unjudged += line.unjudged

    def report(self, rate: int, frames: int, line: Line, findings: Findings, watches: Sequence[Watch]) -> Summary:
        """With the stream that runs, of which `frames` have been taken."""
        seconds = self._seconds + frames / rate
        with findings.lock:
            log = self._log
            kinds, terms, late, heard, events = dict(log.kinds), dict(log.terms), log.late, log.heard, tuple(log.events)
        known = [event.after for event in events]
        return Summary(
            seconds=seconds,
            delay=self._delay,
            hidden=self._hidden + line.hidden / rate,
            unjudged=self._silent + line.unjudged / rate,
            missed=self._missed + findings.missed,
            not_sound=self.not_sound,
            found=sum(kinds.values()),
            kinds=kinds,
            terms=terms,
            late=late,
            heard=heard,
            known_after_p50=float(np.percentile(known, 50)) if known else None,
            known_after_p95=float(np.percentile(known, 95)) if known else None,
            errors=self.errors,
            callbacks_failed=self._callbacks_failed + findings.callbacks_failed,
            played=self._played + findings.spans.played,
            detectors=tuple(_work(watch, seconds) for watch in watches),
            events=events,
        )


def _work(watch: Watch, seconds: float) -> Work:
    load = watch.spent / seconds if seconds else None
    return Work(watch.name, watch.looks, watch.failures, watch.error, watch.hung, watch.spent, load)

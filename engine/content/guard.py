"""An engine whose voice waits until detectors have heard what is said, and leaves without the words that must not be heard."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from types import TracebackType
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from ...kernels.jit import F32
from ...kernels.redact import FADE
from ..host import Engine
from ..profiler import Profiler
from ..samples import full_scale
from ..stage import RATE, Stage
from ..stats import Stats
from .detector import Detector
from .events import Event, Log
from .findings import Clips, Findings
from .line import ACTIONS, Action, Line
from .raw import PIECE, Raw
from .spans import PAD
from .summary import Summary
from .tally import Tally
from .watch import Watch

DELAY = 2.0  # s: with more nothing is gained, what is left then is misrecognition
LONGEST = 60.0  # s
PATIENCE = 60.0  # s that a look may take in a file
_ALL = 2**62  # frames: everything has been judged


class ContentGuard:
    """An `Engine` with the words taken out, and with an engine's verbs. It owns the engine, and the detectors.

    The anonymized voice waits for `delay` s while the detectors hear the raw one. **A sample leaves only if every detector has
    passed it**; else silence leaves, and is counted. Whatever a detector does (raises, hangs, is late, gives nonsense), its
    sound is not heard. The delay is constant, and part of `latency`.

    Several channels are mixed for the detectors, and hidden together. Use one thread at a time, as with an engine; each
    detector has a thread of its own.

    Args:
        detectors: at least one; each for this guard alone.
        delay: s; None, in files: so long that every look that can see a sample comes before it leaves.
        action: what replaces a word: "silence", "bleep", "tone" or "babble" (as loud as the voice), "substitute" (a sound of
            `clips`, or the bleep where there is none).
        on_event: called for what is found, with an `Event`, in a detector's thread (with `wait` in yours); return soon.
        wait: in files: `process` waits for the detectors, so that the result depends on no clock. A detector that takes
            longer than PATIENCE for a look passes nothing more of this stream.

    Raises:
        ValueError, TypeError: an argument is out of range; the message names it, the limit and what to give.
    """

    def __init__(
        self,
        engine: Engine,
        detectors: Sequence[Detector],
        *,
        delay: float | None = DELAY,
        action: Action = "bleep",
        clips: Clips | None = None,
        on_event: Callable[[Event], object] | None = None,
        wait: bool = False,
    ) -> None:
        if not isinstance(engine, Engine):
            raise TypeError("engine: give an Engine")
        if not detectors:
            raise ValueError("detectors: give at least one; without any nothing would ever leave")
        if len({id(detector) for detector in detectors}) < len(detectors):
            raise ValueError("detectors: the same one stands there twice; a detector is one stream")
        for detector in detectors:
            if not 0 < detector.hop <= detector.window:
                raise ValueError(f"detector {detector.name}: looks every {detector.hop} samples at {detector.window}")
        if action not in ACTIONS:
            raise ValueError(f"action={action!r}: give one of {', '.join(ACTIONS)}")
        if action == "substitute" and clips is None:
            raise ValueError("action='substitute': give clips, too")
        self._delay = _delay(delay, detectors, wait)
        self._action, self._wait, self._on_event = action, wait, on_event
        self._clips = clips if action == "substitute" else None
        self._log = Log()
        self._keep = max(detector.window for detector in detectors)
        self._tally = Tally(self._delay, self._log)
        self._closed = False
        self._torn = False  # the last block broke off in its middle
        self._place(engine)
        self._watches = [Watch(detector, self._findings, by_itself=not wait) for detector in detectors]
        self._stop = weakref.finalize(self, _stop, self._watches)
        self._start()

    def _place(self, engine: Engine) -> None:
        """Build all that depends on the engine's form."""
        engine.reset()  # what is in it would not be in the detectors' ears
        self._engine = engine
        self._rate, self._channels = rate, channels = engine.sample_rate, engine.channels
        self._frames = round(self._delay * rate)  # of delay
        self._raw = Raw(rate, channels, self._keep)
        self._line = Line(rate, channels, self._frames, engine.latency, self._action)
        self._findings = Findings(rate, self._raw, self._log, self._line.level, self._clips, self._on_event)
        self._taken = 0  # frames of this stream
        self._fed = 0  # frames that the engine has been given since its reset
        self._tally.unjudged = 0
        self._failures: dict[str, int] = {}
        self._last_error = ""
        self._ended = False

    def _start(self) -> None:
        self._closed = False
        self._boundary = self._next_boundary()
        for watch in self._watches:
            watch.start()

    def take(self, engine: Engine) -> None:
        """Go on as a new stream with another engine, as when a device has come back at another rate. The report goes on."""
        self._add_up()
        self._place(engine)
        for watch in self._watches:
            watch.attach(self._findings)
        self._start()

    @property
    def sample_rate(self) -> int:
        return self._rate

    @property
    def channels(self) -> int:
        return self._channels

    @property
    def hop(self) -> int:
        """As the engine's."""
        return self._engine.hop

    @property
    def latency(self) -> int:
        """Frames from an input sample to the same sample in the output: the engine's, and the delay."""
        return self._engine.latency + self._frames

    @property
    def latency_parts(self) -> dict[str, float]:
        """`latency` by cause: the engine's parts, and content; frames."""
        return {**self._engine.latency_parts, "content": float(self._frames)}

    @property
    def stages(self) -> tuple[Stage, ...]:
        """As the engine's."""
        return self._engine.stages

    @property
    def stats(self) -> Stats:
        """The engine's counters. 10 ms that left in silence since a detector had not passed them are a muted hop, too."""
        stats = self._engine.stats
        hops = (self._tally.unjudged + self._line.unjudged) * 100 // self.sample_rate
        causes = {**self._failures, **({"not passed": hops} if hops else {})}
        for cause, count in causes.items():
            stats.causes[cause] = stats.causes.get(cause, 0) + count
        return replace(stats, muted=stats.muted + sum(causes.values()), last_error=stats.last_error or self._last_error)

    def set(self, **values: Any) -> None:
        """As the engine's. Clips follow it, as they do with a new voice."""
        self._engine.set(**values)
        self._revoice()

    def new_voice(self) -> None:
        """As the engine's."""
        self._engine.new_voice()
        self._revoice()

    def save(self) -> dict[str, Any]:
        """As the engine's: nothing of what was said, no word list."""
        return self._engine.save()

    def restore(self, saved: Mapping[str, Any]) -> None:
        """As the engine's."""
        self._engine.restore(saved)
        self._revoice()

    def profile(self, every: int = 64) -> Profiler:
        """As the engine's: of the engine alone."""
        return self._engine.profile(every)

    def process(self, x: npt.ArrayLike) -> F32:
        """Anonymize one block, and give as many frames of what is due: as `Engine.process`, `latency` frames later.

        What an engine with on_error="raise" raises is raised when the block has gone through; the delay stays.
        """
        block = np.asarray(x)
        full_scale(block.dtype)
        if not ((block.ndim == 1 and self._channels == 1) or (block.ndim == 2 and block.shape[1] == self._channels)):
            wanted = "(frames,) or (frames, 1)" if self._channels == 1 else f"(frames, {self._channels})"
            raise ValueError(f"x of shape {block.shape}: give {wanted}")
        y = np.zeros(block.shape, np.float32)
        if self._closed:
            self._count("closed")
            return y
        if not len(block):
            return y
        failed: Exception | None = None
        try:
            self._mend()
            self._torn, self._ended = True, False
            failed = self._run(block, y)
            self._torn = False
        except Exception as error:
            y.fill(0)
            self._count("content", error)
        if failed is not None:
            raise failed
        return y

    def flush(self) -> F32:
        """The end of the stream: its last `latency` frames, once, when every detector has looked at the end.

        Live it waits for `delay` s at the most; what has not been passed by then is silent.
        """
        if self._ended or self._closed:
            return np.zeros(self._shape(0), np.float32)
        y = np.zeros(self._shape(self.latency), np.float32)
        failed: Exception | None = None
        try:
            self._mend()
            self._torn = True
            self._raw.finish()
            self._settle(PATIENCE if self._wait else self._delay)
            try:
                y[: self._engine.latency] = self._engine.flush()
            except Exception as error:
                failed = error
            self._line.run(y.reshape(-1), self._judged(), self._findings.spans)
        except Exception as error:
            y.fill(0)
            self._count("content", error)
        self._mend()
        self._ended = True
        if failed is not None:
            raise failed
        return y

    def reset(self) -> None:
        """As fresh, a closed one too; signal and counters forgotten, parameters, voices and the report kept."""
        self._torn = True
        self._mend()
        self._engine.reset()
        self._fed = self._tally.unjudged = 0
        self._failures, self._last_error, self._ended = {}, "", False
        self._start()

    def close(self) -> None:
        """End for good: from now on every block is silence, until reset(). The detectors' threads end."""
        self._closed = True
        self._engine.close()
        _stop(self._watches)

    def report(self) -> Summary:
        """What was found and hidden since this was made, resets included. It holds no word."""
        return self._tally.report(self._rate, self._taken, self._line, self._findings, self._watches)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a guard is a running stream: make another one, and restore() what save() gives")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _run(self, block: npt.NDArray[Any], y: F32) -> Exception | None:
        """All of `block`, in pieces that end where detectors look; what the engine raised, if it did."""
        failed: Exception | None = None
        start, frames = 0, len(block)
        while start < frames:
            count = min(frames - start, PIECE)
            if self._wait:
                count = min(count, self._boundary - self._taken)
            piece, out = block[start : start + count], y[start : start + count]
            self._fed += count
            try:
                out[:] = self._engine.process(piece)
            except Exception as error:
                if self._engine.stats.frames != self._fed:
                    raise
                failed = error  # the piece has gone through, in silence
            bad = self._raw.push(piece if piece.ndim == 2 else piece.reshape(-1, 1))
            if bad is not None:
                self._tally.not_sound += (bad[1] - bad[0]) / self.sample_rate
                self._findings.hide(*bad)
            judged = self._judged()  # before the spans are: who passes has hidden by then
            self._findings.left = self._line.left + count  # before they have: what is hidden from now on is late
            self._line.run(out.reshape(-1), judged, self._findings.spans)
            self._taken += count
            start += count
            if self._wait and self._taken == self._boundary:
                self._settle(PATIENCE)
                self._boundary = self._next_boundary()
        return failed

    def _judged(self) -> int:
        """Frames before this one may leave: every detector has passed them, and whatever could begin a pad later."""
        raw = self._raw
        passed = raw.end
        for watch in self._watches:
            passed = min(passed, watch.passed(raw.generation))
        if raw.last and passed >= raw.end:
            return _ALL
        return passed * self._rate // RATE - self._findings.spans.pad

    def _settle(self, seconds: float) -> None:
        """Wait for every look that is due, for so long in all, and take them in, in the detectors' order."""
        until = monotonic() + seconds
        for watch in self._watches:
            watch.wait_for(max(0.0, until - monotonic()))
        if self._wait:
            for watch in self._watches:
                watch.publish()

    def _next_boundary(self) -> int:
        """The number of frames after which a detector looks next."""
        end = self._raw.end
        return min(self._raw.frames_for((end // watch.hop + 1) * watch.hop) for watch in self._watches)

    def _shape(self, frames: int) -> tuple[int, ...]:
        return (frames,) if self._channels == 1 else (frames, self._channels)

    def _add_up(self) -> None:
        """Keep what this stream's parts have counted."""
        self._tally.add(self._rate, self._taken, self._line, self._findings)
        self._findings.restart(self._taken / self._rate)
        self._taken = 0

    def _mend(self) -> None:
        """Start over, if a block broke off in its middle: nobody knows which sample is where then."""
        if not self._torn:
            return
        with suppress(Exception):
            self._engine.flush()
        self._add_up()
        self._line.restart()
        self._findings.left = self._line.left
        self._boundary = self._next_boundary()
        self._torn = False  # last, so that an interrupt in here is mended as well

    def _revoice(self) -> None:
        if self._clips is not None:
            with suppress(Exception):  # then they stay in the voice that was
                self._clips.take_voice(self._engine)

    def _count(self, cause: str, error: Exception | None = None) -> None:
        self._failures[cause] = self._failures.get(cause, 0) + 1
        if error is not None:
            self._tally.errors += 1
            self._last_error = type(error).__name__  # its text may hold what was said


def _delay(delay: float | None, detectors: Sequence[Detector], wait: bool) -> float:
    hop = max(detector.hop for detector in detectors) / RATE
    least = hop + PAD + FADE
    if delay is None:
        if not wait:
            raise ValueError("delay=None: is for files, with wait=True; give s")
        return max(detector.window for detector in detectors) / RATE + least
    if not least <= delay <= LONGEST:
        raise ValueError(f"delay={delay!r}: give {least:.3g} to {LONGEST:g} s; these detectors look every {hop:g} s")
    return float(delay)


def _stop(watches: Sequence[Watch]) -> None:
    for watch in watches:
        watch.stop()

"""A detector at work in a thread of its own. Whatever it does, what it has not passed is not heard."""

from __future__ import annotations

import atexit
import threading
from time import monotonic
from weakref import WeakSet

from ..stage import RATE
from .detector import Detector
from .findings import Findings, checked
from .hit import Hit

POLL = 0.02  # s between two looks for new samples; a look itself comes after a hop of 0.25 s or more
HUNG = 5.0  # s: a look that takes longer is told as hanging
_JOIN = 0.2  # s to wait for the thread's end: one that hangs is left to itself
_EXIT = 10.0  # s for which the program's end waits for looks that go on: recognisers abort it if they are cut off

_started: WeakSet[Watch] = WeakSet()


class Watch:
    """Calls `detector.look` at each multiple of its hop, and hands on what it found, then what it passed.

    One that falls behind goes on with the newest samples, once those that it leaves out have left the line. A look that
    raises, or gives nonsense, passes nothing. Samples that left its window unseen stay hidden for good.

    Args:
        by_itself: each look is handed on when it is done. False: when `publish` is called, by whoever waited for it with
            `wait_for` before more samples came than to the next look.

    Attributes:
        looks, failures: counted.
        error: the kind of the last failure. Its text is not kept: it may hold what was said.
        spent: s in looks. Of a clock: recognisers compute in threads of their own, which CPU times of this one leave out.
    """

    def __init__(self, detector: Detector, findings: Findings, by_itself: bool) -> None:
        self._detector, self._by_itself = detector, by_itself
        self._findings = findings  # read once a look: `attach` may change it
        self.name, self.hop, self.window = detector.name, detector.hop, detector.window
        self.looks = self.failures = 0
        self.error = ""
        self.spent = 0.0
        self._given_up = -1  # generation in which nobody waits for it any more
        self._ready = -1  # generation that the detector has been reset for
        self._decided = (-1, 0)  # generation, samples passed: one object, so that they are read together
        self._seen = (-1, 0, False)  # generation, samples looked at, all of them
        self._result: tuple[Findings, int, list[Hit], tuple[int, int] | None, int, int] | None = None
        self._began: float | None = None  # of the look that goes on
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._wake = threading.Event()
        self._done = threading.Condition()

    def attach(self, findings: Findings) -> None:
        """Look at another line's voice from now on."""
        self._findings = findings

    def start(self) -> None:
        """Begin, or go on after `stop`. A thread that hangs goes on when it comes back."""
        self._stopped = False
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name=f"velavox {self.name}", daemon=True)
            self._thread.start()
            _started.add(self)

    def stop(self, seconds: float = _JOIN) -> None:
        """End, after the look that goes on; wait for that as long as `seconds`."""
        self._stopped = True
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def passed(self, generation: int) -> int:
        """Samples before this one are decided."""
        decided = self._decided
        return decided[1] if decided[0] == generation else 0

    @property
    def hung(self) -> bool:
        """A look takes so long that it may never end."""
        began = self._began
        return began is not None and monotonic() - began > HUNG

    def wait_for(self, seconds: float) -> bool:
        """Until every look is done that the samples so far ask for.

        False if that takes longer than `seconds`: from then on, until the next stream, nobody waits any more, and `publish`
        gives nothing.
        """
        generation = self._findings.raw.generation
        if self._given_up == generation:
            return False
        self._wake.set()
        with self._done:
            done = self._done.wait_for(lambda: self._due() is None and self._began is None, seconds)
        if not done:
            self._given_up = generation
        return done

    def publish(self) -> None:
        """Hand on the last look: first what it found, then what it passed."""
        result, self._result = self._result, None
        if result is None or (result[1] == self._given_up and not self._by_itself):
            return
        findings, generation, hits, missed, end, passed = result
        events = findings.take(generation, hits, missed, end)
        self._decided = (generation, passed)
        findings.tell(events)

    def _due(self) -> tuple[int, int, bool] | None:
        """Generation, end and whether it is the last: the samples that ask for a look; None if none do."""
        findings = self._findings
        raw = findings.raw
        generation = raw.generation
        last = raw.last  # before `end`, which it makes the last one
        end = raw.end
        of, seen, all_of_it = self._seen
        if of != generation:
            seen, all_of_it = 0, False
        if last and (all_of_it or not end):
            return None
        if not last:
            end -= end % self.hop  # at even steps: a window may be no longer than a step and what it leaves undecided
        passed = self.passed(generation)
        reach = (passed + self.window) // self.hop * self.hop
        if seen + self.hop <= reach < end and passed * findings.rate // RATE >= findings.left:
            return generation, reach, False  # behind, and in time still: nothing is left out
        return (generation, end, last) if end > seen or last else None

    def _run(self) -> None:
        while not self._stopped:
            due = self._due()
            if due is None:
                self._wake.wait(POLL)
                self._wake.clear()
                continue
            self._began = began = monotonic()
            try:
                self._look(self._findings, *due)
            except BaseException as error:  # an exit, too, must not end this thread
                self.failures += 1
                self.error = type(error).__name__
            finally:
                self.spent += monotonic() - began
                with self._done:
                    self._began = None
                    self._done.notify_all()

    def _look(self, findings: Findings, generation: int, end: int, last: bool) -> None:
        self._seen = (generation, end, last)  # first: what fails is tried again a hop later
        if self._ready != generation:
            self._detector.reset()
            self._ready = generation
        start = max(0, end - self.window)
        before = self.passed(generation)
        self.looks += 1
        samples = findings.raw.read(start, end)
        hits, passed = checked(self._detector.look(samples, start, last), start, end)
        missed = (before, start) if before < start else None
        self._result = (findings, generation, hits, missed, end, max(passed, start))
        if self._by_itself:
            self.publish()


@atexit.register
def _end_all() -> None:
    until = monotonic() + _EXIT
    for watch in list(_started):
        watch.stop(max(0.0, until - monotonic()))

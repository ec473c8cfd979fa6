"""Following two clocks: how much faster the voice must be played than it is captured, so that the delay stays.

Two sound cards of one nominal rate differ by up to some 100 ppm, which is 0.7 s an hour. The time for which sound is held
between them is measured, smoothed, and steered to its target by changing the resampling ratio a little, as in
F. Adriaensen, "Using a DLL to filter time", Linux Audio Conference 2005 (clock lines), and in every adaptive resampler.
"""

from __future__ import annotations

from math import exp

LIMIT = 2000e-6  # most change of the ratio: 3.5 cents of pitch, which nobody hears in speech
BAND = 1e-3  # s: within this error nothing is changed, and one clock never leaves it
REST = 1e-4  # s: within this error a correction by one clock is over
SMOOTHING = 2.0  # s, time constant of the measured error: callbacks come with a jitter of milliseconds
GAIN = 0.1  # 1/s: an error of 1 ms is met with 100 ppm
INTEGRAL = GAIN**2 / 4  # 1/s^2: critically damped, time constant 20 s
PERIOD = 0.5  # s from one change of the ratio to the next
CONFIRM = 4  # callbacks in a row that tell lost time from lateness
STEP = 1e-6  # changes are multiples of this


class ClockLine:
    """Frames that a card has counted, as a straight line of time: its callbacks count in steps and come unevenly.

    Args:
        rate: Hz, nominal.
        longest: s for which the line goes on where no callback comes.
        slack: s by which a callback may come early or late. One that is further off is left out; after `CONFIRM` of them in a
            row the card has stood still or lost time, and the line starts over.
    """

    def __init__(self, rate: int, longest: float, slack: float) -> None:
        self._rate, self._longest = rate, longest
        self.slack = slack
        self._time = self._frames = 0.0
        self._off = CONFIRM  # callbacks in a row that were far off; the first one starts the line

    @property
    def sure(self) -> bool:
        """The last callback was where it was expected."""
        return self._off == 0

    def add(self, now: float, frames: int) -> None:
        """The card's counter stands at `frames` since just before `now`, s."""
        expected = self._frames + (now - self._time) * self._rate
        error = frames - expected
        if abs(error) > self.slack * self._rate or self._off == CONFIRM:
            self._off += 1
            if self._off < CONFIRM:
                return
            self._frames = float(frames)
        else:
            self._frames = expected + error * (1 - exp(self._time - now))  # time constant 1 s
        self._off, self._time = 0, now

    def at(self, now: float) -> float:
        return self._frames + min(now - self._time, self._longest) * self._rate


class Drift:
    """The controller. `correction` is how much faster than nominal the voice is played; exactly 0 at rest.

    With one clock for both directions nothing drifts: only an error left by something else is removed, in proportion, and
    then the correction is 0 again. With two, the difference of the clocks is learned (proportional and integral).
    """

    def __init__(self, one_clock: bool) -> None:
        self._one_clock = one_clock
        self._error = 0.0
        self._seen: float | None = None
        self._changed: float | None = None
        self._learned = 0.0
        self._active = False
        self.correction = 0.0

    def forget(self) -> None:
        """The held time has jumped, by starving or dropping: the next error stands for itself. What was learned stays."""
        self._seen = None

    def update(self, now: float, error: float) -> bool:
        """`error`: held time over its target, s, at time `now`. True if the correction changed."""
        if self._seen is None:
            self._error = error
        else:
            self._error += (error - self._error) * (1 - exp((self._seen - now) / SMOOTHING))
        self._seen = now
        if self._changed is None:
            self._changed = now
        if now - self._changed < PERIOD:
            return False
        since, self._changed = now - self._changed, now
        return self._correct(since)

    def _correct(self, seconds: float) -> bool:
        size = abs(self._error)
        self._active = size > BAND or (self._active and (not self._one_clock or size > REST))
        wanted = 0.0
        if self._active:
            if not self._one_clock:
                self._learned += INTEGRAL * self._error * seconds
                self._learned = min(max(self._learned, -LIMIT), LIMIT)
            wanted = min(max(GAIN * self._error + self._learned, -LIMIT), LIMIT)
        wanted = round(wanted / STEP) * STEP
        changed = wanted != self.correction
        self.correction = wanted
        return changed

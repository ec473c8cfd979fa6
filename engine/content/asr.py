"""The detector that writes down what is said: the newest seconds, again and again, each time searched for what is to be hidden.

Every hypothesis counts, a later one takes nothing back: to wait until two agree, as transcripts do, finds a word 1.3 s after
its end, and 3.5 to 9 s in one of twenty; to mask on any costs some harmless words and is .2 to .3 s of computing behind.
Speech is recognised anew over 7 s; going on from words that are already written makes this model repeat whole sentences.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...kernels.jit import F32
from .detector import Look
from .doubt import FRAME, SILENCE, Bools, doubtful, levels, sounding
from .find import Finder, Found
from .hit import Hit
from .whisper import RATE, Whisper, loops
from .word import Word

SECONDS = 7.0  # of speech in a look; the rest of Whisper's window stays silent
HOP = 1.0  # seconds between looks: .25 of a core
FAST_SECONDS, FAST_HOP = 4.0, 0.5  # finds words .2 to .5 s sooner: .29 of a core, with 7 s of speech .46
SETTLED = 0.5  # seconds: what began later than this before a look's end is left to the next look
_CUT = 0.1  # seconds: a word that begins within this of a window's start may be the rest of another
_SHORTEST = 0.1  # seconds that a word lasts at least: the attention gives some none
_LATE = 0.15  # seconds by which words end later than it says: without them 18 of 100 leave over .05 s audible, with them 3
_REST = 0.35  # seconds of sound before a pause, at most, that are the word's: its time ends where the pause's mark begins
_RIPE = 0.2  # seconds after a word's end, before which strict mode does not call it doubtful: it may not have ended
_BEFORE = 0.3  # seconds less than what is unsettled, if that is more: a word is judged by its end, and must not have left


class WhisperDetector:
    """Looks for what `finder` finds.

    hop, settled, seconds: as HOP, SETTLED and SECONDS. A line that holds d seconds stays open if d >= hop + settled + the time
    that a look takes + what the line wants passed beyond what leaves (`detectors` sees to that). strict: from 0, off, to 1:
    hides speech without words too, and words less likely than this, as "doubt". whisper: may be shared by detectors of one
    thread.
    """

    name = "asr"

    def __init__(
        self,
        finder: Finder,
        *,
        hop: float = HOP,
        settled: float = SETTLED,
        seconds: float = SECONDS,
        strict: float = 0.0,
        whisper: Whisper | None = None,
    ) -> None:
        if not 1 <= seconds <= SECONDS:
            raise ValueError(f"seconds={seconds}: give 1 to {SECONDS}")
        if not (0.1 <= hop <= seconds / 2 and 0 <= settled <= seconds / 2):
            raise ValueError(f"hop={hop}, settled={settled}: give seconds from .1 (settled: 0) to {seconds / 2}")
        if not 0 <= strict <= 1:
            raise ValueError(f"strict={strict}: give 0, off, to 1")
        self.hop, self.window = round(hop * RATE), round(seconds * RATE)
        self._finder, self._strict, self._settled = finder, strict, round(settled * RATE)
        self._whisper = whisper or Whisper()
        self._ripe = round(max(_RIPE, settled - _BEFORE) * RATE)
        self._judged = 0  # sample up to which strict mode has said what it doubts

    def look(self, samples: F32, start: int, last: bool = False) -> Look:
        """ValueError for NaN; whatever a broken model raises. See `Detector`."""
        if not np.isfinite(samples).all():
            raise ValueError("the samples are not finite: nothing can be recognised in them")
        end = start + len(samples)
        passed = end if last else max(0, end - self._settled)
        level = levels(samples)
        if not (level > SILENCE).any():
            self._judged = end
            return Look((), passed)
        words = self._whisper.hear(samples, self._finder.languages, start)
        found = self._finder.find(words)
        loud = sounding(level)
        hits = [Hit(*_span(words, one, loud, start, end), one.kind, one.term, self.name) for one in found]
        hits = [hit for hit in hits if start == 0 or hit.start >= start + _CUT * RATE]
        if self._strict:
            until = end + 1 if last else end - self._ripe
            doubts = doubtful(level, start, credible(words), self._strict, self._judged, until)
            hits += [Hit(first, after, "doubt", "", self.name) for first, after in doubts]
            self._judged = until
        return Look(tuple(hits), passed)

    def reset(self) -> None:
        """See `Detector`."""
        self._judged = 0


def credible(words: Sequence[Word]) -> Sequence[Word]:
    """`words` up to where the recogniser began to say the same over and over, which the speech after it is not."""
    if not loops(" ".join(word.text for word in words)):
        return words
    texts = [word.text.lower() for word in words]
    for at in range(len(texts)):
        for size in range(1, (len(texts) - at) // 3 + 1):
            if texts[at : at + size] * 2 == texts[at + size : at + 3 * size]:
                return words[: at + size]
    return words


def _span(words: Sequence[Word], found: Found, loud: Bools, start: int, last: int) -> tuple[int, int]:
    """From the first word's start to the last one's end and a little more, or while its sound goes on and no other word begins.

    loud: of the frames from sample `start` on. Up to sample `last`.
    """
    own = words[found.first : found.last]
    first = min(word.start for word in own)
    end = max(first + round(_SHORTEST * RATE), *(word.end for word in own))
    after = words[found.last].start if found.last < len(words) else last
    most, end = min(after, end + round(_REST * RATE)), end + round(_LATE * RATE)
    while end < most and (end - start) // FRAME < len(loud) and loud[(end - start) // FRAME]:
        end += FRAME
    return first, min(last, end)

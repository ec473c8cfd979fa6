"""The detectors by name, with the times that a line of a given delay leaves them."""

from __future__ import annotations

from collections.abc import Sequence

from ...kernels.redact import FADE
from . import asr, ctc, spotting
from .asr import WhisperDetector
from .detector import Detector
from .find import Finder
from .rows import any_audible, audible
from .spans import PAD
from .spotting import PhoneDetector
from .whisper import Whisper

DETECTORS = ("asr", "phones")
DELAY = 2.0  # seconds
FAST = 1.5
_COST, _SPOTTED = 0.5, 0.2  # seconds that a look of either takes in one of twenty
_AHEAD = PAD + FADE  # seconds by which a line wants more passed than what leaves: a word may begin a pad later
_MOST = 3.0  # seconds after which the recogniser changes its mind no more


def detectors(
    finder: Finder,
    names: Sequence[str] = DETECTORS,
    *,
    delay: float = DELAY,
    strict: float = 0.0,
    whisper: Whisper | None = None,
) -> list[Detector]:
    """Those of `names`, of DETECTORS, for a line that holds `delay` seconds, FAST at least.

    Below DELAY the recogniser looks twice as often (.45 of a core instead of .25). strict, whisper: as `WhisperDetector` has
    them. A spotter with nothing to listen for is left out. ValueError for other names, for a shorter delay, and for what none
    of them would find; Unusable that names the extra for a missing package.
    """
    for name in names:
        if name not in DETECTORS:
            raise ValueError(f"detector {name!r}: give one of {', '.join(DETECTORS)}")
    if "asr" not in names:
        _all_audible(finder)
    if not delay >= FAST:
        raise ValueError(f"delay={delay}: give {FAST} s or more, in which words are heard to their end and recognised")
    found: list[Detector] = []
    if "asr" in names:
        hop = asr.HOP if delay >= DELAY else asr.HOP / 2
        found.append(
            WhisperDetector(finder, hop=hop, settled=min(_MOST, delay - hop - _COST - _AHEAD), strict=strict, whisper=whisper)
        )
    if "phones" in names and any_audible(finder, ctc.NUMBER):
        hop = spotting.HOP
        found.append(PhoneDetector(finder, hop=hop, settled=min(spotting.SETTLED, delay - hop - _SPOTTED - _AHEAD)))
    if not found:
        raise ValueError(f"no detector that could hear what is to be hidden: give {' and '.join(DETECTORS)}")
    return found


def _all_audible(finder: Finder) -> None:
    """ValueError for what is found in writing alone: with the spotter alone it would be heard, and nobody told."""
    if finder.categories:
        raise ValueError("detector phones: it hears listed words alone, no categories; give asr, too")
    for entry in finder.lexicon.entries if finder.lexicon else ():
        if not audible(entry, ctc.NUMBER):
            raise ValueError(f"word list: line {entry.line} is not found by its sound alone; give the detector asr, too")

"""The detectors by name, with the times that a line of a given delay leaves them."""

from __future__ import annotations

from collections.abc import Container, Sequence

from ...kernels.redact import FADE
from . import asr, ctc, phones, spotting, streaming
from .asr import WhisperDetector
from .detector import Detector
from .find import Finder
from .rows import any_audible, audible
from .spans import PAD
from .spotting import PhoneDetector
from .streaming import StreamDetector
from .whisper import Whisper

NAMES = ("asr", "phones", "stream")
DETECTORS = ("asr", "stream")  # the two that together find most: see `bench/content/recall.py`
DELAY = 2.0  # seconds
FAST = 1.5
_COST, _SPOTTED, _STREAMED = 0.5, 0.2, 0.05  # seconds that a look of each takes in one of twenty
_KNOWN: dict[str, Container[str]] = {"phones": ctc.NUMBER, "stream": phones.NUMBER}  # what spotters listen for
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
    """Those of `names`, of NAMES, for a line that holds `delay` seconds, FAST at least.

    Below DELAY the recogniser looks twice as often, at 4 s (.29 of a core instead of .25). strict, whisper: as
    `WhisperDetector` has them. A spotter with nothing to listen for is left out. ValueError for other names, for a shorter
    delay, and for what none of them would find; Unusable that names the extra for a missing package.
    """
    for name in names:
        if name not in NAMES:
            raise ValueError(f"detector {name!r}: give one of {', '.join(NAMES)}")
    if "asr" not in names:
        _all_audible(finder, names)
    if not delay >= FAST:
        raise ValueError(f"delay={delay}: give {FAST} s or more, in which words are heard to their end and recognised")
    found: list[Detector] = []
    if "asr" in names:
        hop, seconds = (asr.HOP, asr.SECONDS) if delay >= DELAY else (asr.FAST_HOP, asr.FAST_SECONDS)
        settled = min(_MOST, delay - hop - _COST - _AHEAD)
        found.append(WhisperDetector(finder, hop=hop, settled=settled, seconds=seconds, strict=strict, whisper=whisper))
    if "phones" in names and any_audible(finder, _KNOWN["phones"]):
        hop = spotting.HOP
        found.append(PhoneDetector(finder, hop=hop, settled=min(spotting.SETTLED, delay - hop - _SPOTTED - _AHEAD)))
    if "stream" in names and any_audible(finder, _KNOWN["stream"]):
        hop = streaming.HOP
        found.append(StreamDetector(finder, hop=hop, settled=min(streaming.SETTLED, delay - hop - _STREAMED - _AHEAD)))
    if not found:
        raise ValueError(f"no detector that could hear what is to be hidden: give {' and '.join(DETECTORS)}")
    return found


def _all_audible(finder: Finder, names: Sequence[str]) -> None:
    """ValueError for what is found in writing alone: with spotters alone it would be heard, and nobody told."""
    if finder.categories:
        raise ValueError(f"detector {', '.join(names)}: hears listed words alone, no categories; give asr, too")
    for entry in finder.lexicon.entries if finder.lexicon else ():
        if not any(audible(entry, _KNOWN[name]) for name in names):
            raise ValueError(f"word list: line {entry.line} is not found by its sound alone; give the detector asr, too")

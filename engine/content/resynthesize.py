"""Speech that is recognised, desensitised as text, and spoken by a synthesizer: nothing of the recording itself is left.

A word that is on the list cannot be heard, whatever the recogniser made of it: text with a listed word in it, or with what
sounds like one, is not spoken. What is lost is how something was said, and what the recogniser gets wrong: one word in ten to
one in three.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...kernels.jit import F32
from ..progress import counted
from .desensitise import Desensitised
from .lexicon import Lexicon
from .match import Matcher
from .normalize import has_han, surface
from .plain import plain
from .speech import RATE, Speaker
from .spoken import Listed
from .whisper import WINDOW, Whisper
from .word import Word

_HOP = 160
_LEAST = 6 * RATE  # samples of a piece, where there is more
_PAUSE = 10  # hops over which it is quiet where a piece ends
_SILENCE = 1e-3  # RMS of 10 ms, -60 dBFS: nobody speaks
_GAP = RATE // 10  # samples between phrases that come too late
_KEPT = 40  # words or Chinese characters that are remembered: a listed phrase may go on from one piece to the next


@dataclass(frozen=True)
class Resynthesis:
    """What came out, and what was done."""

    sound: F32 = field(repr=False)  # shape (n,), at RATE
    words: int  # recognised; each Chinese character is one
    replaced: dict[str, int]  # stretches by kind
    phrases: int  # spoken
    withheld: int  # phrases not spoken, for a listed word that was still in them or for letters that the speaker has not

    @property
    def line(self) -> str:
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.replaced.items())
        found = f"{sum(self.replaced.values())} replaced{f' ({kinds})' if kinds else ''} in {counted(self.words, 'word')}"
        return f"{found}; {counted(self.phrases, 'phrase')} spoken, {self.withheld} withheld"

    def as_json(self) -> dict[str, Any]:
        """Without the sound."""
        return {"words": self.words, "replaced": self.replaced, "phrases": self.phrases, "withheld": self.withheld}


class Resynthesizer:
    """For one recording after the other, in one thread.

    clean: text to text without what is sensitive, as `Desensitiser`. languages: that are spoken, of "en" and "zh". ValueError
    where the speaker does not speak one of them.
    """

    def __init__(
        self,
        speaker: Speaker,
        clean: Callable[[str], Desensitised],
        lexicon: Lexicon | None = None,
        languages: Sequence[str] = ("en",),
        recogniser: Whisper | None = None,
    ) -> None:
        for language in languages:
            if language not in speaker.languages:
                raise ValueError(f"{speaker.name} does not speak {language}: take kokoro (hq), or leave that language out")
        self._speaker, self._clean, self._languages = speaker, clean, tuple(languages)
        self._listed = Listed(lexicon, speaker) if lexicon else None
        self._recogniser = recogniser or Whisper()

    def __call__(self, samples: F32, done: Callable[[int, int], None] = lambda done, of: None) -> Resynthesis:
        """Mono speech at RATE, shape (n,), spoken anew: each phrase begins where it began, or later if it has to wait.

        done: is told how many samples are done, and of how many.
        """
        if not np.isfinite(samples).all():
            raise ValueError("the samples are not finite: nothing can be recognised in them")
        parts: list[F32] = []
        replaced: Counter[str] = Counter()
        words = phrases = withheld = length = 0
        before = ""
        for start, end in pieces(samples):
            done(start, len(samples))
            heard = self._recogniser.hear(samples[start:end], self._languages, start)
            words += len(heard)
            if not heard:
                continue
            said = self._said(heard, before, replaced)
            if said is None:
                withheld += 1
                continue
            sound = self._speaker.speak(said)
            if not len(sound):
                continue
            before = _ending(f"{before} {said}")
            silence = max(heard[0].start - length, _GAP if phrases else 0)
            parts += [np.zeros(silence, np.float32), sound]
            length += silence + len(sound)
            phrases += 1
        rest = max(0, len(samples) - length)
        done(len(samples), len(samples))
        return Resynthesis(
            np.concatenate([*parts, np.zeros(rest, np.float32)]), words, dict(sorted(replaced.items())), phrases, withheld
        )

    def _said(self, heard: Sequence[Word], before: str, replaced: Counter[str]) -> str | None:
        """What may be spoken of a phrase; None if nothing of it may."""
        try:
            cleaned = self._clean(written(heard))
            said = plain(cleaned.text)
            self._speaker.sounds(said)
            # Alone, as it is spoken, and after what was spoken before: a word may be read in another way there.
            if self._listed is not None and (self._listed.holds(said) or self._listed.holds(f"{before} {said}")):
                return None
        except ValueError:  # letters of a language that nothing is known of: what they say is not known either
            return None
        replaced.update(cleaned.counts)
        return said


def pieces(samples: F32) -> Iterator[tuple[int, int]]:
    """Parts of a recording, [start, end), short enough to be recognised, cut where it is quiet; silent ones are left out."""
    power = np.square(samples[: len(samples) // _HOP * _HOP].reshape(-1, _HOP)).mean(axis=1)
    start = 0
    while start < len(samples):
        end = len(samples)
        if end - start > WINDOW:
            first, last = (start + _LEAST) // _HOP, (start + WINDOW) // _HOP
            around = np.convolve(power[first:last], np.ones(_PAUSE), "valid")
            end = (first + int(np.argmin(around)) + _PAUSE // 2) * _HOP
        if (power[start // _HOP : -(-end // _HOP)] > _SILENCE**2).any():
            yield start, end
        start = end


def written(words: Sequence[Word]) -> str:
    """Words as text: a space between them, none between Chinese characters."""
    text = ""
    for word in words:
        joined = text and has_han(text[-1]) and has_han(word.text[0])
        text += word.text if joined or not text else f" {word.text}"
    return text


def found_again(samples: F32, lexicon: Lexicon, languages: Sequence[str], recogniser: Whisper) -> int:
    """How often a recogniser finds listed words in a recording at RATE."""
    matcher = Matcher(lexicon.entries)
    heard = (recogniser.hear(samples[start:end], languages, start) for start, end in pieces(samples))
    return sum(len(matcher.find(surface([word.text for word in words]))) for words in heard)


def _ending(text: str) -> str:
    """Its last words, as many as an entry of a list may have."""
    units = [unit.text for unit in surface([text])]
    return " ".join(units[-_KEPT:])

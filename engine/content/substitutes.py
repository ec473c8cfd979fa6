"""What is heard in place of a listed word: another word, spoken and anonymized once, when the list is loaded.

A substitute is a whole word where the hole is a shorter one's (half of them .49 s, and the pads): it is trimmed, said up to 1.5
times as fast, and left out where that is not enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np

from ...kernels.jit import F32
from ..host import Engine
from .lexicon import Lexicon
from .plain import plain
from .replace import Replacer
from .speech import RATE, Speaker
from .stretch import stretched

FASTEST = 1.5  # above it words are hard to understand
_NAMED = ("name", "place", "organisation")  # classes with words that may stand for each other
_QUIET = 0.01  # -40 dB below the loudest 10 ms: silence around a word
_HOP = 160
_EDGE = 320  # samples of what is quiet that stay: a word's soft start and end


class Substitutes:
    """A sound for each entry that has a substitute, by its salted id; `findings.Clips`. `clip` may be called by any thread."""

    def __init__(self, words: Mapping[str, str], speaker: Speaker) -> None:
        """words: `plain` text by id. Takes a third of a second a word with kokoro, a hundredth with others."""
        said = {word: speaker.speak(word) for word in dict.fromkeys(words.values())}
        self._spoken = {word: sound for word, sound in said.items() if len(sound)}
        self._words = {term: word for term, word in words.items() if word in self._spoken}
        self._voiced = dict.fromkeys(self._spoken, np.zeros(0, np.float32))

    @classmethod
    def of(cls, lexicon: Lexicon, speaker: Speaker, engine: Engine, seed: int | None = None) -> Self:
        """Of a list, in the voice of `engine`: the substitutes that it gives; for names, places and organisations without one
        another of their class. ValueError, with the line, for a substitute in a language that `speaker` does not speak."""
        replacer = Replacer("similar", lexicon, seed=seed)
        words = {}
        for entry in lexicon.entries:
            word = entry.substitute or (replacer.replace(entry.text, entry.kind) if entry.kind in _NAMED else "")
            try:
                speaker.sounds(said := plain(word))
            except ValueError as error:
                raise ValueError(f"word list: line {entry.line}: its substitute cannot be said: {error}") from None
            if said:
                words[entry.term] = said
        made = cls(words, speaker)
        made.take_voice(engine)
        return made

    def take_voice(self, engine: Engine) -> None:
        """Sound as what `engine` anonymizes, its channel 0: for a new voice or other parameters, again."""
        stages = [stage.clone() for stage in engine.stages]
        for stage, saved in zip(stages, engine.save()["lanes"][0], strict=True):
            stage.restore(saved)  # before the engine prepares it: a stage without a voice would draw one, and a ledger count it
        clone = Engine(stages, sample_rate=RATE)
        voiced = {}
        for word, sound in self._spoken.items():
            whole = np.concatenate([clone.process(sound), clone.flush()])
            voiced[word] = trimmed(whole[clone.latency :])
        self._voiced = voiced

    def clip(self, term: str, samples: int) -> F32 | None:
        """The sound for an entry, shape (n,) at 16 kHz, n <= samples; None if there is none, or none that fits."""
        sound = self._voiced.get(self._words.get(term, ""))
        if sound is None or not len(sound) or len(sound) > FASTEST * samples:
            return None
        if len(sound) <= samples:
            return sound
        return stretched(sound, min(len(sound) / samples, FASTEST), RATE)[:samples]

    def __len__(self) -> int:
        return len(self._words)

    def __repr__(self) -> str:
        return f"Substitutes({len(self)} entries)"


def trimmed(x: F32) -> F32:
    """Without the silence before and after what is said, at 16 kHz."""
    frames = x[: len(x) // _HOP * _HOP].reshape(-1, _HOP)
    level = np.sqrt(np.mean(frames**2, axis=1))
    loud = np.flatnonzero(level > _QUIET * level.max(initial=0.0))
    if not len(loud):
        return x[:0]
    return x[max(0, loud[0] * _HOP - _EDGE) : (loud[-1] + 1) * _HOP + _EDGE]

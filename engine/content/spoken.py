"""Whether a listed word is in text that is about to be spoken: as it is written, or as it will sound."""

from __future__ import annotations

from dataclasses import replace

from .lexicon import Lexicon
from .match import Matcher
from .normalize import surface
from .pronounce import Phones
from .speech import Speaker

# What synthesizers and dictionaries write either way: weak vowels, and those that many speakers do not tell apart.
_SAME = {"IH": "AH", "UH": "AH", "AO": "AA"}


class Listed:
    """A word list as whoever listens knows it: by sound, also where it asks for what is written alone.

    Short entries (3 phones, one Chinese character) are the exception: ordinary words that sound the same are let through, as
    everywhere ("an" where Ann is listed), unless the list asks for them by match=phonetic.
    """

    def __init__(self, lexicon: Lexicon, speaker: Speaker) -> None:
        entries = [replace(e, match="phonetic", careful=e.short) if e.match == "exact" else e for e in lexicon.entries]
        self._speaker = speaker
        self._matcher = Matcher(entries)
        self._sounds = {_levelled(phones) for entry in entries if not entry.careful for phones in entry.phones}
        self._longest = max(map(len, self._sounds), default=0)

    def holds(self, text: str) -> bool:
        """Of `plain` text. ValueError where it is of a language that the speaker does not speak."""
        return bool(self._matcher.find(surface([text]))) or self._sounded(self._speaker.sounds(text))

    def _sounded(self, words: list[Phones]) -> bool:
        """Whether some words that follow each other sound as an entry does."""
        for begin in range(len(words)):
            heard: Phones = ()
            for word in words[begin:]:
                heard += _levelled(word)
                if heard in self._sounds:
                    return True
                if len(heard) >= self._longest:
                    break
        return False


def _levelled(phones: Phones) -> Phones:
    """Without an R after ER, which espeak-ng writes at the end of a word."""
    return tuple(_SAME.get(p, p) for n, p in enumerate(phones) if p != "R" or n == 0 or phones[n - 1] != "ER")

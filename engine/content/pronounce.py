"""How words sound: English and Chinese in one set of phones (`phones.py`), so that either is found in speech of the other.

English words are looked up in CMUdict (BSD, inside the package pocketsphinx), the rest is spelled out by hama's letter-to-sound
model (phone error rate .064 on words of the dictionary, 17 ms a word). Chinese is read by pypinyin, tones left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from . import mandarin
from .english import phones_of_ipa
from .extras import needed
from .normalize import Unit, has_han, without_possessive

Phones = tuple[str, ...]
_SPELLING = Lock()  # hama's model writes to memory of its own; detectors are threads
_MOST = 4  # pronunciations of a word
_LONGEST = 24  # letters of a word that is spelled out; longer ones are noise
_DIGITS = "zero one two three four five six seven eight nine".split()


def pinyin(text: str | list[str]) -> list[str]:
    """Chinese `text` in syllables with the tone as a digit, 5 the neutral one; what is not Chinese stays as it is.

    Of a list, each text is read by itself.
    """
    found = needed("pypinyin", "the sound of Chinese words")
    return list(found.lazy_pinyin(text, style=found.Style.TONE3, neutral_tone_with_five=True))


def toneless(text: str) -> tuple[str, ...]:
    """A syllable without its tone for each character of `text`, all of them Chinese."""
    return tuple(syllable.rstrip("12345") for syllable in _syllables(text))


@cache
def of_syllable(syllable: str) -> Phones:
    """Phones of a toneless syllable; empty for what is none."""
    try:
        return tuple(phone for _, phone in mandarin.pieces(syllable) if phone)
    except ValueError:
        return ()


@lru_cache(65_536)
def of_word(word: str) -> tuple[Phones, ...]:
    """Pronunciations of an English word in small letters, the commonest first; none for what has no letters of English."""
    raw = dictionary().get(word) or dictionary().get(word.replace("'", "")) or dictionary().get(without_possessive(word))
    if raw:
        return tuple(tuple(phones.split()) for phones in raw[:_MOST])
    bare = without_possessive(word).replace("'", "")
    if not (bare.isascii() and bare.isalpha()) or len(bare) > _LONGEST:
        return ()
    with _SPELLING:
        found = _letter_to_sound().predict(bare).alignments
    spelled = tuple(phones_of_ipa([sound.phoneme for sound in found]))
    return (spelled,) if spelled else ()


@lru_cache(65_536)
def as_pinyin(word: str) -> tuple[str, ...]:
    """The syllables that a word in Latin letters is in pinyin ("xiaoming": xiao, ming), the fewest; empty if it is none."""
    best: list[tuple[str, ...] | None] = [()]
    for end in range(1, len(word) + 1):
        ways = [
            (*before, word[begin:end])
            for begin in range(max(0, end - 6), end)
            if (before := best[begin]) is not None and word[begin:end] in _spoken_syllables()
        ]
        best.append(min(ways, key=len, default=None))
    return best[-1] or ()


def in_dictionary(word: str) -> bool:
    """Whether the sound of an English word in small letters is known, not guessed by its letters."""
    return word in dictionary() or word.replace("'", "") in dictionary()


def sounds(units: Sequence[Unit]) -> list[tuple[Phones, ...]]:
    """Pronunciations of each of the `surface` units; a character is read as the characters around it ask for."""
    found: list[tuple[Phones, ...]] = []
    at = 0
    while at < len(units):
        end = at
        while end < len(units) and has_han(units[end].text):
            end += 1
        if end > at:
            syllables = toneless("".join(unit.text for unit in units[at:end]))
            found += [(phones,) if (phones := of_syllable(syllable)) else () for syllable in syllables]
        else:
            end = at + 1
            found.append(of_word(_DIGITS[int(units[at].text)] if units[at].text.isdecimal() else units[at].text))
        at = end
    return found


@cache
def _spoken_syllables() -> frozenset[str]:
    """The 400 toneless syllables that the characters of GB 2312 have."""
    common = (bytes((row, cell)).decode("gb2312", "ignore") for row in range(0xB0, 0xF8) for cell in range(0xA1, 0xFF))
    syllables = pinyin([character for character in common if character])
    return frozenset(toneless for syllable in syllables if of_syllable(toneless := syllable.rstrip("12345")))


@lru_cache(4_096)
def _syllables(text: str) -> tuple[str, ...]:
    return tuple(pinyin(text))


@cache
def dictionary() -> dict[str, tuple[str, ...]]:
    """English words in small letters to their pronunciations, phones with spaces between them."""
    path = Path(needed("pocketsphinx", "the sound of English words").get_model_path("en-us/cmudict-en-us.dict"))
    found: dict[str, tuple[str, ...]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        word, _, phones = line.partition(" ")
        base = word.partition("(")[0]
        found[base] = (*found.get(base, ()), phones)
    return found


@cache
def _letter_to_sound() -> Any:
    return needed("hama", "the sound of English words that no dictionary has", "content-models").G2PModel()

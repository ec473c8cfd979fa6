"""English words in Chinese speech: a recogniser of Chinese writes the characters that sound most like them (Alice: ai li si).

Transcription follows the syllables: a consonant that no vowel follows gets one (si, te, fu), or is left out; what Mandarin
lacks becomes its neighbour. So syllables are compared, not phones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

from .pronounce import Phones

T = TypeVar("T")

_VOWELS = frozenset("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW EU YU IR".split())
_NASALS = frozenset(("N", "NG"))
_GLIDES = frozenset(("Y", "W"))
# Kinds of first sounds. A sound of two kinds is as good as either.
_KINDS = {
    "p": "P B", "t": "T D DH", "k": "K G", "f": "F V HH", "w": "W V", "m": "M", "n": "N NG", "l": "L R RR", "h": "HH K",
    "s": "S Z TH SR SX SH TS TZ", "j": "JH CH ZH JX QX ZR CR SH SR Z", "y": "Y JH", "g": "G JX QX",
}  # fmt: skip
_KINDS_OF = {
    phone: frozenset(kind for kind, phones in _KINDS.items() if phone in phones.split())
    for phone in {phone for phones in _KINDS.values() for phone in phones.split()}
}
# The vowels of Mandarin that each one of English is written with.
_WRITTEN = {
    "IY": "IY IR EY YU", "IH": "IY IR EH AH", "EY": "EY AY AA", "EH": "EY EH AY EU AH", "AE": "AA AY EH", "AA": "AA AO UH",
    "AO": "AO AW AA OW UH", "OW": "AO OW UW", "UH": "UW AO UH", "UW": "UW YU OW", "AH": "AA EU AO AH UW IY ER EH",
    "ER": "EU ER UW AO AH", "AY": "AY AA IY", "AW": "AW AO", "OY": "AO",
}  # fmt: skip
_WRITTEN_AS = {vowel: frozenset(written.split()) for vowel, written in _WRITTEN.items()}
_ADDED = frozenset("IR UW EU IY ER".split())  # vowels that a bare consonant gets
# What it costs to leave a bare consonant out; others 0.8.
_DROPPED = {"R": 0.1, "HH": 0.1, "Y": 0.1, "W": 0.2, "T": 0.3, "D": 0.3, "L": 0.3, "M": 0.3} | dict.fromkeys("KPBG", 0.4)
# What a syllable may cost on average: 48 of 66 usual transcriptions are found, and 5 false ones an hour and name.
_ALLOWED = {2: 0.08, 3: 0.17}
_ALLOWED_LONG = 0.25
_MOST = 10  # syllables
_LOST, _ANOTHER_FIRST, _ANOTHER_VOWEL, _NO_NASAL, _MORE_NASAL = 0.8, 1.0, 0.5, 0.3, 0.15


class Beat(NamedTuple):
    """A syllable, or a bare consonant."""

    first: str  # its consonant; "" for none
    vowel: str  # "" for a bare consonant
    nasal: bool  # at its end


@lru_cache(16_384)
def beats(phones: Phones) -> tuple[Beat, ...]:
    """The syllables and bare consonants of an English word, or of a Chinese syllable."""
    found: list[Beat] = []
    first = ""
    for n, phone in enumerate(phones):
        after = phones[n + 1] if n + 1 < len(phones) else ""
        if phone == "YU" and after in _VOWELS:  # yue, yuan: no syllable of its own
            phone = "Y"
        if phone in _VOWELS:
            found.append(Beat(first, phone, False))
            first = ""
        elif phone in _NASALS and after not in _VOWELS and found and found[-1].vowel and not first:
            found[-1] = found[-1]._replace(nasal=True)
        elif phone in _GLIDES and first and after in _VOWELS:
            continue  # between a consonant and its vowel
        else:
            if first:
                found.append(Beat(first, "", False))
            first = phone
    return (*found, Beat(first, "", False)) if first else tuple(found)


def apart(english: Sequence[Beat], chinese: Sequence[Beat], limit: float) -> float:
    """What it costs to write `english` as `chinese`; more than `limit` where it is more than that."""
    row = [float(n) for n in range(len(chinese) + 1)]
    for beat in english:
        last, row = row, [row[0] + _left_out(beat)]
        for n, syllable in enumerate(chinese, 1):
            row.append(min(last[n - 1] + _written(beat, syllable), last[n] + _left_out(beat), row[n - 1] + _LOST))
        if min(row) > limit:
            return limit + 1
    return row[-1]


class Transcribed(Generic[T]):
    """English pronunciations to be found by the Chinese syllables that they are written as; read-only once made."""

    def __init__(self, sounds: Iterable[tuple[Phones, T]]) -> None:
        self._by_kind: dict[str, list[tuple[tuple[Beat, ...], int, T]]] = defaultdict(list)
        for phones, value in sounds:
            english = beats(phones)
            vowels = sum(bool(beat.vowel) for beat in english)
            if english and all(beat.vowel in _WRITTEN_AS for beat in english if beat.vowel):
                for kind in _kinds(english[0].first):
                    self._by_kind[kind].append((english, vowels, value))
        self.longest = _MOST if self._by_kind else 0

    def find(self, chinese: Sequence[Beat]) -> Iterator[tuple[T, float]]:
        """Values that these syllables, two at least, are the transcription of, and at what cost."""
        limit = _ALLOWED.get(len(chinese), _ALLOWED_LONG) * len(chinese)
        for kind in _kinds(chinese[0].first):
            for english, vowels, value in self._by_kind.get(kind, ()):
                if vowels <= len(chinese) <= len(english) and (cost := apart(english, chinese, limit)) <= limit:
                    yield value, cost


def _kinds(first: str) -> frozenset[str]:
    """Of a first sound; one that may be missing is of the kind of none, too."""
    return _KINDS_OF.get(first, frozenset()) | ({""} if first in ("", "Y", "HH") else frozenset())


def _left_out(beat: Beat) -> float:
    return 1.0 if beat.vowel else _DROPPED.get(beat.first, _LOST)


@lru_cache(65_536)
def _written(english: Beat, chinese: Beat) -> float:
    cost = 0.0 if _alike(english.first, chinese.first) else _ANOTHER_FIRST
    if not english.vowel:
        if english.first in ("L", "R") and chinese.vowel == "ER":
            return 0.0
        return cost + (0.0 if chinese.vowel in _ADDED else _ANOTHER_VOWEL) + _MORE_NASAL * chinese.nasal
    if chinese.vowel not in _WRITTEN_AS[english.vowel]:
        cost += _ANOTHER_VOWEL
    return cost + (
        _NO_NASAL if english.nasal and not chinese.nasal else _MORE_NASAL if chinese.nasal and not english.nasal else 0
    )


def _alike(english: str, chinese: str) -> bool:
    if not english or not chinese or english == chinese:
        return english == chinese or (english or chinese) in ("Y", "HH")
    return bool(_KINDS_OF[english] & _KINDS_OF[chinese])

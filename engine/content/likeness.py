"""How alike two pronunciations are: a recogniser that has not caught a word writes down another that sounds nearly the same.

The distance is an edit distance over phones whose costs are by kinds of sounds: vowels are confused more than consonants, those
of one place of the mouth more than others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Generic, TypeVar

from .phones import ENGLISH, MANDARIN
from .pronounce import Phones

T = TypeVar("T")

# Consonants that are taken for each other, a letter a group; the rest are vowels, three groups of them.
_CONSONANTS = {
    "p": "P B", "t": "T D DH TH", "k": "K G", "f": "F V W", "s": "S Z TH SR SX SH TS TZ", "n": "N NG M", "l": "L R RR",
    "h": "HH F", "j": "JH CH ZH JX QX ZR CR SH RR TZ TS", "y": "Y",
}  # fmt: skip
_VOWELS = {"i": "IY IH YU IR EY", "a": "AA AE AH AY AW EH EU EY ER", "o": "OW AO UH UW OY AW AA EU W"}
_VOWEL = frozenset("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW EU YU IR".split())
_WEAK = _VOWEL | frozenset("Y W HH R ER".split())  # heard where there is none, and the other way round


def _groups(table: dict[str, str]) -> dict[str, frozenset[str]]:
    return {
        phone: frozenset(group for group, phones in table.items() if phone in phones.split()) for phone in (*ENGLISH, *MANDARIN)
    }


_SOUNDS, _COLOURS = _groups(_CONSONANTS), _groups(_VOWELS)
_SAME_GROUP, _VOWELS_APART, _WEAK_EDIT, _EDIT = 0.4, 0.6, 0.6, 1.0


def swap(a: str, b: str) -> float:
    """What it costs to take one phone for another."""
    if a == b:
        return 0.0
    if _SOUNDS[a] & _SOUNDS[b] or _COLOURS[a] & _COLOURS[b]:
        return _SAME_GROUP
    return _VOWELS_APART if a in _VOWEL and b in _VOWEL else _EDIT


_SWAP = {a: {b: swap(a, b) for b in (*ENGLISH, *MANDARIN)} for a in (*ENGLISH, *MANDARIN)}
_LEAVE_OUT = {phone: _WEAK_EDIT if phone in _WEAK else _EDIT for phone in (*ENGLISH, *MANDARIN)}


def distance(a: Phones, b: Phones, limit: float) -> float:
    """The least cost to make `b` of `a`; anything above `limit` where it is more than that."""
    without_b = [_LEAVE_OUT[phone] for phone in b]
    row = list(accumulate(without_b, initial=0.0))
    for phone in a:
        swaps, without_a = _SWAP[phone], _LEAVE_OUT[phone]
        diagonal = row[0]
        cost = least = row[0] = diagonal + without_a
        for n, other in enumerate(b):  # compared by hand: `min` of three takes twice the time
            cost += without_b[n]
            if (swapped := diagonal + swaps[other]) < cost:
                cost = swapped
            diagonal = row[n + 1]
            if (left_out := diagonal + without_a) < cost:
                cost = left_out
            row[n + 1] = cost
            if cost < least:
                least = cost
        if least > limit:
            return limit + 1
    return row[-1]


# A group for each consonant that the skeleton of a word keeps; what is weak is left out.
_BONES = {
    "p": "P B", "t": "T D DH", "k": "K G", "f": "F V", "s": "S Z TH SR SX SH TS TZ JH CH ZH JX QX ZR CR", "n": "N NG M",
    "l": "L",
}  # fmt: skip
_BONE = {phone: bone for bone, phones in _BONES.items() for phone in phones.split()}


def skeleton(phones: Phones) -> str:
    return "".join(_BONE.get(phone, "") for phone in phones)


class Nearest(Generic[T]):
    """Pronunciations to be found by what sounds nearly the same. Compared are those whose consonants agree but for one."""

    def __init__(self, sounds: Iterable[tuple[Phones, T]]) -> None:
        self._by_bones: dict[str, list[tuple[Phones, T]]] = defaultdict(list)
        for phones, value in sounds:
            for bones in _with_one_less(skeleton(phones)):
                self._by_bones[bones].append((phones, value))

    def find(self, phones: Phones, share: float) -> Iterator[tuple[T, float]]:
        """Values whose pronunciation is no further away than `share` of its length, and how far."""
        seen: set[int] = set()
        for bones in _with_one_less(skeleton(phones)):
            for sound in self._by_bones.get(bones, ()):
                limit = share * len(sound[0])
                if abs(len(sound[0]) - len(phones)) * _WEAK_EDIT <= limit and id(sound) not in seen:
                    seen.add(id(sound))
                    if (cost := distance(sound[0], phones, limit)) <= limit:
                        yield sound[1], cost


def _with_one_less(bones: str) -> set[str]:
    return {bones, *(bones[:n] + bones[n + 1 :] for n in range(len(bones)))}

"""Whether one text gives another away: the same word, a form of it, a part of it, or one that sounds the same."""

from __future__ import annotations

from .normalize import has_han, surface, words_of
from .pronounce import Phones, in_dictionary, of_word, toneless

_STEM = 4  # letters


def gives_away(text: str, original: str) -> bool:
    """Whether `text` should not stand where `original` has been. By written form and, for words of the dictionary, by sound."""
    mine, others = words_of(text), words_of(original)
    if not mine or not others:
        return text == original
    a, b = "".join(mine), "".join(others)
    if a == b:
        return True
    a_written, b_written = ("".join(unit.text for unit in surface([one])) for one in (text, original))
    if all(map(has_han, a_written + b_written)):
        return (len(a) > 1 and a in b) or (len(b) > 1 and b in a) or toneless(a_written) == toneless(b_written)
    if len(mine) == len(others) == 1:
        return _same_stem(a, b) or bool(_sounds(a) & _sounds(b))
    x, y = f" {' '.join(mine)} ", f" {' '.join(others)} "
    return x in y or y in x


def _same_stem(a: str, b: str) -> bool:
    """contract, contracts, contracted; Maria, Marie; car, cars; not Carter, Carson."""
    shared = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    shorter, longer = sorted((len(a), len(b)))
    return shared >= max(_STEM, shorter - 1) or (shared == shorter and longer - shorter <= 2)


def _sounds(word: str) -> set[Phones]:
    return set(of_word(word)) if in_dictionary(word) else set()

"""Words that everybody says all the time: hiding what sounds like one of them hides much that is harmless."""

from __future__ import annotations

import math
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from .extras import lacking, needed
from .pronounce import Phones, dictionary, toneless

_RARE = -4.45  # log10 of the share of running words: 2,000 English words are commoner
_COMMON_HAN = 5_000  # times in jieba's counts: 1,000 words of two characters are commoner


def ordinary(word: str) -> bool:
    """Whether an English word in small letters is one of the 2,000 commonest."""
    return word in _english()


def ordinary_sound(phones: Phones, but: str = "") -> bool:
    """Whether one of them sounds like that, other than `but`."""
    return bool(_english_sounds().get(phones, frozenset()) - {but})


def ordinary_syllables(syllables: tuple[str, ...]) -> bool:
    """Whether a common Chinese word sounds like these toneless syllables."""
    return syllables in _chinese_sounds()


@cache
def _english() -> frozenset[str]:
    """By the unigrams of pocketsphinx's language model, which its dictionary's words have."""
    sphinx = needed("pocketsphinx", "the sound of English words")
    scale = sphinx.LogMath()
    model = sphinx.NGramModel(sphinx.Config(lm=None, loglevel="FATAL"), scale, sphinx.get_model_path("en-us/en-us.lm.bin"))
    least = _RARE * math.log(10)
    return frozenset(word for word in dictionary() if scale.log_to_ln(model.prob([word])) > least)


@cache
def _english_sounds() -> dict[Phones, frozenset[str]]:
    found: dict[Phones, frozenset[str]] = {}
    for word in _english():
        for phones in dictionary()[word]:
            sound = tuple(phones.split())
            found[sound] = found.get(sound, frozenset()) | {word}
    return found


@cache
def _chinese_sounds() -> frozenset[tuple[str, ...]]:
    """By jieba's counts: a line is a word, how often it was seen, and its tag."""
    spec = find_spec("jieba")  # not imported: that takes a second, and its file is all that is needed
    if spec is None or spec.origin is None:
        raise lacking("jieba", "the list of common Chinese words")
    lines = Path(spec.origin).with_name("dict.txt").read_text(encoding="utf-8").splitlines()
    counted = (line.split(" ") for line in lines)
    return frozenset(toneless(word) for word, count, _ in counted if int(count) > _COMMON_HAN)

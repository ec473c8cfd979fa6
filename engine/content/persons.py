"""Which stretches of Chinese are persons' names: jieba's classes, and what the names in its dictionary are made of.

jieba cuts a name that it does not know in two, or takes it for a verb. A surname with one or two characters after it is a name
where they are far likelier as one of the dictionary's 39,000 names than as other words, more so between what stands beside
names (commas, titles, "said").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from math import log

from . import pool_zh
from .segment import Segmenter, Tagged, segmenter

NAMES = ("nr", "nrfg", "nrt")  # jieba's classes
_BEFORE_NAMES = "和跟同与及对给找叫是向让被请问"  # what jieba's guesses glue to a name
_LEAST = (
    5.0  # log likelihood ratio: of 100 names that jieba's classes miss 22 are found, with .1 false ones in 1,000 characters
)
_BESIDE = 1.5  # what it is worth that a name's neighbour, on either side, is one of those that names have
_SAME_WORD = 0.5  # of how much likelier two characters are as a word than as two: that word may be a name's end, too
_FUNCTION = ("c", "d", "p", "u")  # jieba's classes of 和 于 连 曾, which are surnames, too
_LONGEST = 3  # characters of such a name
_BEFORE = frozenset(
    (
        "、 ， 。 （ ( : ： “ , . 和 与 及 同 叫 是 给 找 对 向 跟 让 被 请 由 记者 同志 主任 主席 总理 部长 书记 "
        "局长 经理 队长 教授 医生 老师 先生 小姐 司机 民警 青年 农民 工人 战士 作者 代表 选手 演员 导演 院长 校长 "
        "所长 厂长 总统 客户 同事 朋友 患者 病人 学生 队员 姓名 名叫"
    ).split()
)
_AFTER = frozenset(
    (
        "、 ， 。 （ ） ( ) ： : , . 说 摄 在 也 和 与 向 对 的 等 同志 报道 今天 表示 认为 告诉 问 笑 把 被 给 去 来 到 "
        "从 为 是 已 还 又 就"
    ).split()
) | frozenset(pool_zh.TITLES)


def glued(text: str) -> int:
    """How many characters before a name jieba took with it: 1 in 和小红."""
    rest = text[1:]
    return int(text[0] in _BEFORE_NAMES and len(rest) > 1 and (rest[0] in pool_zh.SURNAMES or rest[0] in "小老阿"))


def is_person(text: str, after: str) -> bool:
    """Whether what jieba has in one of NAMES is one; `after`: the next word."""
    if text in pool_zh.NOT_NAMES:
        return False
    if len(text) == 1:
        return text in pool_zh.SURNAMES and after in pool_zh.TITLES
    if text[:2] in pool_zh.DOUBLE_SURNAMES or all(c in pool_zh.TRANSCRIBED for c in text):
        return True
    return len(text) <= _LONGEST and text[0] in pool_zh.SURNAMES | set("小老阿")


class Persons:
    """Finds names of two or three characters that no class tells. Read-only; .3 s to make."""

    def __init__(self, segmenter: Segmenter) -> None:
        names = [n for n in segmenter.of_class(["nr"]) if 2 <= len(n) <= _LONGEST and n[0] in pool_zh.SURNAMES]
        self._surname = Counter(name[0] for name in names)
        self._alone = Counter(name[1] for name in names if len(name) == 2)
        self._first, self._last = (Counter(name[n] for name in names if len(name) == _LONGEST) for n in (1, 2))
        self._count, self._tag, self._in_words = segmenter.count, segmenter.tag, Counter[str]()
        for word, count in segmenter.counted().items():
            if segmenter.tag(word) not in NAMES:
                for character in word:
                    self._in_words[character] += count
        self._words = sum(segmenter.counted().values())
        self._characters = self._in_words.total()

    def find(self, tokens: Sequence[Tagged], found: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Places, in characters of `tokens` together, beside or around what was `found`; the longer ones first."""
        text = "".join(token.text for token in tokens)
        ends = [0, *accumulate(len(token.text) for token in tokens)]
        number = {end: n for n, end in enumerate(ends)}
        for n, token in enumerate(tokens):
            start = ends[n]
            known = bool(self._count(token.text)) and len(token.text) > 1
            if token.text[0] not in pool_zh.SURNAMES or (known and not any(first == start for first, _ in found)):
                continue
            if token.text in pool_zh.SURNAMES and token.tag in _FUNCTION:
                continue
            for end in (start + 3, start + 2):
                inner = [one for one in found if one[0] < end and one[1] > start]
                if end not in number or (known and end == ends[n + 1]) or not text[start:end].isalpha():
                    continue
                if text[start + 1 : end] in pool_zh.TITLES or tokens[number[end] - 1].text in _AFTER:
                    continue
                if any(one == (start, end) or one[0] < start or one[1] > end for one in inner):
                    continue
                last = number[end]
                before, after = tokens[n - 1].text if n else "", tokens[last].text if last < len(tokens) else ""
                if self.likely(text[start:end], before, after) > _LEAST:
                    yield start, end
                    break

    def likely(self, name: str, before: str, after: str) -> float:
        """Log likelihood ratio of `name`, two or three characters, as one against other words; "" beside it: nothing."""
        found = self._ratio(self._surname, name[0], self._count(name[0]) + 50, self._words)
        given = zip((self._alone,) if len(name) == 2 else (self._first, self._last), name[1:], strict=True)
        found += sum(self._ratio(of, c, self._in_words[c] + 5, self._characters) for of, c in given)
        word = name[1:]
        if len(word) == 2 and self._count(word) and self._tag(word) not in NAMES:
            apart = [(self._in_words[c] + 5) / self._characters for c in word]
            found -= _SAME_WORD * max(0.0, log(self._count(word) / self._words / (apart[0] * apart[1])))
        return found + _BESIDE * ((not before or before in _BEFORE) + (not after or after in _AFTER))

    @staticmethod
    def _ratio(names: Counter[str], character: str, words: float, total: float) -> float:
        return log((names[character] + 0.5) / (names.total() + 2000)) - log(words / total)


@cache
def persons() -> Persons:
    """The one of this process. Raises Unusable where jieba is missing."""
    return Persons(segmenter())

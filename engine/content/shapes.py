"""Text of the same shape with other characters: of equal length, or of the same form (another date for a date)."""

from __future__ import annotations

import re
from random import Random

from .normalize import has_han

CONSONANTS = "bcdfghjklmnpqrstvwxz"  # without vowels no word comes about, and nothing that sounds like one
_HAN_DIGITS = "零一二三四五六七八九"
_HAN = (
    "山水火木田石花草树叶风云雨雪星光灯窗门桌椅书笔纸画歌舞琴棋车船桥路城村河湖海岛鱼鸟牛羊马鹿虎兔龙象米豆茶酒饭糖盐油瓜果桃梨"
    "春夏秋冬东西南北红黄蓝绿黑白金银铜铁布衣帽鞋刀枪弓箭钟鼓号角球棒针线瓶碗盘锅炉床被枕墙楼塔亭台"
)
_PIECE = re.compile(r"[^\W\d_]+|\d+|[\W_]+")
_KEPT = frozenset("at dot dash hyphen of the and hundred thousand million double triple st nd rd th".split())
_HAN_KEPT = frozenset("点号年月日路街区市楼室十百千万")
_SERIES = tuple(
    tuple(words.split())
    for words in (
        "zero one two three four five six seven eight nine",
        "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
        "twenty thirty forty fifty sixty seventy eighty ninety",
        "first second third fourth fifth sixth seventh eighth ninth tenth",
        "january february march april may june july august september october november december",
        "jan feb mar apr jun jul aug sep oct nov dec",
        "monday tuesday wednesday thursday friday saturday sunday",
        "street road avenue lane drive boulevard court",
        "com net org edu",
    )
)
_OTHERS = {word: series for series in _SERIES for word in series} | {"oh": _SERIES[0], "o": _SERIES[0]}


def of_length(text: str, lots: Random) -> str:
    """Other characters of the same kinds: digits, consonants (in the same case), Chinese ones. What is between them stays."""
    return "".join(_other(character, lots) for character in text)


def of_form(text: str, lots: Random) -> str:
    """The same, but number words, months, days and the like become others of their series, and what holds a form together
    stays: "may the fourth" may become "june the ninth", 二零二四年 五一零八年."""
    return "".join(_other_piece(piece, lots) for piece in _PIECE.findall(text))


def cased(text: str, like: str) -> str:
    """`text` in small letters or in capitals where `like` is."""
    letters = [character for character in like if character.isalpha()]
    if len(letters) > 1 and all(character.isupper() for character in letters):
        return text.upper()
    if letters and letters[0].islower():
        return text.lower()
    return text[:1].upper() + text[1:]


def _other_piece(piece: str, lots: Random) -> str:
    if has_han(piece):
        return "".join(
            c if c in _HAN_KEPT else lots.choice(_HAN_DIGITS) if c in _HAN_DIGITS else _other(c, lots) for c in piece
        )
    if piece.lower() in _KEPT:
        return piece
    if series := _OTHERS.get(piece.lower()):
        return cased(lots.choice(series), piece)
    return of_length(piece, lots)


def _other(character: str, lots: Random) -> str:
    if character.isdigit():
        return lots.choice("0123456789")
    if has_han(character):
        return lots.choice(_HAN)
    if character.isalpha():
        drawn = lots.choice(CONSONANTS)
        return drawn.upper() if character.isupper() else drawn
    return character

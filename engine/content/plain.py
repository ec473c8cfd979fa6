"""Text as plain words, so that a synthesizer says what stands there and nothing more.

A synthesizer reads "Dr." as doctor, "$" as dollars and "5" as five: a word that is not to be heard would come back after the
text was checked. Here everything that is said is written out, in small letters, and the rest is left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from .normalize import HAN, Unit, has_han, surface
from .numerals import spelled

# As a reader says them; with a capital, so that "st" inside a number ("1st") and "ms" are left alone.
_WRITTEN_OUT = {
    "Mr": "mister", "Mrs": "missus", "Ms": "miss", "Dr": "doctor", "Prof": "professor", "St": "saint", "Mt": "mount",
    "Jr": "junior", "Sr": "senior", "Lt": "lieutenant", "Sgt": "sergeant", "Capt": "captain", "Gen": "general",
    "Gov": "governor", "Rev": "reverend", "Ave": "avenue", "Rd": "road", "Blvd": "boulevard", "Inc": "incorporated",
    "Ltd": "limited", "Corp": "corporation", "Co": "company", "Dept": "department",
}  # fmt: skip
_ABBREVIATION = re.compile(rf"\b({'|'.join(_WRITTEN_OUT)})\b\.?")
_SAID = {"%": (" percent ", "百分之"), "+": (" plus ", "加"), "°": (" degrees ", "度")}
_POINT = re.compile(r"(?<=\d)\.(\d+)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_PAUSE = re.compile(r"\.(?=\s|$)|(?<!\d),|,(?!\d)|[;!?…—。，；！？、]|:(?=\s|$)|：")
_OTHER = re.compile(rf"[^a-z'{HAN}]")
_HAN_DIGITS = "零一二三四五六七八九"


def plain(text: str) -> str:
    """Words with a space between them, Chinese characters together, a comma where the text pauses; "" where nothing is said.
    Letters are those of English.

    Digits in a part with Chinese characters are read one by one.
    """
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    text = _ABBREVIATION.sub(lambda found: f" {_WRITTEN_OUT[found[1]]} ", text)
    said = (_words(_part(part)) for part in _PAUSE.split(text))
    return ", ".join(part for part in said if part)


def _part(text: str) -> list[Unit]:
    chinese = has_han(text)
    for mark, names in _SAID.items():
        text = text.replace(mark, names[chinese])
    if chinese:
        text = re.sub(r"\d", lambda digit: _HAN_DIGITS[int(digit[0])], _POINT.sub(r"点\1", _THOUSANDS.sub("", text)))
    else:
        text = spelled(_POINT.sub(lambda found: " point " + " ".join(found[1]), text.lower()))
    return surface([text])


def _words(units: Sequence[Unit]) -> str:
    said = ""
    for unit in units:
        word = _OTHER.sub("", unit.text).strip("'")
        if not word:
            continue
        if said and not (has_han(word) and has_han(said[-1])):
            said += " "
        said += word
    return said

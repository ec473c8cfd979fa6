"""Mandarin syllables in pinyin to phones and to what the synthesizer reads."""

from __future__ import annotations

from .english import Piece

_TONES = {"1": "→", "2": "↗", "3": "↓", "4": "↘", "5": ""}
_INITIALS: dict[str, Piece] = {
    "b": ("p", "B"), "p": ("pʰ", "P"), "m": ("m", "M"), "f": ("f", "F"), "d": ("t", "D"), "t": ("tʰ", "T"), "n": ("n", "N"),
    "l": ("l", "L"), "g": ("k", "G"), "k": ("kʰ", "K"), "h": ("x", "HH"), "j": ("ʨ", "JX"), "q": ("ʨʰ", "QX"), "x": ("ɕ", "SX"),
    "zh": ("ꭧ", "ZR"), "ch": ("ꭧʰ", "CR"), "sh": ("ʂ", "SR"), "r": ("ɻ", "RR"), "z": ("ʦ", "TZ"), "c": ("ʦʰ", "TS"),
    "s": ("s", "S"),
}  # fmt: skip
# The letter 0 stands where the mark of the tone goes.
_FINALS: dict[str, tuple[Piece, ...]] = {
    "a": (("a0", "AA"),), "ai": (("ai0", "AY"),), "an": (("a0", "AA"), ("n", "N")), "ang": (("a0", "AA"), ("ŋ", "NG")),
    "ao": (("au0", "AW"),), "e": (("ɤ0", "EU"),), "ei": (("ei0", "EY"),), "en": (("ə0", "AH"), ("n", "N")),
    "eng": (("ə0", "AH"), ("ŋ", "NG")), "er": (("ɚ0", "ER"),), "i": (("i0", "IY"),), "ia": (("j", "Y"), ("a0", "AA")),
    "ian": (("j", "Y"), ("ɛ0", "EH"), ("n", "N")), "iang": (("j", "Y"), ("a0", "AA"), ("ŋ", "NG")),
    "iao": (("j", "Y"), ("au0", "AW")), "ie": (("j", "Y"), ("e0", "EH")), "in": (("i0", "IY"), ("n", "N")),
    "iu": (("j", "Y"), ("ou0", "OW")), "ing": (("i0", "IY"), ("ŋ", "NG")), "iong": (("j", "Y"), ("ʊ0", "UH"), ("ŋ", "NG")),
    "ong": (("ʊ0", "UH"), ("ŋ", "NG")), "ou": (("ou0", "OW"),), "u": (("u0", "UW"),), "ui": (("w", "W"), ("ei0", "EY")),
    "ua": (("w", "W"), ("a0", "AA")), "uai": (("w", "W"), ("ai0", "AY")), "uan": (("w", "W"), ("a0", "AA"), ("n", "N")),
    "un": (("w", "W"), ("ə0", "AH"), ("n", "N")), "uang": (("w", "W"), ("a0", "AA"), ("ŋ", "NG")),
    "ueng": (("w", "W"), ("ə0", "AH"), ("ŋ", "NG")), "uo": (("w", "W"), ("o0", "AO")), "o": (("w", "W"), ("o0", "AO")),
    "v": (("y0", "YU"),), "ve": (("ɥ", "YU"), ("e0", "EH")), "van": (("ɥ", "YU"), ("ɛ0", "EH"), ("n", "N")),
    "vn": (("y0", "YU"), ("n", "N")),
}  # fmt: skip
_APICAL: tuple[Piece, ...] = (("ɨ0", "IR"),)  # zhi, chi, shi, ri, zi, ci, si
# Syllables without an initial are written with y or w.
_WRITTEN = {
    "yi": "i", "ya": "ia", "yan": "ian", "yang": "iang", "yao": "iao", "ye": "ie", "yin": "in", "you": "iu", "ying": "ing",
    "yong": "iong", "wu": "u", "wa": "ua", "wai": "uai", "wan": "uan", "wang": "uang", "wei": "ui", "wen": "un", "weng": "ueng",
    "wo": "uo", "yu": "v", "yue": "ve", "yuan": "van", "yun": "vn",
}  # fmt: skip


def pieces(syllable: str) -> list[Piece]:
    """Kokoro's letters and our phones for one syllable, pinyin with the tone as a digit ("zhong1"; 5 is neutral).

    ValueError for what is no syllable.
    """
    base, tone = (syllable[:-1], syllable[-1]) if syllable[-1:].isdigit() else (syllable, "5")
    base = base.replace("ü", "v").replace("u:", "v")
    initial = next((base[:n] for n in (2, 1) if base[:n] in _INITIALS), "")
    final = _WRITTEN.get(base, base[len(initial) :])
    if initial in ("j", "q", "x") and final.startswith("u"):
        final = "v" + final[1:]
    apical = final == "i" and initial in ("zh", "ch", "sh", "r", "z", "c", "s")
    found = _APICAL if apical else _FINALS.get(final)
    if found is None or tone not in _TONES:
        raise ValueError(f"{syllable!r} is no syllable: give pinyin with the tone as a digit, like 'zhong1'")
    toned = tuple((letters.replace("0", _TONES[tone]), phone) for letters, phone in found)
    return [_INITIALS[initial], *toned] if initial else list(toned)

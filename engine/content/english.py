"""English words to phones, and English text to what the synthesizer reads."""

from __future__ import annotations

import re
import subprocess

# Phones by the letters of Kokoro's phonetic alphabet (misaki: capitals are diphthongs).
PHONE_OF = {
    "p": "P", "b": "B", "t": "T", "d": "D", "k": "K", "ɡ": "G", "ʧ": "CH", "ʤ": "JH", "f": "F", "v": "V", "θ": "TH", "ð": "DH",
    "s": "S", "z": "Z", "ʃ": "SH", "ʒ": "ZH", "h": "HH", "m": "M", "n": "N", "ŋ": "NG", "l": "L", "ɹ": "R", "w": "W", "j": "Y",
    "i": "IY", "ɪ": "IH", "ᵻ": "IH", "A": "EY", "ɛ": "EH", "æ": "AE", "ə": "AH", "ᵊ": "AH", "ʌ": "AH", "ɑ": "AA", "ɔ": "AO",
    "O": "OW", "ʊ": "UH", "u": "UW", "ɜ": "ER", "I": "AY", "W": "AW", "Y": "OY", "ɾ": "T", "T": "T", "ʔ": "T", "ɐ": "AH",
    "a": "AA",
}  # fmt: skip
# espeak-ng's letters to Kokoro's (after misaki's fallback, Apache-2.0), longest first.
_FROM_ESPEAK = (
    ("ʔˌn\u0329", "ʔn"), ("ʔn\u0329", "ʔn"), ("a^ɪ", "I"), ("a^ʊ", "W"), ("d^ʒ", "ʤ"), ("e^ɪ", "A"), ("t^ʃ", "ʧ"), ("ɔ^ɪ", "Y"),
    ("o^ʊ", "O"), ("ə^l", "ᵊl"), ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ʲ", ""), ("ɚ", "əɹ"), ("r", "ɹ"), ("x", "k"), ("ç", "k"),
    ("ɐ", "ə"), ("ɬ", "l"), ("\u0303", ""), ("ɪə", "iə"), ("ː", ""), ("o", "ɔ"), ("e", "A"), ("ɾ", "T"), ("ʔ", "t"), ("g", "ɡ"),
)  # fmt: skip
_FROM_HAMA = {
    "aɪ": "AY", "aʊ": "AW", "d͡ʒ": "JH", "eɪ": "EY", "e": "EY", "oʊ": "OW", "o": "OW", "t͡ʃ": "CH", "ɔɪ": "OY", "ɝ": "ER",
    "ɚ": "ER", "g": "G", "r": "R", "ɫ": "L",
}  # fmt: skip

Piece = tuple[str, str | None]  # letters that the synthesizer reads, and the phone that they sound as; None: a mark


def pieces(text: str) -> list[Piece]:
    """Kokoro's letters for English `text`, with the phone of each; words by espeak-ng, which must be installed."""
    command = ["espeak-ng", "-q", "--ipa", "--tie=^", "-v", "en-us", "--stdin"]  # a command line is there for all to see
    spoken = " ".join(subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.split())
    for letters, ours in _FROM_ESPEAK:
        spoken = spoken.replace(letters, ours)
    spoken = re.sub("(\\S)\u0329", r"ᵊ\1", spoken).replace("^", "")
    return pieces_of(spoken + ".")


def pieces_of(letters: str) -> list[Piece]:
    """Kokoro's letters with the phone of each."""
    found: list[Piece] = []
    for letter in letters:
        phone = PHONE_OF.get(letter)
        if phone == "R" and found and found[-1] in (("ə", "AH"), ("ɜ", "ER")):  # r-coloured vowels are one phone
            found[-1] = (found[-1][0] + letter, "ER")
        else:
            found.append((letter, phone))
    return found


def phones_of_ipa(letters: list[str]) -> list[str]:
    """ARPAbet for a list of IPA phonemes as hama's letter-to-sound model gives them; what is foreign to English is left out."""
    found = [_FROM_HAMA.get(letter) or PHONE_OF.get(letter) for letter in letters]
    return [phone for phone in found if phone]

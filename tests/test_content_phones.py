"""Names of sounds: every phone and state once, and every letter and syllable to a phone that there is."""

from __future__ import annotations

import subprocess
from itertools import product

import numpy as np
import pytest
from velavox.engine.content import english, mandarin
from velavox.engine.content.kokoro import Kokoro
from velavox.engine.content.phones import (
    ENGLISH,
    IGNORED,
    MANDARIN,
    NUMBER,
    PHONES,
    STATES,
    THIRDS,
    phone_of_state,
    state,
)

# The table of Hanyu Pinyin, without interjections: initials, and the finals that each can have.
SYLLABLES = {
    "": "a ai an ang ao e ei en eng er o ou "
    "yi ya yan yang yao ye yin ying yong you wu wa wai wan wang wei wen weng wo yu yue yuan "
    "yun",
    "b": "a ai an ang ao ei en eng i ian iao ie in ing o u",
    "p": "a ai an ang ao ei en eng i ian iao ie in ing o ou u",
    "m": "a ai an ang ao e ei en eng i ian iao ie in ing iu o ou u",
    "f": "a an ang ei en eng o ou u",
    "d": "a ai an ang ao e ei eng i ian iao ie ing iu ong ou u uan ui un uo",
    "t": "a ai an ang ao e eng i ian iao ie ing ong ou u uan ui un uo",
    "n": "a ai an ang ao e ei en eng i ian iang iao ie in ing iu ong u uan uo ü üe",
    "l": "a ai an ang ao e ei eng i ia ian iang iao ie in ing iu ong ou u uan un uo ü üe",
    "g": "a ai an ang ao e ei en eng ong ou u ua uai uan uang ui un uo",
    "k": "a ai an ang ao e ei en eng ong ou u ua uai uan uang ui un uo",
    "h": "a ai an ang ao e ei en eng ong ou u ua uai uan uang ui un uo",
    "j": "i ia ian iang iao ie in ing iong iu u uan ue un",
    "q": "i ia ian iang iao ie in ing iong iu u uan ue un",
    "x": "i ia ian iang iao ie in ing iong iu u uan ue un",
    "zh": "a ai an ang ao e ei en eng i ong ou u ua uai uan uang ui un uo",
    "ch": "a ai an ang ao e en eng i ong ou u ua uai uan uang ui un uo",
    "sh": "a ai an ang ao e ei en eng i ou u ua uai uan uang ui un uo",
    "r": "an ang ao e en eng i ong ou u ua uan ui un uo",
    "z": "a ai an ang ao e ei en eng i ong ou u uan ui un uo",
    "c": "a ai an ang ao e en eng i ong ou u uan ui un uo",
    "s": "a ai an ang ao e en eng i ong ou u uan ui un uo",
}
ALL_SYLLABLES = [initial + final for initial, finals in SYLLABLES.items() for final in finals.split()]


def test_a_state_is_of_the_phone_that_it_was_made_of_and_no_other_has_it() -> None:
    made = [state(phone, third) for phone, third in product(range(1, len(PHONES)), range(THIRDS))]
    assert sorted([state(0, 0), *made]) == list(range(STATES))
    assert phone_of_state()[made].tolist() == [phone for phone in range(1, len(PHONES)) for _ in range(THIRDS)]
    assert phone_of_state()[[state(0, third) for third in range(THIRDS)]].tolist() == [0, 0, 0]


def test_names_are_unique_and_no_state_is_taken_for_the_unknown_one() -> None:
    assert len(NUMBER) == len(PHONES)
    assert not set(ENGLISH) & set(MANDARIN)
    assert STATES < IGNORED <= np.iinfo(np.uint8).max


def test_each_letter_that_the_synthesizer_reads_sounds_as_an_english_phone() -> None:
    assert set(english.PHONE_OF.values()) <= set(ENGLISH)
    assert all(Kokoro.knows(letter) for letter in english.PHONE_OF)


def test_phonemes_of_the_letter_to_sound_model_are_english_phones_and_foreign_ones_are_left_out() -> None:
    assert english.phones_of_ipa(["h", "ɛ", "l", "oʊ"]) == ["HH", "EH", "L", "OW"]
    assert english.phones_of_ipa(["d͡ʒ", "ɝ", "ɫ", "eɪ"]) == ["JH", "ER", "L", "EY"]
    assert english.phones_of_ipa(["ø", "n", "ʙ"]) == ["N"]


def test_english_text_is_spoken_by_its_phones(monkeypatch: pytest.MonkeyPatch) -> None:
    """As espeak-ng writes it; a vowel and the r that colours it are one phone, which has both letters."""

    class Spoken:
        stdout = "ðə bˈɜːd t^ʃˈɜːps\n nˈeɪ^.m"

    monkeypatch.setattr(subprocess, "run", lambda *_, **__: Spoken)
    found = english.pieces("the bird chirps")
    assert [phone for _, phone in found if phone][:9] == ["DH", "AH", "B", "ER", "D", "CH", "ER", "P", "S"]
    assert ("ɜɹ", "ER") in found
    assert found[-1] == (".", None)
    assert all(Kokoro.knows(letter) for letters, _ in found for letter in letters)


@pytest.mark.parametrize("tone", "12345")
def test_every_syllable_has_its_phones_and_letters_that_the_synthesizer_knows(tone: str) -> None:
    for syllable in ALL_SYLLABLES:
        found = mandarin.pieces(syllable + tone)
        assert {phone for _, phone in found} <= set(PHONES), syllable
        assert all(Kokoro.knows(letter) for letters, _ in found for letter in letters), syllable


def test_syllables_are_told_apart_by_what_is_spoken_and_tones_by_the_letters() -> None:
    said = {tuple(mandarin.pieces(syllable + "1")) for syllable in ALL_SYLLABLES}
    assert len(said) == len(ALL_SYLLABLES) - 1  # "o" is spoken as "wo"
    tones = {tuple(letters for letters, _ in mandarin.pieces(f"ma{tone}")) for tone in "12345"}
    assert len(tones) == 5


@pytest.mark.parametrize(
    ("written", "phones"),
    [
        ("zhong1", ["ZR", "UH", "NG"]),
        ("zhi1", ["ZR", "IR"]),
        ("si4", ["S", "IR"]),
        ("ji1", ["JX", "IY"]),
        ("ju2", ["JX", "YU"]),
        ("lü4", ["L", "YU"]),
        ("lu:4", ["L", "YU"]),
        ("lv4", ["L", "YU"]),
        ("xue2", ["SX", "YU", "EH"]),
        ("liu2", ["L", "Y", "OW"]),
        ("er4", ["ER"]),
        ("yuan2", ["YU", "EH", "N"]),
        ("ma", ["M", "AA"]),
    ],
)
def test_spelling_follows_pinyin(written: str, phones: list[str]) -> None:
    assert [phone for _, phone in mandarin.pieces(written)] == phones


@pytest.mark.parametrize("no", ["", "1", "hm5", "n2", "zhi9", "ma7", "bq1", "hello", "ng"])
def test_what_is_no_syllable_is_refused_in_a_line(no: str) -> None:
    with pytest.raises(ValueError, match="no syllable: give pinyin with the tone as a digit"):
        mandarin.pieces(no)

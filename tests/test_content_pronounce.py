"""How words sound: readings that anybody can look up, one set of phones, nothing for what has no sound."""

from __future__ import annotations

import pytest
from heard import need_text
from velavox.engine.content.normalize import surface
from velavox.engine.content.phones import ENGLISH, PHONES
from velavox.engine.content.pronounce import as_pinyin, dictionary, of_syllable, of_word, pinyin, sounds, toneless

pytestmark = pytest.mark.nojit


@pytest.fixture(autouse=True, scope="module")
def parts() -> None:
    need_text()


READINGS = [  # by the characters around them: 行 xing2 hang2, 重 chong2 zhong4, 长 zhang3 chang2, 乐 yue4 le4; neutral tones
    (
        "小明在西安电子科技大学学习信息安全专业",
        "xiao3 ming2 zai4 xi1 an1 dian4 zi5 ke1 ji4 da4 xue2 xue2 xi2 xin4 xi1 an1 quan2 zhuan1 ye4",
    ),
    ("银行行长住在重庆", "yin2 hang2 hang2 zhang3 zhu4 zai4 chong2 qing4"),
    ("音乐很重要", "yin1 yue4 hen3 zhong4 yao4"),
    ("我们的快乐长大了", "wo3 men5 de5 kuai4 le4 zhang3 da4 le5"),
    ("女儿绿", "nv3 er2 lv4"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "syllables"), READINGS)
def test_chinese_is_read_as_its_characters_ask_for(text: str, syllables: str) -> None:
    assert pinyin(text) == syllables.split()
    assert toneless(text) == tuple(syllable[:-1] for syllable in syllables.split())


def test_every_common_character_has_phones_of_the_set() -> None:
    common = "".join(chr(code) for code in range(0x4E00, 0x9FA6))
    from pypinyin.constants import PINYIN_DICT

    without = {s for c in common if ord(c) in PINYIN_DICT for s in toneless(c) if not of_syllable(s)}
    assert without <= {"n", "m", "hm", "wong", "yo"}  # sounds that agree or sigh, and one character of Hong Kong
    assert {phone for c in common[:2000] for s in toneless(c) for phone in of_syllable(s)} <= set(PHONES)


@pytest.mark.parametrize(
    ("word", "phones"),
    [("alice", "AE L AH S"), ("boston", "B AA S T AH N"), ("o'neil", "OW N IY L"), ("don't", "D OW N T"), ("one", "W AH N")],
)
def test_english_is_looked_up(word: str, phones: str) -> None:
    assert of_word(word)[0] == tuple(phones.split())


def test_a_word_has_every_pronunciation_that_is_listed() -> None:
    assert {"R EH D", "R IY D"} == {" ".join(phones) for phones in of_word("read")}


def test_what_the_dictionary_lacks_is_spelled_out() -> None:
    assert "blorvik" not in dictionary()
    (phones,) = of_word("blorvik")
    assert phones[:2] == ("B", "L")
    assert set(phones) <= set(ENGLISH)


@pytest.mark.parametrize("word", ["", "привет", "ø", "5", "x" * 25, "中"])
def test_what_english_cannot_say_has_no_phones(word: str) -> None:
    assert of_word(word) == ()


@pytest.mark.parametrize(
    ("word", "syllables"),
    [
        ("xiaoming", "xiao ming"),
        ("beijing", "bei jing"),
        ("xian", "xian"),
        ("wangxiaoming", "wang xiao ming"),
        ("smith", ""),
        ("", ""),
        ("rov", ""),
    ],
)
def test_pinyin_is_cut_into_syllables(word: str, syllables: str) -> None:
    assert as_pinyin(word) == tuple(syllables.split())


def test_a_mixed_sentence_sounds_unit_by_unit() -> None:
    heard = sounds(surface(["我是Alice", "4"]))
    assert [ways[0] for ways in heard] == [("W", "AO"), ("SR", "IR"), ("AE", "L", "AH", "S"), ("F", "AO", "R")]


def test_a_character_is_read_with_its_neighbours_in_other_words() -> None:
    alone, together = sounds(surface(["行"])), sounds(surface(["银", "行"]))
    assert together[1] == (("HH", "AA", "NG"),) != alone[0]

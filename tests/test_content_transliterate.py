"""English names in Chinese characters, by usual transcriptions."""

from __future__ import annotations

import pytest
from heard import need_text
from velavox.engine.content.pronounce import of_syllable, of_word, toneless
from velavox.engine.content.transliterate import Beat, Transcribed, apart, beats

pytestmark = pytest.mark.nojit


@pytest.fixture(autouse=True, scope="module")
def parts() -> None:
    need_text()


USUAL = (
    "alice 爱丽丝|andrew 安德鲁|boston 波士顿|brian 布莱恩|edison 爱迪生|emily 艾米莉|henry 亨利|jessica 杰西卡|kevin 凯文|"
    "london 伦敦|manchester 曼彻斯特|michael 迈克尔|robert 罗伯特|smith 史密斯|sophia 索菲亚|steven 史蒂文|susan 苏珊|"
    "thomas 托马斯|toronto 多伦多"
)


def chinese(characters: str) -> tuple[Beat, ...]:
    return tuple(beat for syllable in toneless(characters) for beat in beats(of_syllable(syllable)))


@pytest.mark.parametrize("pair", USUAL.split("|"))
def test_usual_transcriptions_are_found_and_only_by_their_names(pair: str) -> None:
    name, characters = pair.split()
    names = [one.split()[0] for one in USUAL.split("|")]
    index = Transcribed([(phones, name) for name in names for phones in of_word(name)])
    assert {name for name, _ in index.find(chinese(characters))} == {name}


NEAR = [
    "合理",
    "领土",
    "手机",
    "休息",
    "时间",
    "学生",
    "开放",
    "来源",
    "抗日",
    "袁世凯",
]  # henry, london, susan, kevin, brian, jessica


@pytest.mark.parametrize("words", ["今天天气", "公园", "老师们", "我们去", "学习信息", "吃饭了吗", "没关系", "谢谢你", *NEAR])
def test_chinese_words_are_no_transcription(words: str) -> None:
    index = Transcribed([(phones, pair) for pair in USUAL.split("|") for phones in of_word(pair.split()[0])])
    assert list(index.find(chinese(words))) == []


def test_words_fall_into_syllables_and_bare_consonants() -> None:
    assert beats(("S", "M", "IH", "TH")) == (Beat("S", "", False), Beat("M", "IH", False), Beat("TH", "", False))
    assert beats(("B", "AA", "S", "T", "AH", "N"))[-1] == Beat("T", "AH", True)
    assert beats(()) == ()
    for characters in ("中", "学", "亚", "王", "儿", "鱼", "四"):  # one beat a syllable
        assert len(chinese(characters)) == 1


def test_a_limit_stops_the_comparison_and_changes_no_result() -> None:
    english, written = beats(of_word("manchester")[0]), chinese("曼彻斯特")
    exact = apart(english, written, 99)
    assert apart(english, written, exact) == exact
    assert apart(english, chinese("今天天气"), 0.5) > 0.5
    assert list(Transcribed[str]([]).find(written)) == []

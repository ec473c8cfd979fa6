"""Ordinary words: the commonest are, rare ones and names are not."""

from __future__ import annotations

import pytest
from heard import need_text
from velavox.engine.content.ordinary import ordinary, ordinary_sound, ordinary_syllables
from velavox.engine.content.pronounce import of_word, toneless

pytestmark = pytest.mark.nojit


@pytest.fixture(autouse=True, scope="module")
def parts() -> None:
    need_text()


def test_common_english_words_and_what_sounds_like_them() -> None:
    assert all(map(ordinary, "the will house people world something because".split()))
    assert not any(map(ordinary, "zygote bluebird emily xiaoming".split()))
    assert ordinary_sound(of_word("whirled")[0])
    assert not ordinary_sound(of_word("zygote")[0])


def test_common_chinese_words_and_what_sounds_like_them() -> None:
    assert all(ordinary_syllables(toneless(word)) for word in ("我们", "世界", "因为", "是借"))
    assert not any(ordinary_syllables(toneless(word)) for word in ("小明", "西安电子科技大学"))

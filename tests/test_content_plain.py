"""Text as plain words: what a synthesizer would read out stands there in words."""

from __future__ import annotations

import pytest
from velavox.engine.content.plain import plain


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Dr. Alice Carter, of St. James", "doctor alice carter, of saint james"),
        ("Mr Smith vs. Inc.", "mister smith vs, incorporated"),
        ("call 415-555-0123!", "call four hundred fifteen five hundred fifty five zero one two three"),
        ("$2,000.50 (20%)", "two thousand point five zero twenty percent"),
        ("the 3rd of May, 1998.", "the third of may, nineteen ninety eight"),
        ("alice.b@example.com or example.com.", "alice b at example dot com or example dot com"),
        ("don\u2019t 'stop' now - go", "don't stop now go"),
        ("Caf\u00e9 na\u00efve", "cafe naive"),
        ("*** [name] _ hi", "name hi"),
        ("AT&T", "at and t"),
        ("[hello](/bˈId/)", "hello bid"),  # hibari would say what stands behind, not what stands there
        ("", ""),
        ("...", ""),
        ("***", ""),
    ],
)
def test_english(written: str, said: str) -> None:
    assert plain(written) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("他20岁，电话是138。", "他二零岁, 电话是一三八"),
        ("西安電子科技大學", "西安电子科技大学"),
        ("我是Alice我在北京", "我是 alice 我在北京"),
        ("3.5度", "三点五度"),
        ("1,200人", "一二零零人"),
        ("50%的人", "五零百分之的人"),
    ],
)
def test_chinese(written: str, said: str) -> None:
    pytest.importorskip("opencc")
    assert plain(written) == said


@pytest.mark.parametrize("text", ["Dr. Alice, 415!", "a, b", "他20岁，Alice"])
def test_what_is_plain_stays(text: str) -> None:
    assert plain(plain(text)) == plain(text)

"""What gives an original away, and what does not."""

from __future__ import annotations

import pytest
from texts import loaded
from velavox.engine.content.twins import Original

pytestmark = pytest.mark.nojit

TWINS = (
    ("Alice", "ALICE"), ("contract", "contracts"), ("contracted", "contract"), ("Maria", "Marie"), ("cars", "car"),
    ("Jon", "John"), ("write", "right"), ("York", "New York"), ("New York City", "New York"), ("415", "four one five"),
    ("小明", "小名"), ("医生", "一生"), ("电子科技大学", "西安电子科技大学"),
    ("张伟", "張偉"), ("!", "!"), ("Alice's", "Alice"),
)  # fmt: skip
OTHERS = (
    ("Lucy", "Alice"), ("Carson", "Carter"), ("cat", "car"), ("Harvard University", "Stanford University"),
    ("Los Angeles", "New York"), ("二三", "四五"), ("李强", "王伟"), ("成都电子科技大学", "西安电子科技大学"),
    ("7", "8"), ("Lucy", "爱丽丝"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "original"), TWINS)
def test_twins_give_away_either_way(text: str, original: str) -> None:
    assert loaded(Original, original).is_given_away_by(text)
    assert Original(text).is_given_away_by(original)


@pytest.mark.parametrize(("text", "original"), OTHERS)
def test_others_do_not(text: str, original: str) -> None:
    assert not loaded(Original, original).is_given_away_by(text)
    assert not Original(text).is_given_away_by(original)

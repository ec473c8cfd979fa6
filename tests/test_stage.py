import json
from typing import Any

import pytest
from test_parameter import Sample

ENTROPY = bytes(range(32))


def prepared(**values: Any) -> Sample:
    stage = Sample(**values)
    stage.prepare()
    return stage


def test_voices_come_from_entropy() -> None:
    a, b = prepared(), prepared()
    assert a.voice != b.voice
    a.new_voice(ENTROPY)
    b.new_voice(ENTROPY)
    assert a.voice == b.voice
    a.new_voice(ENTROPY[::-1])
    assert a.voice != b.voice
    drawn = {round(prepared().voice["spread"], 9) for _ in range(20)}
    assert len(drawn) == 20
    assert all(0.2 <= value <= 0.4 for value in drawn)


def test_short_entropy_is_refused() -> None:
    with pytest.raises(ValueError, match="16 or more"):
        prepared().new_voice(b"short")


def test_a_number_fixes_the_voice() -> None:
    stage = prepared(spread=0.9)
    assert stage.voice == {"spread": 0.9}
    stage.spread = 0.1
    assert stage.voice == {"spread": 0.1}
    stage.spread = (0.6, 0.7)
    assert 0.6 <= stage.voice["spread"] <= 0.7


def test_reset_keeps_voice_and_parameters() -> None:
    stage = prepared(amount=0.25)
    before = stage.save()
    stage.reset()
    assert stage.save() == before


def test_clone_has_the_parameters_and_another_voice() -> None:
    stage = prepared(amount=0.25)
    twin = stage.clone()
    twin.prepare()
    assert twin.values == stage.values
    assert twin.voice != stage.voice


def test_save_and_restore_through_json() -> None:
    stage, other = prepared(amount=0.25, kind="hard"), prepared()
    other.restore(json.loads(json.dumps(stage.save())))
    assert other.save() == stage.save()


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"method": "mcadams"},
        {"values": {"amount": 0.5}},
        {"values": {"amount": 7, "spread": 0.3, "kind": "soft"}},
    ],
)
def test_restore_refuses_what_does_not_fit(change: dict[str, Any]) -> None:
    stage = prepared()
    before = stage.save()
    with pytest.raises(ValueError, match=r"saved|amount"):
        stage.restore({**before, **change})
    assert stage.save() == before

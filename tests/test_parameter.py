from typing import Any

import numpy as np
import pytest
from velavox.engine.identity import Identity
from velavox.engine.parameter import Parameter


class Sample(Identity):
    method = "sample"
    amount = Parameter(0.5, "how much", low=0.0, high=1.0)
    spread = Parameter((0.2, 0.4), "drawn for each voice", low=0.0, high=1.0, drawn=True)
    kind = Parameter("soft", "which", choices=("soft", "hard"))


def test_defaults_and_attributes() -> None:
    stage = Sample(amount=1)
    assert (stage.amount, stage.spread, stage.kind) == (1.0, (0.2, 0.4), "soft")
    stage.kind = "hard"
    assert stage.values["kind"] == "hard"


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("amount", 1.5, "from 0 to 1"),
        ("amount", np.nan, "from 0 to 1"),
        ("amount", "loud", "from 0 to 1"),
        ("amount", (0.1, 0.2), "from 0 to 1"),
        ("spread", (0.4, 0.2), "comes first"),
        ("spread", (0.4, 1.2), "pair"),
        ("spread", (0.1, 0.2, 0.3), "pair"),
        ("kind", "other", "soft, hard"),
    ],
)
def test_a_bad_value_changes_nothing(name: str, value: Any, hint: str) -> None:
    stage = Sample()
    before = stage.save()
    with pytest.raises(ValueError, match=hint) as caught:
        setattr(stage, name, value)
    assert name in str(caught.value)
    assert stage.save() == before


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(TypeError, match="amount, spread, kind"):
        Sample(amout=1)


def test_parse() -> None:
    declared = Sample.parameters()
    assert declared["amount"].parse("0.7") == 0.7
    assert declared["spread"].parse("0.5,0.8") == (0.5, 0.8)
    assert declared["spread"].parse("0.5") == 0.5
    assert declared["kind"].parse("hard") == "hard"
    with pytest.raises(ValueError, match="amount"):
        declared["amount"].parse("0.5,0.8")

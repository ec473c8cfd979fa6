"""Dataclasses to JSON and back."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pytest
from velavox.bench.audit.codec import made, plain

pytestmark = pytest.mark.nojit


@dataclass(frozen=True)
class Inner:
    x: float
    low: float = math.nan


@dataclass(frozen=True)
class Outer:
    name: str
    kind: Literal["a", "b"]
    on: bool
    several: tuple[Inner, ...]
    pairs: list[tuple[float, float]]
    by_name: dict[str, Inner]
    maybe: int | None = None
    free: dict[str, Any] = field(default_factory=dict)


def outer(**changed: Any) -> Outer:
    given: dict[str, Any] = {
        "name": "n",
        "kind": "a",
        "on": True,
        "several": (Inner(1.0, 0.5), Inner(2.5, 2.0)),
        "pairs": [(0.0, 0.1), (1.0, 1.0)],
        "by_name": {"wer": Inner(0.25, 0.1)},
        "maybe": 3,
        "free": {"seed": 1, "versions": {"numpy": "2"}},
    }
    return Outer(**given | changed)


def through_a_file(value: Any) -> Any:
    return json.loads(json.dumps(plain(value), allow_nan=False))


@pytest.mark.parametrize(
    "value", [outer(), outer(maybe=None, several=(), pairs=[], by_name={}, free={})], ids=["full", "empty"]
)
def test_there_and_back(value: Outer) -> None:
    assert made(Outer, through_a_file(value)) == value


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_what_is_not_finite_comes_back_as_nan(number: float) -> None:
    found = through_a_file(Inner(number))
    assert found == {"x": None, "low": None}
    assert math.isnan(made(Inner, found).x)


def test_arrays_and_their_numbers_are_plain() -> None:
    assert through_a_file({"a": np.arange(3), "b": np.float32(0.5), "c": np.int64(2), "d": np.bool_(True)}) == {
        "a": [0, 1, 2],
        "b": 0.5,
        "c": 2,
        "d": True,
    }
    with pytest.raises(TypeError, match="no JSON for object"):
        plain(object())


def test_a_whole_number_is_a_float_where_one_is_wanted() -> None:
    found = made(Inner, {"x": 1, "low": 0})
    assert (type(found.x), found) == (float, Inner(1.0, 0.0))


def test_what_is_missing_takes_its_default_and_what_is_unknown_is_left_out() -> None:
    found = plain(outer(maybe=None, free={}))
    del found["maybe"], found["free"]
    assert made(Outer, found | {"later": 1}) == outer(maybe=None, free={})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": 3}, "name: is a int, no str"),
        ({"name": None}, "name: is a NoneType, no str"),
        ({"kind": "c"}, "kind: is 'c', none of a, b"),
        ({"on": 1}, "on: is a int, no bool"),
        ({"maybe": True}, "maybe: is a bool, no int"),
        ({"several": {}}, "several: is a dict, no list"),
        ({"several": [{"x": "1"}]}, "several[0].x: is a str, no int or float"),
        ({"several": [{"low": 1.0}]}, "several[0]: has no 'x'"),
        ({"pairs": [[0.0]]}, "pairs[0]: has 1 entries instead of 2"),
        ({"by_name": {"wer": 1.0}}, "by_name.wer: is a float, no dict"),
    ],
    ids=str,
)
def test_it_says_where_something_is_wrong(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        made(Outer, plain(outer()) | change)
    with pytest.raises(ValueError, match=r"^the whole: is a list, no dict$"):
        made(Outer, [])

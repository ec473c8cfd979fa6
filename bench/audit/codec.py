"""Dataclasses as plain JSON and back, by their type hints. What is not finite becomes null: JSON has no NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

T = TypeVar("T")


def plain(value: Any) -> Any:
    """Dictionaries, lists, text and finite numbers, as `json` writes them."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str | int | NoneType):
        return value
    if isinstance(value, Sequence):
        return [plain(each) for each in value]
    raise TypeError(f"no JSON for {type(value).__name__}")


def made(kind: type[T], value: Any, where: str = "") -> T:
    """A `kind`, a dataclass, of what `plain` gave. A null number is NaN; what is missing takes its default, what is unknown is
    left out. ValueError, in a line, that says `where`."""
    found: T = _made(kind, value, where)
    return found


def _made(kind: Any, value: Any, where: str) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, UnionType):
        if value is None and NoneType in inner:
            return None
        return _made(next(each for each in inner if each is not NoneType), value, where)
    if origin is Literal:
        if value not in inner:
            raise ValueError(f"{where}: is {value!r}, none of {', '.join(map(str, inner))}")
        return value
    if is_dataclass(kind):
        return _dataclass(kind, _of(dict, value, where), where)
    if origin in (tuple, list, Sequence):
        return _sequence(origin, inner, _of(list, value, where), where)
    if origin in (dict, Mapping):
        return {key: _made(inner[1], each, f"{where}.{key}") for key, each in _of(dict, value, where).items()}
    if kind is float:
        return math.nan if value is None else float(_of((int, float), value, where))
    return _of(kind, value, where)


def _dataclass(kind: Any, value: dict[str, Any], where: str) -> Any:
    hints, given = get_type_hints(kind), {}
    for field in fields(kind):
        if field.name in value:
            given[field.name] = _made(hints[field.name], value[field.name], f"{where}.{field.name}".lstrip("."))
        elif field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{where or 'the whole'}: has no {field.name!r}")
    return kind(**given)


def _sequence(origin: Any, inner: tuple[Any, ...], value: list[Any], where: str) -> Any:
    if origin is tuple and inner[-1] is not ...:
        if len(value) != len(inner):
            raise ValueError(f"{where}: has {len(value)} entries instead of {len(inner)}")
        kinds = inner
    else:
        kinds = (inner[0],) * len(value)
    found = [_made(kind, each, f"{where}[{i}]") for i, (kind, each) in enumerate(zip(kinds, value, strict=True))]
    return tuple(found) if origin is tuple else found


def _of(kind: Any, value: Any, where: str) -> Any:
    wrong_bool = isinstance(value, bool) and kind is not bool
    if wrong_bool or not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        raise ValueError(f"{where or 'the whole'}: is a {type(value).__name__}, no {' or '.join(k.__name__ for k in kinds)}")
    return value

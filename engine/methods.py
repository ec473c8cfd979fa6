"""The anonymizers by name, loaded when asked for: a name on the command line becomes a stage here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import cast

from .parameter import Value
from .stage import Stage


def _load(module: str, name: str) -> type[Stage]:
    return cast("type[Stage]", getattr(import_module(f".{module}", __package__), name))


METHODS: Mapping[str, Callable[[], type[Stage]]] = MappingProxyType(
    {
        "mcadams": partial(_load, "mcadams", "McAdams"),
        "vtln": partial(_load, "vtln", "Vtln"),
        "voicemask": partial(_load, "voicemask", "VoiceMask"),
        "dp": partial(_load, "dpvoice", "DpVoice"),
    }
)


def make(method: str, settings: Mapping[str, Value] | None = None) -> Stage:
    """A fresh stage; text in `settings` is read as on the command line ("0.7", "0.5,0.8"). ValueError in one line."""
    if method not in METHODS:
        raise ValueError(f"method {method!r}: give one of {', '.join(METHODS)}")
    kind = METHODS[method]()
    declared = kind.parameters()
    values: dict[str, Value] = {}
    for name, value in (settings or {}).items():
        if name not in declared:
            raise ValueError(f"{method} has no parameter {name!r}: it has {', '.join(declared)}")
        values[name] = declared[name].parse(value) if isinstance(value, str) else declared[name].check(value)
    return kind(**values)

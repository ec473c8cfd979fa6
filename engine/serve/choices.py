"""The methods and parameters that a page may choose: none that names a file, and none that speaks of an enrolled speaker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..methods import METHODS, make
from ..parameter import Parameter, Text, Value
from ..stage import Stage

_OF_ENROLLED = {"dp": {"mu", "calibration", "budget"}}  # a page enrols nobody, so that they would promise nothing
FIXED = {"dp": {"mode"}}  # while a stage runs; another value takes another stage
_TITLES = {
    "mcadams": "McAdams: formants move",
    "vtln": "VTLN: another length of the vocal tract",
    "voicemask": "VoiceMask: warped spectrum, another pitch",
    "dp": "DpVoice: spoken anew by a neural voice",
}


def parameters(method: str) -> dict[str, Parameter]:
    """Of a method, those that may be chosen, by name; ValueError for a method that there is not."""
    if method not in METHODS:
        raise ValueError(f"method {method!r}: give one of {', '.join(METHODS)}")
    held_back = _OF_ENROLLED.get(method, set())
    declared = METHODS[method]().parameters()
    return {name: p for name, p in declared.items() if not isinstance(p, Text) and name not in held_back}


def checked(method: str, settings: object) -> dict[str, Value]:
    """`settings`, as a page sends them, in their plain form; ValueError in one line."""
    if not isinstance(settings, Mapping):
        raise ValueError("settings: give an object of names and values")
    offered = parameters(method)
    for name in settings:
        if name not in offered:
            raise ValueError(f"{method} has no parameter {name!r} to choose: there are {', '.join(offered)}")
    return {name: offered[name].check(_plain(value)) for name, value in settings.items()}


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) and len(value) == 2 else value


def stage(method: str, settings: object) -> Stage:
    """A stage of what a page has chosen; slow where it has to be loaded."""
    return make(method, checked(method, settings))


def described(method: str, ready: Stage) -> dict[str, Any]:
    """For the page: what a method is called, what it costs in time, what may be chosen."""
    found = []
    for name, p in parameters(method).items():
        about: dict[str, Any] = {"name": name, "meaning": p.meaning, "unit": p.unit, "default": p.default}
        if p.choices:
            about["choices"] = list(p.choices)
        else:
            about |= {"low": p.low, "high": p.high, "drawn": p.drawn}
        found.append(about)
    return {"method": method, "title": _TITLES.get(method, method), "parameters": found, "latency_samples": ready.latency}

"""The methods as the stages themselves declare them: delays, parameters, ranges, defaults; as text and as JSON."""

from __future__ import annotations

import json
import math
from typing import Any

from .methods import METHODS, make
from .parameter import Parameter, Value
from .resample import Plan
from .stage import RATE


def described() -> list[dict[str, Any]]:
    """One entry a method, in plain JSON values; what has no limit is None."""
    return [_method(name) for name in METHODS]


def as_json() -> str:
    return json.dumps({"methods": described()}, indent=1)


def as_text() -> str:
    lines = []
    for method in described():
        delays = f"{method['latency_ms']:g} ms, {method['engine_latency_ms']:.1f} ms in all at 48 kHz"
        lines += [f"{method['name']}: {method['summary']}", f"  delay {delays}"]
        rows = [(p["name"], _range(p), f"default {_value(p['default'])}", p["meaning"]) for p in method["parameters"]]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines += [f"  {'  '.join(cell.ljust(w) for cell, w in zip(row, widths, strict=False))}  {row[3]}" for row in rows]
        lines.append("")
    return "\n".join([*lines, "Set with --set NAME=VALUE; where LOW,HIGH is given, each voice draws its own value from there."])


def _method(name: str) -> dict[str, Any]:
    stage = make(name)
    return {
        "name": name,
        "summary": (stage.__doc__ or "").strip().partition("\n")[0],
        "latency_ms": stage.latency / RATE * 1e3,
        "engine_latency_ms": round(Plan(48_000, stage.hop, stage.latency).latency / 48, 3),  # at 48 kHz, resampled
        "parameters": [_parameter(p) for p in stage.parameters().values()],
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    limits = [limit if math.isfinite(limit) else None for limit in (parameter.low, parameter.high)]
    return {
        "name": parameter.name,
        "meaning": parameter.meaning,
        "default": parameter.default,
        "low": limits[0],
        "high": limits[1],
        "unit": parameter.unit,
        "drawn": parameter.drawn,
        "choices": list(parameter.choices),
    }


def _range(parameter: dict[str, Any]) -> str:
    if parameter["choices"]:
        return "|".join(parameter["choices"])
    if isinstance(parameter["default"], str):
        return "text"
    low, high = ("any" if limit is None else f"{limit:g}" for limit in (parameter["low"], parameter["high"]))
    return f"{low} to {high} {parameter['unit']}".rstrip()


def _value(value: Value) -> str:
    return ",".join(f"{v:g}" for v in value) if isinstance(value, tuple) else value if isinstance(value, str) else f"{value:g}"

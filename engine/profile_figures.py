"""How figures of a profile are given: percentiles that their number carries, digits that mean something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..kernels.jit import F64

ONE_IN = {"p50": 2, "p95": 20, "p99": 100, "p99_9": 1000}  # values to one above that percentile; fewer cannot tell it
_DIGITS = 5  # of what is measured: clocks and machines do not repeat more


def percentile(x: F64, name: str) -> float | None:
    """None where there are too few values for it: it would be no more than the largest one."""
    return float(np.percentile(x, 100 - 100 / ONE_IN[name])) if x.size >= ONE_IN[name] else None


def percentiles(x: F64) -> dict[str, float | None]:
    """All of `ONE_IN`, and the largest as "max"."""
    return {**{name: percentile(x, name) for name in ONE_IN}, "max": float(x.max()) if x.size else None}


def rounded(value: Any) -> Any:
    """A JSON value with its fractions at 5 significant digits."""
    if isinstance(value, Mapping):
        return {key: rounded(v) for key, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def shown(value: float | None, form: str = ".0f") -> str:
    """As in a table; what is not known is a dash."""
    return "-" if value is None else format(value, form)


def percent(share: float | None) -> str:
    return shown(share, ".1%" if share is None or share < 10 else ".0%")

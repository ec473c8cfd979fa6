"""A parameter of a stage: one declaration serves the attribute, its check, `--set`, and `velavox methods`."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .stage import Stage

Value = float | str | tuple[float, float]


@dataclass
class Parameter:
    """A number in [low, high], one of `choices`, or with `drawn` also a pair (low, high) from which each voice draws its own.

    Used as a class attribute of a Stage; reading gives the value last set, setting checks it (ValueError: what, limits)
    and takes effect at the next hop, gliding over two hops where the stage can glide.
    """

    default: Value
    meaning: str
    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    drawn: bool = False
    choices: Sequence[str] = ()
    name: str = field(default="", init=False)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, stage: Stage | None, owner: type) -> Any:
        return self if stage is None else stage.value(self.name)

    def __set__(self, stage: Stage, value: Any) -> None:
        stage.set_parameter(self.name, value)

    def check(self, value: Any) -> Value:
        """`value` in its plain form (float, str or pair of floats), or ValueError in one line."""
        if self.choices:
            if value in self.choices:
                return str(value)
            raise ValueError(f"{self.name}={value!r}: give one of {', '.join(self.choices)}")
        if self.drawn and isinstance(value, (tuple, list)) and len(value) == 2:
            low, high = self._number(value[0], value), self._number(value[1], value)
            if low <= high:
                return (low, high)
            raise ValueError(f"{self.name}={value!r}: the lower end of the range comes first")
        return self._number(value, value)

    def _number(self, value: Any, shown: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not self.low <= number <= self.high:
            pair = " or a (low, high) pair within it" if self.drawn else ""
            raise ValueError(f"{self.name}={shown!r}: give a number from {self.low:g} to {self.high:g}{pair}")
        return number

    def parse(self, text: str) -> Value:
        """The value written as `text` on a command line: "0.7", "0.5,0.8" or a name."""
        if self.choices:
            return self.check(text)
        parts = text.split(",")
        return self.check(parts[0] if len(parts) == 1 else tuple(parts))


@dataclass
class Text(Parameter):
    """A parameter that is any text."""

    def check(self, value: Any) -> Value:
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        raise ValueError(f"{self.name}={value!r}: give a text")

    def parse(self, text: str) -> Value:
        return self.check(text)

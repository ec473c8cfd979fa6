"""Stages with known behaviour for tests of the engine: one that can be told apart, one that delays, one that fails.

And the status of a live stream.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from velavox import Engine, Identity
from velavox.engine.parameter import Parameter
from velavox.engine.status import State, Status
from velavox.kernels.jit import F32


class Gain(Identity):
    """A voice is a gain: enough to tell voices and parameters apart."""

    method = "gain"
    gain = Parameter((0.2, 0.9), "factor", low=0.0, high=1.0, drawn=True)

    def step(self, x: F32, y: F32) -> None:
        np.multiply(x, np.float32(self.voice["gain"]), out=y)


class Minus(Identity):
    """A voice that can be told from the input by its sign."""

    method = "minus"

    def step(self, x: F32, y: F32) -> None:
        np.negative(x, out=y)


class Delay(Identity):
    """Delays by 163 samples, with hops half as long as the others'."""

    method = "delay"
    hop = 80
    latency = 163

    def reset(self) -> None:
        super().reset()
        self.past = np.zeros(163, np.float32)

    def step(self, x: F32, y: F32) -> None:
        both = np.concatenate([self.past, x])
        y[:] = both[: x.size]
        self.past = both[x.size :]


class Faulty(Identity):
    """Behaves until hop `at`, then does `fault` for three hops."""

    method = "faulty"

    def __init__(self, fault: Callable[[F32, F32], None], at: int = 5) -> None:
        super().__init__()
        self.fault, self.at, self.hops = fault, at, 0

    def step(self, x: F32, y: F32) -> None:
        self.hops += 1
        if self.at < self.hops <= self.at + 3:
            self.fault(x, y)
        else:
            y[:] = x

    def clone(self) -> Self:
        return type(self)(self.fault, self.at)


def run(engine: Engine, x: np.ndarray, sizes: list[int] | None = None) -> F32:
    """All of the output, delay removed."""
    cuts = list(np.cumsum(sizes)[:-1]) if sizes else []
    out = [engine.process(block) for block in np.split(x, cuts)] + [engine.flush()]
    return np.concatenate(out)[engine.latency :]


def fail(x: F32, y: F32) -> None:
    y[:] = x
    raise RuntimeError("wires\ncrossed")


def give_nan(x: F32, y: F32) -> None:
    y[:] = x
    y[7] = np.nan


def write_half(x: F32, y: F32) -> None:
    y[:80] = x[:80]


def write_nothing(x: F32, y: F32) -> None:
    pass


def give_infinity(x: F32, y: F32) -> None:
    y[:] = np.inf


FAULTS = {"raise": fail, "nan": give_nan, "half": write_half, "nothing": write_nothing, "infinite": give_infinity}


def running(**changes: Any) -> Status:
    """The status of a live stream that runs well, but for `changes`."""
    well = Status(State.running, "", 5.0, "mic", "speaker", 48_000, 48_000, 480, "gain, voice 1", -12.0, -20.0, 61.5)
    return replace(well, delay_parts_ms={"device_in": 20.0, "engine": 24.9}, **changes)

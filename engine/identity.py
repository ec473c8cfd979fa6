"""A stage that changes nothing, for tests of the engine alone. It is not offered on the command line."""

from __future__ import annotations

import numpy as np

from ..kernels.jit import F32, State
from .stage import Stage


class Identity(Stage):
    """Output is input: for tests only, since it protects nobody."""

    method = "identity"

    @property
    def latency(self) -> int:
        return 0

    def step(self, x: F32, y: F32) -> None:
        y[:] = x

    def _allocate(self) -> State:
        return np.zeros(1, np.dtype((np.record, [("unused", "u1")])))

    def _apply(self) -> None:
        pass

    def _settle(self) -> None:
        pass

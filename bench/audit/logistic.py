"""Logistic regression: the odds that something is true of a vector, learnt from examples, with a penalty on large weights."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from ...kernels.jit import F64
from ..trials import Flags

PENALTY = 1.0  # half of it, times the squared norm of the weights, is added to the sum of losses


class Logistic:
    """Both kinds of example weigh the same in sum, so the odds do not depend on how many there are of each. A number counts by
    its spread, not by its unit, and one that never changes not at all."""

    def __init__(self, x: F64, true: Flags, penalty: float = PENALTY) -> None:
        """Learn from x, shape (n, d), and of which rows it is true, shape (n,). ValueError if it is of all, of none, or x is
        not finite."""
        if true.all() or not true.any():
            raise ValueError(f"{len(true)} examples of one kind only: give some of either")
        if not np.isfinite(x).all():
            raise ValueError("x holds NaN or infinity: leave these examples out")
        self._mean, spread = x.mean(0), x.std(0)
        self._scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-12)
        z = self._scaled(x)
        sign = np.where(true, 1.0, -1.0)
        weight = np.where(true, 0.5 / true.sum(), 0.5 / (~true).sum()) * len(true)

        def loss(w: F64) -> tuple[float, F64]:
            margin = sign * (z @ w[1:] + w[0])
            slope = -weight * sign * expit(-margin)
            total = weight @ np.logaddexp(0.0, -margin) + 0.5 * penalty * w[1:] @ w[1:]
            return float(total), np.concatenate([[slope.sum()], slope @ z + penalty * w[1:]])

        found = minimize(loss, np.zeros(1 + z.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 1000, "ftol": 1e-10})
        self._bias, self._weights = float(found.x[0]), np.asarray(found.x[1:], np.float64)

    def __call__(self, x: F64) -> F64:
        """Natural logarithm of the odds that it is true of each row of x, shape (n, d), were it true of half of them."""
        return np.asarray(self._scaled(x) @ self._weights + self._bias)

    def _scaled(self, x: F64) -> F64:
        return np.asarray((x - self._mean) * self._scale)

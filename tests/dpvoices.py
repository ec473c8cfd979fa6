"""The neural anonymizer for tests, around graphs of a few nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tinygraphs
from velavox import DpVoice, Engine
from velavox.kernels.jit import F32
from wavs import pcm16, wav

MODES = {"balanced": 1160, "low": 520}  # samples of delay
every_mode = pytest.mark.parametrize("mode", MODES)


def write(path: Path, x: F32) -> Path:
    """At 16 kHz, shape (n,) or (n, channels)."""
    path.write_bytes(wav(pcm16(x), channels=x[0].size))
    return path


def prepared(**values: Any) -> DpVoice:
    stage = DpVoice(**values)
    stage.prepare()
    return stage


def through(x: F32, sizes: list[int] | None = None, **values: Any) -> F32:
    engine = Engine(DpVoice(**values), sample_rate=16_000, seed=1)
    cuts = list(np.cumsum(sizes)[:-1]) if sizes else []
    out = [engine.process(block) for block in np.split(x, cuts)] + [engine.flush()]
    assert engine.stats.muted == 0
    return np.concatenate(out)[engine.latency :]


def damage(folder: Path, name: str, how: str) -> None:
    path = folder / f"{name}.onnx"
    graph = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "cut short":
        path.write_bytes(graph[:-7])
    elif how == "altered":
        path.write_bytes(graph[:-7] + bytes(7))
    else:  # whole, listed, and of another kind
        tinygraphs.save(tinygraphs.moving_sum(), folder, name)

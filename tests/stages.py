"""A stage by itself, without an engine: what the tests of every anonymizer do with it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import soundfile
from signals import F32
from velavox.engine.stage import HOP, Stage

S = TypeVar("S", bound=Stage)


def prepared(kind: type[S], **values: Any) -> S:
    stage = kind(**values)
    stage.prepare()
    return stage


def run(stage: Stage, x: F32) -> F32:
    """Whole hops of x through the stage, delayed."""
    y = np.full_like(x, 0.77)
    for k in range(0, x.size, stage.hop):
        stage.step(x[k : k + stage.hop], y[k : k + stage.hop])
    return y


def loudest_step_at_borders(y: F32, hop: int) -> tuple[float, float]:
    """The largest step from one sample to the next at the borders of hops, and the 99.9th percentile elsewhere."""
    step = np.abs(np.diff(y))
    borders = np.arange(hop - 1, step.size, hop)
    return float(step[borders].max()), float(np.percentile(np.delete(step, borders), 99.9))


def one_utterance_a_speaker(shared: Path) -> Iterator[tuple[str, F32]]:
    """Path and samples, whole hops, of the last development utterance of each speaker (49, of five sources)."""
    with (shared / "speech" / "manifest.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == "dev"]
    for row in {(row["source"], row["speaker"]): row for row in rows}.values():
        x, rate = soundfile.read(shared / "speech" / row["path"], dtype="float32")
        assert rate == 16_000
        yield row["path"], x[: x.size // HOP * HOP]

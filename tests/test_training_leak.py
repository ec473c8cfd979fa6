"""The attacker on the content channel: finds who is there to be found, nobody in noise; too short utterances are left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from trainingdata import pack
from velavox.engine.content import phones
from velavox.models_onnx.training.leak import Statistics, attack, statistics
from velavox.models_onnx.training.student import Shape, Student

torch.set_num_threads(1)


def _people(names: str, count: int, each: int, told: float, seed: int) -> Statistics:
    """Statistics of 20 numbers, in which speakers differ by `told` times what their utterances do."""
    random = np.random.default_rng(seed)
    means = told * random.normal(size=(count, 20))
    index = np.repeat(np.arange(count), each)
    utterances = [f"{names}{i}-{n}" for n, i in enumerate(index)]
    return Statistics(utterances, [f"c:{names}{i}" for i in index], means[index] + random.normal(size=(len(index), 20)))


def _found(told: float) -> float:
    unknown = _people("u", 12, 8, told, 1)
    enrolled = frozenset(name for n, name in enumerate(unknown.utterances) if n % 8 < 3)
    return attack(_people("k", 30, 8, told, 2), unknown, enrolled).value


def test_who_differs_is_found_and_who_does_not_is_not() -> None:
    assert _found(3.0) < 0.02 < _found(0.7) < 0.35 < _found(0.0) < 0.6


def test_statistics_of_rows_that_are_long_enough(tmp_path: Path) -> None:
    made = pack(tmp_path / "pack", [300, 60, 200])
    torch.manual_seed(0)
    found = statistics(Student(Shape(width=8, hidden=8, taps=2, dilations=(1,))), made)
    assert sorted(found.utterances) == sorted(row.utterance for row in made.rows if row.frames > 100)
    assert found.values.shape == (2, 3 * (phones.STATES + len(phones.PHONES)))
    assert np.isfinite(found.values).all()

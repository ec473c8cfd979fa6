"""What is remembered survives the process, and an interrupted one."""

from pathlib import Path

import numpy as np
from signals import noise
from velavox.bench.remembered import Remembered, digest


def test_values_outlive_who_wrote_them(tmp_path: Path) -> None:
    first = Remembered(tmp_path / "new/vectors.jsonl")
    first["a"], first["b"] = [0.5, 1], None
    again = Remembered(tmp_path / "new/vectors.jsonl")
    assert (again["a"], again["b"]) == ([0.5, 1], None)
    assert "b" in again
    assert "c" not in again


def test_a_torn_line_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "vectors.jsonl"
    Remembered(path)["a"] = 1
    whole, line = path.read_bytes(), b'["b", 2]\n'
    for size in range(len(line)):
        path.write_bytes(whole + line[:size])
        after = Remembered(path)
        after["c"] = 3
        after["d"] = 4
        found = Remembered(path)
        assert [found[key] for key in "acd"] == [1, 3, 4]


def test_the_last_value_of_a_key_counts(tmp_path: Path) -> None:
    path = tmp_path / "vectors.jsonl"
    for value in (1, 2):
        Remembered(path)["a"] = value
    assert Remembered(path)["a"] == 2


def test_keys_are_of_content() -> None:
    x = noise(100)
    assert digest(x) == digest(np.repeat(x, 2)[::2])
    assert len({digest(x), digest(-x), digest(x, "en"), digest(x[:99])}) == 4

"""Prefix beam search: every path counted where all prefixes are kept, else as its twin; in any blocks; full is told."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from signals import F32
from velavox.kernels import prefix

pytestmark = pytest.mark.nojit


def random_likely(rows: int, classes: int, seed: int, sharp: float = 2.0) -> F32:
    x = np.random.default_rng(seed).normal(0, sharp, (rows, classes))
    return np.ascontiguousarray(x - np.log(np.exp(x).sum(1, keepdims=True)), np.float32)


def planted(classes: list[int], others: int = 6) -> F32:
    """Sure of one class in each row."""
    likely = np.full((len(classes), others), math.log(1e-4), np.float32)
    likely[np.arange(len(classes)), classes] = 0
    return likely


@pytest.mark.parametrize("seed", range(4))
def test_with_all_prefixes_kept_every_path_counts(seed: int) -> None:
    likely = random_likely(5, 3, seed, sharp=1.0)
    expected = naive.readings(likely.astype(np.float64))
    assert len(expected) < prefix.WIDEST
    found = prefix.offline(likely, prefix.WIDEST)
    assert {tuple(units) for units, _ in found} == set(expected)
    for units, total in found:
        assert total == pytest.approx(expected[tuple(units)], abs=1e-5)
    assert sum(math.exp(total) for _, total in found) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("width", [1, 3, 8])
@pytest.mark.parametrize("seed", range(4))
def test_of_fewer_it_keeps_those_that_its_twin_keeps(width: int, seed: int) -> None:
    likely = random_likely(30, 6, seed)
    expected = naive.prefixes(likely.astype(np.float64), width, prefix.FLOOR)
    found = prefix.offline(likely, width)
    assert [tuple(units) for units, _ in found] == sorted(expected, key=lambda units: -expected[units])
    for units, total in found:
        assert total == pytest.approx(expected[tuple(units)], abs=1e-4)


def test_repetitions_are_one_and_blanks_part_them() -> None:
    for path, units in (([1, 1, 2], [1, 2]), ([0, 1, 0, 1, 1], [1, 1]), ([0, 0], []), ([3, 0, 2, 2, 0, 2], [3, 2, 2])):
        assert prefix.offline(planted(path), 4)[0][0] == units


def test_any_blocks_and_after_a_reset_the_same() -> None:
    likely = random_likely(40, 6, 9)
    expected = prefix.offline(likely, 8)
    state = prefix.fresh(8)
    for block in (1, 7, 40):
        for start in range(0, 40, block):
            part = likely[start : start + block]
            assert prefix.stream(state, part) == len(part)
        assert [(u, t) for u, _, t in (prefix.spelled(state, k) for k in range(state[0].count))] == expected
        prefix.reset(state)


def test_rows_tell_when_each_class_was_first_said() -> None:
    state = prefix.fresh(4)
    prefix.stream(state, planted([0, 0, 4, 4, 0, 0, 2, 0, 2]))
    assert prefix.spelled(state, 0)[:2] == ([4, 2, 2], [2, 6, 8])


def test_a_full_tree_reads_no_further_and_says_how_far() -> None:
    likely = random_likely(64, 6, 3)
    state = prefix.fresh(prefix.WIDEST)
    state[0].nodes = prefix.NODES - 20 * prefix.WIDEST  # as after 300 rows of which each went on
    read = prefix.stream(state, likely)
    assert 20 <= read < 64
    before = prefix.spelled(state, 0)
    assert prefix.stream(state, likely[read:]) == 0
    assert prefix.spelled(state, 0) == before
    prefix.reset(state)
    assert prefix.stream(state, likely) == 64


def test_a_width_out_of_range_is_refused() -> None:
    for width in (0, prefix.WIDEST + 1):
        with pytest.raises(ValueError, match="prefixes"):
            prefix.fresh(width)

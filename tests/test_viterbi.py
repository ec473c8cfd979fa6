"""The best path of a row of phones: as its twin finds it; where it is planted; whatever the network says."""

from __future__ import annotations

import naive
import numpy as np
import numpy.typing as npt
import pytest
from velavox.kernels.jit import F32
from velavox.kernels.viterbi import NEVER, spot

pytestmark = pytest.mark.nojit

CLASSES = 6


def spotted(likely: F32, rows: list[list[int]]) -> tuple[F32, npt.NDArray[np.int64]]:
    lengths = np.array([len(row) for row in rows])
    table = np.zeros((len(rows), lengths.max()), np.int64)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    score, first = np.full((len(rows), len(likely)), 7, np.float32), np.full((len(rows), len(likely)), -7)
    work = 2 * int(lengths.max())
    spot(score, first, likely, table, lengths, np.full((2, work), 7, np.float32), np.full((2, work), -7))
    return score, first


def random_likely(frames: int, seed: int) -> F32:
    x = np.random.default_rng(seed).normal(0, 3, (frames, CLASSES))
    return np.ascontiguousarray(x - np.log(np.exp(x).sum(1, keepdims=True)), np.float32)


def planted(frames: int, at: dict[int, int]) -> F32:
    """Blank in each frame but for those of `at`, frame to class; sure of each."""
    likely = np.full((frames, CLASSES), np.log(1e-4), np.float32)
    for t in range(frames):
        likely[t, at.get(t, 0)] = 0
    return likely


@pytest.mark.parametrize("seed", range(4))
def test_same_as_its_twin(seed: int) -> None:
    likely = random_likely(14, seed)
    rows = [[1], [2, 3], [4, 4, 1], [1, 2, 3, 4, 5]]
    score, first = spotted(likely, rows)
    for k, row in enumerate(rows):
        expected, begin = naive.spot(likely.astype(np.float64), row)
        possible = np.isfinite(expected)
        np.testing.assert_allclose(score[k, possible], expected[possible], rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(first[k, possible], begin[possible])
        assert (score[k, ~possible] < -1e7).all()


def test_found_where_it_is_planted() -> None:
    """Each of two occurrences, with its own beginning (C18)."""
    score, first = spotted(planted(40, {5: 1, 8: 2, 9: 2, 12: 3, 25: 1, 26: 2, 30: 3}), [[1, 2, 3]])
    assert score[0, 12] == score[0, 30] == 0
    assert (first[0, 12], first[0, 30]) == (5, 25)
    assert (np.delete(score[0], [12, 30]) <= 0).all()


def test_equal_phones_need_a_blank_between_them() -> None:
    assert spotted(planted(9, {3: 1, 4: 1}), [[1, 1]])[0].max() < -2
    assert spotted(planted(9, {3: 1, 5: 1}), [[1, 1]])[0].max() == 0


def test_a_missing_phone_costs_its_share() -> None:
    score, _ = spotted(planted(20, {5: 1, 8: 2, 11: 3}), [[1, 2, 4, 3], [1, 2, 3]])
    assert score[0].max() == pytest.approx(np.log(1e-4) / 4, rel=1e-5)
    assert score[1].max() == 0


def test_rows_do_not_depend_on_each_other() -> None:
    likely = random_likely(30, 9)
    together, _ = spotted(likely, [[1, 2, 3, 4], [5], [2, 2]])
    for k, row in enumerate(([1, 2, 3, 4], [5], [2, 2])):
        np.testing.assert_array_equal(together[k], spotted(likely, [row])[0][0])


def test_nan_is_never_found() -> None:
    score, _ = spotted(np.full((10, CLASSES), np.nan, np.float32), [[1, 2]])
    assert (score[:, 1:] < -1e7).all()
    assert NEVER < -1e7


def test_no_frames() -> None:
    assert spotted(np.zeros((0, CLASSES), np.float32), [[1, 2]])[0].shape == (1, 0)

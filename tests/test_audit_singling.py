"""Linking and singling out: perfect voices, voices that tell nothing, and each figure counted by hand."""

import itertools

import numpy as np
import pytest
from velavox.bench.audit.singling import Grid, linking, singling
from velavox.bench.trials import Trials
from velavox.kernels.jit import F64

pytestmark = pytest.mark.nojit


def _grid(scores: F64, speakers: list[int]) -> Grid:
    return Grid(scores, np.array(speakers), tuple(f"s{n}" for n in range(len(scores))))


def _voices(count: int, each: int, apart: float, seed: int = 0) -> Grid:
    """Scores N(apart, 1) of a speaker's own recordings, N(0, 1) of others'."""
    speakers = np.repeat(np.arange(count), each)
    own = speakers == np.arange(count)[:, None]
    return _grid(np.random.default_rng(seed).normal(size=own.shape) + apart * own, speakers.tolist())


def test_grid_is_of_trials_in_any_order() -> None:
    columns = [(s, c, t) for s, t in (("b", "1"), ("a", "1"), ("a", "2")) for c in "ab"]  # "1" of a is not "1" of b
    values = np.arange(6.0)
    for order in (np.arange(6), np.array([3, 0, 5, 1, 4, 2])):
        spoke, claimed, tests = zip(*(columns[i] for i in order), strict=True)
        grid = Grid.of(Trials.between(values[order], spoke, claimed, tests))
        assert grid is not None
        assert grid.names == ("a", "b")
        np.testing.assert_array_equal(grid.speakers, [0, 0, 1])
        np.testing.assert_array_equal(grid.scores, [[2, 4, 0], [3, 5, 1]])


def test_no_grid_where_something_is_not_told() -> None:
    assert Grid.of(Trials.between(np.zeros(2), ["a", "b"], ["a", "a"])) is None
    assert Grid.of(Trials(np.zeros(2), np.array([True, False]))) is None


def test_own_speaker_has_to_score_highest() -> None:
    grid = _grid(np.array([[3.0, 1, 2, 0], [1, 2, 2, 9], [2, 0, 1, 0]]), [0, 1, 2, -1])
    found = linking(grid)  # the third's own score is beaten; nobody is enrolled whose the fourth is
    assert found is not None
    assert found.candidates == 3
    assert found.rate.value == pytest.approx(2 / 3)


def test_equal_scores_are_the_attackers() -> None:
    found = linking(_grid(np.zeros((4, 4)), [0, 1, 2, 3]))
    assert found is not None
    assert found.rate.value == 1


def test_fewer_candidates_are_every_choice_of_them() -> None:
    grid = _voices(7, 2, 0.8)
    for candidates in range(1, 8):
        linked, count = 0, 0
        for column, own in enumerate(grid.speakers):
            for others in itertools.combinations([c for c in range(7) if c != own], candidates - 1):
                count += 1
                linked += all(grid.scores[own, column] >= grid.scores[c, column] for c in others)
        found = linking(grid, candidates)
        assert found is not None
        assert found.rate.value == pytest.approx(linked / count)
    with pytest.raises(ValueError, match="1 to 7"):
        linking(grid, 8)


def test_candidates_are_those_that_every_test_has() -> None:
    scores = np.array([[1.0, np.nan], [0, 1], [np.nan, 0], [0, 0]])
    found = linking(_grid(scores, [0, 1]))
    assert found is not None
    assert (found.candidates, found.rate.value) == (3, 1)
    assert linking(_grid(scores, [2, 0])) is None  # no own score


def test_voices_that_tell_nothing_are_linked_and_singled_out_by_chance() -> None:
    grid = _voices(200, 10, 0)
    linked, single = linking(grid), singling(grid)
    assert linked is not None
    assert single is not None
    assert linked.rate.value == pytest.approx(1 / 200, abs=0.005)
    assert single.speakers == 200
    assert single.rate.low < np.exp(-1) < single.rate.high
    assert single.rate.value == pytest.approx(np.exp(-1), abs=0.04)


def test_voices_that_tell_all_are_always_found() -> None:
    grid = _voices(30, 4, 20)
    linked, single = linking(grid), singling(grid)
    assert linked is not None
    assert single is not None
    assert linked.rate.value == single.rate.value == 1


def test_one_is_singled_out_whoever_it_is() -> None:
    """Recordings of a speaker score alike here: the threshold lies between the first two speakers, right ones or not."""
    scores = np.repeat(np.array([[1.0, 2, 0], [0, 1, 2], [1, 1, 0]]), 2, axis=1)
    found = singling(_grid(scores, [0, 0, 1, 1, 2, 2]))
    assert found is not None
    assert found.rate.value == pytest.approx(2 / 3)  # the third sees two alike: none lies above what is between them


def test_speakers_with_one_recording_are_left_out() -> None:
    grid = _voices(6, 3, 5)
    kept = [column for column in range(18) if grid.speakers[column] != 5 or column == 17]
    found = singling(Grid(grid.scores[:, kept], grid.speakers[kept], grid.names))
    assert found is not None
    assert found.speakers == 5
    assert singling(_grid(np.eye(3), [0, 1, 2])) is None

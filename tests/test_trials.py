"""Trials: columns that belong together, and parts of them."""

import numpy as np
import pytest
from velavox.bench.trials import Names, Trials


def _some() -> Trials:
    return Trials.between(np.array([0.9, 0.1, 0.4]), ["a", "b", "b"], ["a", "a", "b"])


def test_a_claim_is_true_of_the_same_speaker() -> None:
    np.testing.assert_array_equal(_some().true, [0.9, 0.4])
    np.testing.assert_array_equal(_some().false, [0.1])


def test_parts_keep_who_spoke_and_who_is_claimed() -> None:
    for part in (_some().rows(np.array([2, 1])), _some().rows(np.array([False, True, True])).rows(np.array([1, 0]))):
        np.testing.assert_array_equal(part.values, [0.4, 0.1])
        np.testing.assert_array_equal(part.same, [True, False])
        assert [list(part.speakers or ()), list(part.claimed or ())] == [["b", "b"], ["b", "a"]]
    assert Trials(np.zeros(2), np.ones(2, np.bool_)).rows(np.array([0])).speakers is None


def test_columns_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(ValueError, match="2, 3"):
        Trials(np.zeros(3), np.ones(2, np.bool_))
    with pytest.raises(ValueError, match="who spoke"):
        Trials(np.zeros(1), np.ones(1, np.bool_), claimed=["a"])


def test_names_are_a_column_of_text() -> None:
    column = ["b", "a", "b", "c"]
    names = Names.of(column)
    assert list(names) == column
    assert (len(names), names[1], list(names[1:3])) == (4, "a", ["a", "b"])
    assert names[:1].present() == ["b"]
    assert Names.of(names) is names
    np.testing.assert_array_equal(names.numbered(["c", "b"]), [1, -1, 1, 0])

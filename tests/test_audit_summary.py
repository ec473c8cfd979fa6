"""All figures of one attacker's scores: what is doubtful is said, and nothing flatters."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from velavox.bench.audit.codec import made, plain
from velavox.bench.audit.summary import Summary, summarise
from velavox.bench.eer import figure
from velavox.bench.trials import Trials

pytestmark = pytest.mark.nojit


def _voices(count: int = 12, each: int = 20, apart: float = 1.5, seed: int = 0) -> Trials:
    """Every test against every speaker."""
    test = np.repeat(np.arange(count * each), count)
    spoke, claimed = test // each, np.tile(np.arange(count), count * each)
    values = np.random.default_rng(seed).normal(size=len(test)) + apart * (spoke == claimed)
    return Trials.between(values, *([f"s{n:02}" for n in column] for column in (spoke, claimed, test)))


def _told(summary: Summary, words: str) -> bool:
    return any(words in warning for warning in summary.warnings)


def test_figures_are_those_of_each_file() -> None:
    trials = _voices()
    found = summarise(trials, seed=3)
    assert found.eer == figure(trials, seed=3)
    assert (found.trials, found.same, found.speakers) == (240 * 12, 240, 12)
    assert [point.fpr for point in found.points] == [1e-2, 1e-3, 1e-4]
    assert found.warnings == ()
    assert found.matching is None
    assert found.linking is not None
    assert found.singling is not None
    assert found.linking.candidates == found.singling.speakers == 12
    assert (found.roc[0], found.roc[-1]) == ((0, 0), (1, 1))
    assert summarise(replace(trials, tests=None)).linking is None


def test_json_brings_it_back() -> None:
    found = summarise(_voices(), original=_voices(apart=3))
    assert made(Summary, plain(found)) == found


def test_scores_upside_down_are_turned_over() -> None:
    trials = _voices()
    reversed_, expected = summarise(replace(trials, values=-trials.values)), summarise(trials)
    assert _told(reversed_, "upside down")
    assert reversed_ == replace(expected, warnings=reversed_.warnings)
    swapped = summarise(Trials(trials.values, ~trials.same))
    assert _told(swapped, "upside down")
    assert swapped.eer.value < 0.3


def test_chance_is_not_taken_for_scores_upside_down() -> None:
    taken = [_told(summarise(_voices(apart=0, seed=seed)), "upside down") for seed in range(6)]
    assert sum(taken) <= 1


def test_originals_taken_for_the_result_are_told() -> None:
    original = _voices(apart=3)
    order = np.random.default_rng(0).permutation(len(original.values))
    assert _told(summarise(original.rows(order), original=original), "originals against originals")
    assert not _told(summarise(_voices(), original=original), "originals")


def test_a_verifier_of_distances_matches_alike() -> None:
    trials, original = _voices(), _voices(apart=3)
    right = summarise(trials, original=original).matching
    negated = summarise(replace(trials, values=-trials.values), original=replace(original, values=-original.values)).matching
    assert right is not None
    assert negated is not None
    assert (negated.mmr, negated.wmr) == (right.mmr, right.wmr)
    assert right.mmr.value > 0.2 > right.wmr.value


def test_few_speakers_and_few_trials_are_told() -> None:
    one = _voices().rows(np.arange(12))
    found = summarise(one)
    assert _told(found, "1 true and 11 false")
    assert _told(found, "1 speaker: there is no interval")
    assert np.isnan([found.eer.low, found.eer.high, found.auc.low, found.auc.high]).all()
    assert np.isnan(found.d_sys)
    assert _told(found, "no D_sys")
    assert _told(summarise(_voices(count=9, each=4)), "9 speakers: intervals are too narrow")


def test_ties_are_told() -> None:
    trials = _voices()
    found = summarise(replace(trials, values=np.round(trials.values)))
    assert _told(found, "equal scores")
    one = summarise(Trials(np.zeros(200), np.arange(200) < 100))
    assert _told(one, "100.0%")
    assert one.eer.value == one.eer.low == one.eer.high == 0.5
    assert all(point.epsilon.value == 0 for point in one.points)


def test_what_d_sys_leaves_out_is_told() -> None:
    values = np.concatenate([np.ones(100), np.random.default_rng(0).normal(0, 0.2, 1000)])
    found = summarise(Trials(values, np.arange(1100) < 100))
    assert found.d_sys == pytest.approx(0.5, abs=0.01)
    assert _told(found, "D_sys as published leaves out")


@pytest.mark.parametrize(("bad", "told"), [(np.nan, "NaN"), (np.inf, "infinite")])
def test_scores_that_cannot_be_ranked_are_refused(bad: float, told: str) -> None:
    trials = _voices()
    values = trials.values.copy()
    values[7] = bad
    with pytest.raises(ValueError, match=told):
        summarise(replace(trials, values=values))


def test_one_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="one kind"):
        summarise(Trials(np.arange(5.0), np.ones(5, np.bool_)))


def test_two_speakers_of_whom_one_has_no_true_claim() -> None:
    """Whatever is drawn: a draw without any true claim says nothing, and is left out."""
    values = np.array([3.0, 2, 1, 0, 1, 2])
    trials = Trials(values, np.array([True, True, False, False, False, False]), ["a", "a", "a", "b", "b", "b"])
    found = summarise(trials)
    assert np.isfinite([found.eer.low, found.eer.high]).all()


def test_memory_grows_with_little_but_the_scores() -> None:
    """About 90 bytes for each, and 60 MB whatever there is."""
    random = np.random.default_rng(0)
    same = np.arange(1_000_000) < 500_000
    trials = Trials(random.normal(size=1_000_000) + same, same)
    tracemalloc.start()
    found = summarise(trials)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found.roc) < 310
    assert peak < 200e6

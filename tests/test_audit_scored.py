"""From likeness to trials: who is held against whom, by how many enrolments, pooled how."""

from pathlib import Path

import numpy as np
import pytest
from velavox.bench.attackers import Voices, compare
from velavox.bench.audit.recordings import Recording
from velavox.bench.audit.scored import ALL, AVERAGE, CROSS, MAXIMUM, RELAXED, SAME, STRICT, Cell, Scorer, cosine, told
from velavox.bench.trials import Trials

pytestmark = pytest.mark.nojit


def _recordings(speakers: list[str], channels: str = "", texts: list[str] | None = None, of: str = "") -> list[Recording]:
    kinds, said = channels or "x" * len(speakers), texts or [""] * len(speakers)
    return [
        Recording(f"{of}{n}", s, Path(), channel=c, text=t)
        for n, (s, c, t) in enumerate(zip(speakers, kinds, said, strict=True))
    ]


def _pairs(trials: Trials | None) -> set[tuple[str, str]]:
    assert trials is not None
    assert trials.claimed is not None
    assert trials.tests is not None
    return set(zip(trials.claimed, trials.tests, strict=True))


PEOPLE = [f"c:{n}" for n in range(4)]


def test_pooling_is_that_of_the_first_enrolments() -> None:
    random = np.random.default_rng(0)
    enrol, trial = _recordings([p for p in PEOPLE for _ in range(3)]), _recordings(PEOPLE * 2, of="t")
    likeness = random.normal(size=(1, 12, 8)).astype(np.float32)
    scorer = Scorer(enrol, trial)
    for length in (1, 2, 3):
        for pooling, pool in ((AVERAGE, np.mean), (MAXIMUM, np.max)):
            found = scorer(Cell(length, pooling), likeness).trials
            assert found is not None
            expected = [pool(likeness[0, 3 * c : 3 * c + length, t]) for c in range(4) for t in range(8)]
            assert found.values == pytest.approx(np.array(expected), abs=1e-6)
            assert found.same.sum() == 8
    assert scorer(Cell(4, AVERAGE), likeness).trials is None
    assert [c.enrolment for c in scorer.cells((1, 3, 5))] == [1, 1, 3, 3]


def test_the_best_of_several_candidates_counts() -> None:
    likeness = np.random.default_rng(1).normal(size=(5, 4, 4)).astype(np.float32)
    scorer = Scorer(_recordings(PEOPLE), _recordings(PEOPLE, of="t"))
    found = scorer(Cell(1, AVERAGE), likeness).trials
    assert found is not None
    assert found.values == pytest.approx(likeness.max(0).ravel())


def test_one_enrolment_scores_as_the_shared_attacker_does() -> None:
    random = np.random.default_rng(2)
    enrol, trial = random.normal(size=(4, 6)), random.normal(size=(8, 6))
    found = Scorer(_recordings(PEOPLE), _recordings(PEOPLE * 2))(
        Cell(1, AVERAGE), cosine(enrol, trial)[np.newaxis].astype(np.float32)
    ).trials
    reference = compare(Voices(enrol, PEOPLE), Voices(trial, PEOPLE * 2))
    assert found is not None
    assert np.sort(found.values) == pytest.approx(np.sort(reference.values), abs=1e-6)
    assert found.true.mean() == pytest.approx(reference.true.mean(), abs=1e-6)


def test_trials_stay_within_a_corpus_unless_told() -> None:
    both = PEOPLE + [f"d:{n}" for n in range(4)]
    enrol, trial = _recordings(both), _recordings(both, of="t")
    likeness = np.zeros((1, 8, 8), np.float32)
    within = Scorer(enrol, trial)(Cell(1, AVERAGE), likeness).trials
    assert all(claimed[0] == both[int(test[1:])][0] for claimed, test in _pairs(within))
    assert within is not None
    assert len(within.values) == 32
    across = Scorer(enrol, trial, across=True)(Cell(1, AVERAGE), likeness).trials
    assert len(_pairs(across)) == 64


def test_channels_apart() -> None:
    enrol = _recordings([p for p in PEOPLE for _ in range(3)], "aab" * 4)
    trial = _recordings(PEOPLE * 2, "a" * 4 + "b" * 4, of="t")
    likeness = np.zeros((1, 12, 8), np.float32)
    for i, e in enumerate(enrol):
        for j, t in enumerate(trial):
            likeness[0, i, j] = e.channel == t.channel
    scorer = Scorer(enrol, trial)
    assert {c.channel for c in scorer.cells((1,))} == {ALL, SAME, CROSS}
    for kind, expected in ((SAME, 1), (CROSS, 0)):
        found = scorer(Cell(1, AVERAGE, kind), likeness).trials
        assert found is not None
        assert len(found.values) == 32
        assert np.all(found.values == expected)
    # Two enrolments of one channel are there on `a` alone.
    assert {test for _, test in _pairs(scorer(Cell(2, AVERAGE, SAME), likeness).trials)} == {"t0", "t1", "t2", "t3"}
    assert {test for _, test in _pairs(scorer(Cell(2, AVERAGE, CROSS), likeness).trials)} == {"t4", "t5", "t6", "t7"}


def test_one_channel_is_not_set_apart() -> None:
    assert {c.channel for c in Scorer(_recordings(PEOPLE), _recordings(PEOPLE)).cells((1,))} == {ALL}


def test_strict_compares_where_the_text_does_not_tell() -> None:
    texts = ["Yes!", "yes", "no", "alone", "no", "Yes", "", "No."]
    trial = _recordings(PEOPLE * 2, texts=texts, of="t")
    scorer = Scorer(_recordings(PEOPLE), trial)
    found = scorer(Cell(1, AVERAGE, ALL, STRICT), np.zeros((1, 4, 8), np.float32)).trials
    said = {p: {told(texts[i]) for i in (n, n + 4)} - {""} for n, p in enumerate(PEOPLE)}
    expected = set()
    for claimed in PEOPLE:
        for i, text in enumerate(map(told, texts)):
            others = any(text in said[p] for p in PEOPLE if p != claimed)
            if text in said[claimed] and others:
                expected.add((claimed, f"t{i}"))
    assert _pairs(found) == expected
    assert ("c:0", "t1") in expected
    assert not any(test == "t3" for _, test in expected)


def test_strict_is_not_asked_where_no_text_comes_again() -> None:
    trial = _recordings(PEOPLE, texts=["a", "b", "c", ""])
    assert {c.form for c in Scorer(_recordings(PEOPLE), trial).cells((1,))} == {RELAXED}


def test_a_list_of_pairs_is_all_that_is_tried() -> None:
    pairs = frozenset({("c:0", "t0"), ("c:0", "t1"), ("c:1", "t1"), ("c:2", "t0"), ("c:3", "t3")})
    found = Scorer(_recordings(PEOPLE), _recordings(PEOPLE, of="t"), pairs=pairs)(
        Cell(1, AVERAGE), np.zeros((1, 4, 4), np.float32)
    ).trials
    assert _pairs(found) == pairs


def test_what_has_no_vector_is_left_out_and_the_next_enrolment_taken() -> None:
    likeness = np.arange(8 * 8, dtype=np.float32).reshape(1, 8, 8)
    likeness[0, 0] = np.nan  # the first enrolment of c:0
    likeness[0, :, 3] = np.nan  # a trial of c:3
    scorer = Scorer(_recordings([p for p in PEOPLE for _ in range(2)]), _recordings(PEOPLE * 2, of="t"))
    found = scorer(Cell(1, AVERAGE), likeness)
    assert found.trials is not None
    assert len(found.trials.values) == 28
    assert found.trials.values[0] == likeness[0, 1, 0]
    two = scorer(Cell(2, AVERAGE), likeness)
    assert (two.trials, two.speakers) == (None, 3)
    assert two.notes == ("3 of 4 speakers have 2 enrolments for it",)


def test_who_was_learnt_from_apart_is_not_compared() -> None:
    people = [f"c:{n}" for n in range(8)]
    likeness = np.full((1, 8, 8), np.nan, np.float32)
    likeness[0, :4, :4] = likeness[0, 4:, 4:] = 0.5
    found = Scorer(_recordings(people), _recordings(people, of="t"))(Cell(1, AVERAGE), likeness).trials
    assert len(_pairs(found)) == 32
    assert all((int(c[2:]) < 4) == (int(t[1:]) < 4) for c, t in _pairs(found))

"""Attackers on made-up voices: what an anonymizer does to all alike helps only against who does not know it."""

import numpy as np
import pytest
from velavox.bench.attackers import Voices, compare, learnt
from velavox.bench.discriminant import Discriminant
from velavox.bench.eer import equal_error_rate
from velavox.bench.trials import Trials
from velavox.kernels.jit import F64

_WIDTH = 24


def _speech(people: F64, each: int, noise: float, seed: int, names: str) -> Voices:
    random = np.random.default_rng(seed)
    vectors = np.repeat(people, each, axis=0)
    return Voices(
        vectors + noise * random.normal(size=vectors.shape), [f"{names}{i}" for i in np.repeat(range(len(people)), each)]
    )


def _rate(trials: Trials) -> float:
    return equal_error_rate(trials.true, trials.false)


def _people(count: int, seed: int) -> F64:
    return np.random.default_rng(seed).normal(size=(count, _WIDTH))


def _anonymized(voices: Voices, seed: int) -> Voices:
    """Turned by one rotation, and shaken, anew each time, in all directions but six."""
    turn = np.linalg.qr(np.random.default_rng(7).normal(size=(_WIDTH, _WIDTH)))[0]
    shaken = np.random.default_rng(seed).normal(size=voices.vectors.shape) * 2.5
    shaken[:, :6] = 0
    return Voices((voices.vectors + shaken) @ turn, voices.speakers)


def test_who_knows_more_finds_out_more() -> None:
    people, others = _people(30, 1), _people(60, 2)
    enrolled, trials = _speech(people, 4, 0.2, 3, "a:"), _speech(people, 6, 0.2, 4, "a:")
    hidden_enrolled, hidden, known = (
        _anonymized(enrolled, 5),
        _anonymized(trials, 6),
        _anonymized(_speech(others, 10, 0.2, 8, "b:"), 9),
    )
    plain, ignorant = _rate(compare(enrolled, trials)), _rate(compare(enrolled, hidden))
    lazy, semi = _rate(compare(hidden_enrolled, hidden)), _rate(learnt(known, hidden_enrolled, hidden))
    assert plain < 0.01 < semi < 0.15 < lazy - 0.1
    assert lazy < ignorant - 0.05
    assert ignorant == pytest.approx(0.5, abs=0.08)


def test_trials_are_within_a_corpus() -> None:
    people = _people(5, 1)
    both = [_speech(people, 2, 0.1, 2, corpus) for corpus in ("a:", "b:")]
    enrolled = Voices(np.concatenate([v.vectors for v in both]), [*both[0].speakers, *both[1].speakers])
    scores = compare(enrolled, both[1])
    assert len(scores.values) == 10 * 5
    assert {claimed.split(":")[0] for claimed in scores.claimed or ()} == {"b"}
    assert scores.same.sum() == 10


def test_scores_are_cosines_with_the_mean_of_unit_enrolments() -> None:
    enrolled = Voices(np.array([[2.0, 0], [0, 9]]), ["a:0", "a:0"])
    scores = compare(enrolled, Voices(np.array([[3.0, 3], [5, 0]]), ["a:0", "a:1"]))
    assert scores.values == pytest.approx([1, np.sqrt(0.5)])


def test_joined_vectors_know_what_either_knows() -> None:
    first, second = Voices(np.ones((2, 3)), ["a:0", "a:1"]), Voices(np.zeros((2, 2)), ["a:0", "a:1"])
    assert first.with_(second).vectors.shape == (2, 5)
    with pytest.raises(ValueError, match="same order"):
        first.with_(Voices(np.zeros((2, 2)), ["a:1", "a:0"]))


def test_nobody_who_is_attacked_is_learnt_from() -> None:
    voices = _speech(_people(5, 1), 3, 0.1, 2, "a:")
    others = _speech(_people(5, 2), 3, 0.1, 3, "b:")
    for enrolled, trials in ((voices, voices), (voices, others), (others, voices)):
        with pytest.raises(ValueError, match="a:0"):
            learnt(voices, enrolled, trials)


def test_discriminant_finds_the_direction_that_tells() -> None:
    random = np.random.default_rng(0)
    speakers = np.repeat(np.arange(40), 8)
    values = random.normal(size=(320, 10))
    values[:, 3] = random.normal(size=40)[speakers] + 0.05 * random.normal(size=320)  # within far smaller than between
    seen = Discriminant(values, [str(s) for s in speakers])(values)[:, 0]
    assert abs(np.corrcoef(seen, values[:, 3])[0, 1]) > 0.98


def test_discriminant_needs_speakers_heard_twice() -> None:
    with pytest.raises(ValueError, match="0 speakers"):
        Discriminant(np.random.default_rng(0).normal(size=(9, 4)), [str(n) for n in range(9)])

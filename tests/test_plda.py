"""PLDA on made-up voices: its ratios are likelihood ratios, and it beats what it should beat."""

import numpy as np
import pytest
from velavox.bench.attackers import Voices, compare, learnt
from velavox.bench.audit.logistic import Logistic
from velavox.bench.eer import equal_error_rate
from velavox.bench.plda import Plda
from velavox.kernels.jit import F64, I64

WIDTH = 40
SPREAD = np.linspace(2.0, 0.1, WIDTH)  # of people, in each direction; of utterances 1
MIX = np.linalg.qr(np.random.default_rng(99).normal(size=(WIDTH, WIDTH)))[0] * np.linspace(1, 5, WIDTH)


def _speech(people: int, each: int, seed: int) -> Voices:
    random = np.random.default_rng(seed)
    index = np.repeat(np.arange(people), each)
    x = (SPREAD * random.normal(size=(people, WIDTH)))[index] + random.normal(size=(len(index), WIDTH))
    return Voices(3.0 + x @ MIX, [f"a:{seed}-{i}" for i in index])


def _likeness(told: Plda, first: Voices, second: Voices) -> tuple[F64, F64]:
    """Of the same speaker, and of others."""
    scores, same = told(first.vectors, second.vectors), np.equal.outer(first.speakers, second.speakers)
    return scores[same], scores[~same]


def _split(voices: Voices, each: int, enrolled: int) -> tuple[Voices, Voices]:
    number: I64 = np.arange(len(voices.speakers)) % each
    parts = [np.flatnonzero(number < enrolled), np.flatnonzero(number >= enrolled)]
    first, second = (Voices(voices.vectors[rows], [voices.speakers[i] for i in rows.tolist()]) for rows in parts)
    return first, second


KNOWN = _speech(200, 8, 1)
ENROLLED, TRIALS = _split(_speech(60, 6, 2), 6, 1)


def test_ratios_are_likelihood_ratios() -> None:
    same, other = _likeness(Plda(KNOWN.vectors, KNOWN.speakers), ENROLLED, TRIALS)
    scores = np.concatenate([same, other])
    told = Logistic(scores[:, np.newaxis], np.arange(len(scores)) < len(same), penalty=1e-6)
    slope = float(np.diff(told(np.array([[0.0], [1.0]])))[0])
    assert slope == pytest.approx(1, abs=0.2)
    assert told(np.zeros((1, 1)))[0] == pytest.approx(0, abs=0.5)


def test_it_finds_more_than_the_discriminant_and_the_cosine() -> None:
    plda = equal_error_rate(*_likeness(Plda(KNOWN.vectors, KNOWN.speakers), ENROLLED, TRIALS))
    seen = learnt(KNOWN, ENROLLED, TRIALS)
    plain = compare(ENROLLED, TRIALS)
    assert plda < 0.03
    assert plda < equal_error_rate(seen.true, seen.false) < equal_error_rate(plain.true, plain.false) - 0.03


def test_either_way_round() -> None:
    told = Plda(KNOWN.vectors, KNOWN.speakers)
    assert told(ENROLLED.vectors, TRIALS.vectors) == pytest.approx(told(TRIALS.vectors, ENROLLED.vectors).T)


def test_too_few_speakers() -> None:
    with pytest.raises(ValueError, match="0 speakers"):
        Plda(np.random.default_rng(0).normal(size=(9, 4)), [f"a:{n}" for n in range(9)])

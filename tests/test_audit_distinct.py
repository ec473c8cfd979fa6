"""Voice distinctiveness: nothing changed is 0 dB and no de-identification; one voice for all, and a voice each, at the ends."""

import numpy as np
import pytest
from velavox.bench.attackers import Voices
from velavox.bench.audit.distinct import distinctiveness
from velavox.kernels.jit import F64

PEOPLE, EACH, WIDTH = 12, 6, 16


def _people(seed: int) -> F64:
    return np.random.default_rng(seed).normal(size=(PEOPLE, WIDTH))


def _voices(people: F64, noise: float, seed: int, corpora: int = 1) -> Voices:
    random = np.random.default_rng(seed)
    index = np.repeat(np.arange(PEOPLE), EACH)
    vectors = people[index] + noise * random.normal(size=(len(index), WIDTH))
    return Voices(vectors, [f"{'ab'[i % corpora]}:{i}" for i in index])


ORIGINAL = _voices(_people(0), 0.4, 1)


def test_nothing_changed() -> None:
    found = distinctiveness(ORIGINAL, ORIGINAL)
    assert (found.gain.value, found.deidentification.value) == pytest.approx((0, 0))
    assert found.gain.low == pytest.approx(0)


def test_a_new_voice_each_keeps_people_apart_and_hides_them() -> None:
    found = distinctiveness(ORIGINAL, _voices(_people(5), 0.4, 2))
    assert abs(found.gain.value) < 0.2
    assert found.deidentification.value > 0.9
    assert found.deidentification.low < found.deidentification.value < found.deidentification.high


def test_one_voice_for_all() -> None:
    found = distinctiveness(ORIGINAL, _voices(np.tile(_people(5)[:1], (PEOPLE, 1)), 0.4, 2))
    assert found.gain.value < -8
    assert found.deidentification.value > 0.9


def test_half_hidden_lies_between() -> None:
    shaken = _voices(_people(0), 0.7, 2)
    found = distinctiveness(ORIGINAL, shaken)
    assert -6 < found.gain.value < -0.2
    assert 0.02 < found.deidentification.value < 0.8


def test_an_utterance_is_not_compared_with_itself() -> None:
    """All utterances differ entirely: nobody is like himself, which only the diagonal of a matrix would hide."""
    random = np.random.default_rng(3)
    pairs = [i for i in range(PEOPLE * EACH) if i % EACH < 2]
    before = Voices(ORIGINAL.vectors[pairs], [ORIGINAL.speakers[i] for i in pairs])
    alone = Voices(random.normal(size=before.vectors.shape), before.speakers)
    assert distinctiveness(before, alone).gain.value < -10


def test_corpora_do_not_count_as_people() -> None:
    """Two corpora of one voice each, far apart."""
    two = _voices(_people(0), 0.4, 1, corpora=2)
    rooms = np.where([s.startswith("a") for s in two.speakers], 1.0, -1.0)[:, np.newaxis] * np.ones(WIDTH)
    hidden = Voices(rooms + 0.3 * np.random.default_rng(0).normal(size=rooms.shape), two.speakers)
    assert distinctiveness(two, hidden).gain.value < -8


def test_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="same order"):
        distinctiveness(ORIGINAL, Voices(ORIGINAL.vectors[::-1], ORIGINAL.speakers[::-1]))
    lone = Voices(ORIGINAL.vectors[::EACH], ORIGINAL.speakers[::EACH])
    with pytest.raises(ValueError, match="two utterances"):
        distinctiveness(lone, lone)

"""Attackers of attributes on made-up voices: what shows is found in both forms, what does not is not."""

import numpy as np
import pytest
from velavox.bench.attackers import Voices
from velavox.bench.audit.attributes import ATTACKS, Labelled, relaxed, strict
from velavox.bench.eer import equal_error_rate
from velavox.bench.trials import Trials

WIDTH, EACH = 24, 4


def _speech(people: int, seed: int, shown: float, classes: str = "FM") -> Labelled:
    """Classes lie `shown` apart in one direction, speakers 1 in each, utterances 0.5; every speaker says the same texts."""
    random = np.random.default_rng(seed)
    index = np.repeat(np.arange(people), EACH)
    kind = index % len(classes)
    x = random.normal(size=(people, WIDTH))[index] + 0.5 * random.normal(size=(len(index), WIDTH))
    x[:, 3] += shown * kind
    return Labelled(
        Voices(x + 2.0, [f"c:{seed}-{i}" for i in index]),
        [classes[k] for k in kind],
        [f"text {n}" for n in np.arange(len(index)) % EACH],
    )


def _rate(trials: Trials) -> float:
    return equal_error_rate(trials.true, trials.false)


KNOWN, HIDDEN, SHOWN = _speech(80, 1, 4.0), _speech(40, 2, 0.0), _speech(40, 3, 4.0)


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_shows_is_found(attack: str) -> None:
    assert _rate(relaxed(attack, KNOWN, SHOWN)) < 0.12
    assert _rate(strict(attack, KNOWN, SHOWN)) < 0.25


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_does_not_show_is_not_found(attack: str) -> None:
    assert _rate(relaxed(attack, KNOWN, HIDDEN)) == pytest.approx(0.5, abs=0.17)
    assert _rate(strict(attack, KNOWN, HIDDEN)) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("attack", ATTACKS)
def test_three_classes_are_each_claimed(attack: str) -> None:
    known, trials = _speech(90, 1, 5.0, "abc"), _speech(30, 2, 5.0, "abc")
    found = relaxed(attack, known, trials)
    assert len(found.values) == 3 * 120
    assert found.same.sum() == 120
    assert list(found.tests or ())[:2] == ["0", "1"]
    assert _rate(found) < 0.3


def test_of_two_classes_one_is_claimed() -> None:
    found = relaxed("cosine", KNOWN, SHOWN)
    assert len(found.values) == len(SHOWN.classes)
    assert list(found.same) == [c == "F" for c in SHOWN.classes]
    assert list(found.speakers or ()) == list(SHOWN.voices.speakers)
    assert found.claimed is None


def test_strict_pairs_say_the_same_and_are_two_people() -> None:
    rest = [f"{text} {'old' if i < 80 else 'young'}" for i, text in enumerate(SHOWN.rest)]
    rest[:4] = [""] * 4  # the first speaker's texts are not told
    rest[4:8] = rest[4:5] * 4  # the second one says one four times
    found = strict("cosine", KNOWN, Labelled(SHOWN.voices, SHOWN.classes, rest))
    assert len(found.values) == EACH * (18 * 17 // 2 + 20 * 19 // 2) + 4 * 18
    assert SHOWN.voices.speakers[0] not in (found.speakers or ())


def test_what_cannot_be_attacked() -> None:
    with pytest.raises(ValueError, match="both learnt from and attacked"):
        relaxed("cosine", KNOWN, KNOWN)
    with pytest.raises(ValueError, match="0 known speakers of class 'X'"):
        relaxed("cosine", KNOWN, _speech(4, 9, 0.0, "FX"))
    with pytest.raises(ValueError, match="1 classes"):
        relaxed("cosine", _speech(9, 8, 0.0, "F"), _speech(4, 9, 0.0, "F"))
    with pytest.raises(ValueError, match="alike in words"):
        strict("cosine", KNOWN, Labelled(SHOWN.voices, SHOWN.classes))
    with pytest.raises(ValueError, match="no two recordings"):
        strict("cosine", KNOWN, Labelled(SHOWN.voices, SHOWN.classes, [""] * len(SHOWN.classes)))
    with pytest.raises(ValueError, match="one of each"):
        Labelled(SHOWN.voices, ["F"])

"""Who is attacked by what, and who is learnt from: never the same people."""

from collections import Counter
from pathlib import Path

import pytest
from velavox.bench.audit.findings import Findings
from velavox.bench.audit.protocol import (
    FEW,
    IN_BOTH,
    NO_ENROLMENT,
    NO_ROLE,
    NO_TRIAL,
    ONE,
    ONE_KNOWN,
    Protocol,
    plan,
)
from velavox.bench.audit.recordings import OVERLAP, Recording

pytestmark = pytest.mark.nojit


def _spoken(speaker: str, count: int, split: str = "", role: str = "", start: int = 0) -> list[Recording]:
    names = [f"{speaker}-{n}" for n in range(start, start + count)]
    return [Recording(name, speaker, Path(f"{name}.wav"), split=split, role=role) for name in names]


def _people(count: int, each: int, corpus: str = "c", split: str = "") -> list[Recording]:
    return [r for n in range(count) for r in _spoken(f"{corpus}:{split}{n}", each, split)]


def _plan(recordings: list[Recording], findings: Findings | None = None, **settings: object) -> Protocol:
    digests = {r.utterance: r.utterance for r in recordings}
    return plan(recordings, digests, findings or Findings(), **settings)  # type: ignore[arg-type]


def test_without_roles_half_of_each_enrols_up_to_twenty() -> None:
    found = _plan(_people(4, 7) + _spoken("c:much", 60))
    enrolled, tried = (Counter(r.speaker for r in part) for part in (found.enrol, found.trial))
    assert (enrolled["c:0"], tried["c:0"]) == (3, 4)
    assert (enrolled["c:much"], tried["c:much"]) == (20, 40)
    assert not {r.utterance for r in found.enrol} & {r.utterance for r in found.trial}


def test_roles_are_kept() -> None:
    recordings = [r for n in range(4) for r in _spoken(f"c:{n}", 2, role="enrol") + _spoken(f"c:{n}", 3, role="trial", start=5)]
    findings = Findings()
    found = _plan([*recordings, *_spoken("c:0", 1, start=9)], findings)
    assert {r.role for r in found.enrol} == {"enrol"}
    assert {r.role for r in found.trial} == {"trial"}
    assert findings.names == {NO_ROLE: ["c:0-9"]}


def test_order_and_parts_follow_from_the_seed() -> None:
    people = _people(5, 8)
    first, again, other = (_plan(p, seed=s) for p, s in ((people, 0), (people[::-1], 0), (people, 1)))
    assert first.enrol == again.enrol
    assert first.trial == again.trial
    assert first.enrol != other.enrol


def test_training_speakers_are_learnt_from_and_nobody_else() -> None:
    found = _plan(_people(6, 4, split="dev") + _people(30, 25, split="train"))
    (fold,) = found.folds
    assert fold.speakers == {f"c:dev{n}" for n in range(6)}
    assert {r.split for r in fold.known} == {"train"}
    assert set(Counter(r.speaker for r in fold.known).values()) == {20}
    assert "30 other speakers" in found.notes[0]


@pytest.mark.parametrize("teachers", [0, 2])
def test_without_enough_others_halves_learn_from_each_other(teachers: int) -> None:
    found = _plan(_people(11, 6) + _people(teachers, 4, split="train"))
    first, second = found.folds
    assert not first.speakers & second.speakers
    assert len(first.speakers | second.speakers) == 11
    for fold, other in ((first, second), (second, first)):
        learnt = {r.speaker for r in fold.known}
        assert not learnt & fold.speakers
        assert learnt == other.speakers | {f"c:train{n}" for n in range(teachers)}


def test_halves_are_of_each_corpus() -> None:
    found = _plan(_people(6, 4) + _people(5, 4, corpus="d"))
    for fold in found.folds:
        assert {speaker[0] for speaker in fold.speakers} == {"c", "d"}


def test_too_few_to_halve_nobody_learns() -> None:
    found = _plan(_people(5, 4))
    assert found.folds == ()
    assert "no attacker learns" in found.notes[0]


def test_a_split_by_name() -> None:
    every = _people(6, 4, split="dev") + _people(12, 4, split="train")
    found = _plan(every, split="train")
    assert set(found.speakers) == {f"c:train{n}" for n in range(12)}
    learnt = {r.speaker for fold in found.folds for r in fold.known}
    assert all(not {r.speaker for r in fold.known} & fold.speakers for fold in found.folds)
    assert {f"c:dev{n}" for n in range(6)} <= learnt
    with pytest.raises(ValueError, match="dev, train"):
        _plan(every, split="test")
    with pytest.raises(ValueError, match="--split train"):
        _plan(_people(6, 4, split="train"))


def test_what_is_left_out_is_named() -> None:
    people = _people(4, 4) + _spoken("c:one", 1) + _people(3, 4, corpus="d") + _people(20, 2, split="train")
    people += _spoken("c:mute", 3, role="enrol") + _spoken("c:new", 3, role="trial")
    people += _spoken("c:both", 3) + _spoken("c:both", 2, split="train", start=5) + _spoken("c:once", 1, split="train")
    findings = Findings()
    found = _plan(people, findings)
    assert found.speakers == [f"c:{n}" for n in range(4)]
    assert findings.names == {
        IN_BOTH: ["c:both"],
        ONE: ["c:one"],
        NO_TRIAL: ["c:mute"],
        NO_ENROLMENT: ["c:new"],
        FEW: ["d (3)"],
        ONE_KNOWN: ["c:once"],
    }


def test_corpora_together_need_no_four_speakers_each() -> None:
    assert len(_plan(_people(3, 4) + _people(3, 4, corpus="d"), across=True).speakers) == 6


def test_the_same_samples_do_not_enrol_and_try() -> None:
    people = [r for n in range(4) for r in _spoken(f"c:{n}", 2, role="enrol") + _spoken(f"c:{n}", 2, role="trial", start=5)]
    digests = {r.utterance: r.utterance for r in people} | {"c:0-0": "c:0-5"}
    findings = Findings()
    found = plan(people, digests, findings)
    assert "c:0-0" not in {r.utterance for r in found.enrol}
    assert "c:0-5" in {r.utterance for r in found.trial}
    assert findings.names == {OVERLAP: ["c:0-0"]}


def test_too_few_speakers_are_an_error_that_says_why() -> None:
    with pytest.raises(ValueError, match=r"3 speakers.*4 are needed.*one utterance, not attacked: 2"):
        _plan(_people(3, 4) + _spoken("c:x", 1) + _spoken("c:y", 1), across=True)

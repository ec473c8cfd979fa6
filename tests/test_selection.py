"""Who is chosen: evenly, the same every time, and nobody who was trained on."""

from collections import Counter

import pytest
from velavox.bench.selection import ENROLMENTS, KNOWN, TRIALS, choose, person, spread
from velavox.models_onnx.training.corpora import Utterance


def _said(
    source: str, speaker: str, split: str, role: str, count: int, text: str = "WORDS", seconds: float = 4.0
) -> list[Utterance]:
    return [
        Utterance(f"{source}-{speaker}-{split}{role}{n}", f"{source}:{speaker}", source, "", seconds, split, role, "en", text)
        for n in range(count)
    ]


def _manifest() -> list[Utterance]:
    found = [
        u
        for s in range(6)
        for u in _said("libri_a", f"d{s}", "dev", "enrol", 9) + _said("libri_a", f"d{s}", "dev", "trial", 20)
    ]
    found += [u for s in range(8) for u in _said("libri_b", f"t{s}", "train", "", 15)]
    found += _said("libri_b", "once", "train", "", 1) + _said("other", "t", "train", "", 9)
    return found


def test_everybody_counts_alike() -> None:
    chosen = choose(_manifest(), 24)
    assert set(Counter(person(u) for u in chosen.heard).values()) == {4}
    assert set(Counter(person(u) for u in chosen.trial).values()) == {TRIALS}
    assert set(Counter(person(u) for u in chosen.enrol).values()) == {ENROLMENTS}
    assert set(Counter(person(u) for u in chosen.known).values()) == {KNOWN}
    assert {u.role for u in chosen.trial + chosen.heard} == {"trial"}
    assert len({u.utterance for u in chosen.trial}) == 6 * TRIALS
    assert choose(_manifest(), 24) == chosen


def test_attackers_learn_from_several_utterances_of_the_same_corpora() -> None:
    assert {person(u) for u in choose(_manifest(), 6).known} == {f"libri:t{s}" for s in range(8)}


def test_who_is_trained_on_in_another_folder_is_left_out_and_named() -> None:
    chosen = choose(_manifest() + _said("libri_c", "d3", "train", "", 2), 24)
    people = {person(u) for us in (chosen.trial, chosen.enrol, chosen.heard) for u in us}
    assert people == {f"libri:d{s}" for s in (0, 1, 2, 4, 5)}
    assert any("libri:d3" in note for note in chosen.notes)


def test_few_speakers_are_heard_but_not_attacked() -> None:
    few = _said("zh", "z0", "dev", "trial", 5) + _said("zh", "z0", "dev", "enrol", 5)
    chosen = choose(_manifest() + few, 6)
    assert {person(u) for u in chosen.heard} - {person(u) for u in chosen.trial} == {"zh:z0"}
    assert any(note.startswith("zh: not attacked") for note in chosen.notes)
    with pytest.raises(ValueError, match="zh: not attacked"):
        choose(few, 6)


def test_without_words_or_role() -> None:
    silent = [u for s in range(6) for u in _said("libri_a", f"d{s}", "dev", "trial", 3, text="")]
    synthetic = _said("synth", "s", "dev", "", 30)
    enrolled = [u for u in _manifest() if u.role == "enrol"]
    chosen = choose(enrolled + silent + synthetic, 12)
    assert len(chosen.trial) == 18
    assert [person(u) for u in chosen.heard] == ["synth:s"] * 12


def test_missing_enrolment_and_short_trials_are_told() -> None:
    more = _said("libri_a", "new", "dev", "trial", 4) + [
        u for s in range(4) for u in _said("libri_a", f"d{s}", "dev", "trial", 1, seconds=1)
    ]
    chosen = choose(_manifest() + more, 1000)
    assert any("1 speakers without enrolment" in note for note in chosen.notes)
    assert any(note.startswith("4 trials are shorter") for note in chosen.notes)


def test_spread() -> None:
    assert spread(range(10), 3) == [0, 3, 6]
    assert spread(range(3), 9) == [0, 1, 2]

"""Figures whose original baseline is implausible are found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from audits import attack, audit
from velavox.bench.audit.plausible import Baseline
from velavox.bench.audit.result import Audit
from velavox.bench.bootstrap import Figure

pytestmark = pytest.mark.nojit

GOOD = audit("original", 4, 4, 3, 0.08)
DP = audit("dp", 0.5, 1, 1, 0.3)


def doubts(*audits: Audit) -> list[str]:
    return Baseline.among(audits).doubts(audits)


def test_good_originals_raise_no_doubt() -> None:
    assert doubts(GOOD, DP) == []
    baseline = Baseline.among([DP, GOOD])
    assert [baseline.doubt(a) for a in DP.attacks] == [""] * len(DP.attacks)
    assert baseline.doubt_of_words("wer") == ""


def test_no_originals_are_a_doubt() -> None:
    (found,) = doubts(DP)
    assert "originals were not audited" in found
    assert doubts() == []


def test_an_encoder_that_does_not_know_the_speakers() -> None:
    weak = replace(GOOD, attacks=(attack("ignorant", 1.0, encoder="ge2e"), attack("ignorant", 4, encoder="dvector")))
    baseline = Baseline.among([weak, DP])
    marked = {a.encoder for a in DP.attacks if a.form == "relaxed" and a.privacy == "user" and baseline.doubt(a)}
    assert marked == {"ge2e"}
    (found,) = (text for text in doubts(weak, DP) if "their own voices" in text)
    assert "ignorant on original speech, by ge2e" in found


def test_the_best_attacker_on_originals_counts() -> None:
    both = replace(GOOD, attacks=(attack("ignorant", 1.0), attack("semi-informed", 4.0)))
    assert Baseline.among([both]).doubt(attack("ignorant", 0.5)) == ""


def test_an_attribute_that_is_not_heard_in_originals() -> None:
    deaf = replace(GOOD, attacks=(*GOOD.attacks[:-1], attack("cosine", 0, privacy="gender", pooling="", enrolment=0)))
    (found,) = (text for text in doubts(deaf, DP) if "gender" in text and "Marked" in text)
    assert "gender is not heard in the original speech either" in found
    faint = replace(GOOD, attacks=(*GOOD.attacks[:-1], attack("cosine", 1, privacy="gender", pooling="", enrolment=0)))
    assert not any("Marked" in text for text in doubts(faint, DP))


def test_a_recogniser_that_does_not_understand_originals() -> None:
    far = replace(GOOD, utility={"wer": Figure(0.55, 0.5, 0.6), "dnsmos": Figure(1.5)})
    assert "Marked (?): WER of the original speech is 55.0%." in doubts(far, DP)
    assert Baseline.among([far]).doubt_of_words("dnsmos") == ""


def test_attackers_whom_anonymized_speech_helps() -> None:
    odd = replace(DP, attacks=(attack("ignorant", 6.0, enrolment=1),))
    before = replace(GOOD, attacks=(attack("ignorant", 1.0, enrolment=1),))
    (found,) = (text for text in doubts(before, odd) if "more surely" in text)
    assert found.startswith("dp: ignorant (ge2e) finds the speaker more surely than in original speech, EER ")
    assert not any("more surely" in text for text in doubts(odd, replace(GOOD, attacks=odd.attacks)))
    other_length = replace(before, attacks=(attack("ignorant", 1.0, enrolment=5),))
    assert not any("more surely" in text for text in doubts(other_length, odd))

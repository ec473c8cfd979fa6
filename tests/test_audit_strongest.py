"""Which attacks a report shows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from audits import attack, audit
from velavox.bench.audit.result import Attack
from velavox.bench.audit.strongest import asked, by_attacker, by_encoder, of, rates, resolved_rate, strongest, variant, worst_at
from velavox.bench.bootstrap import Figure

pytestmark = pytest.mark.nojit

WEAK, STRONG = attack("a", 0.5), attack("b", 3.0, enrolment=20, pooling="maximum", encoder="both")


def with_hits(value: float, low: float, resolved: bool = True) -> Attack:
    """At a false alarm rate of 1 %."""
    points = tuple(
        replace(p, tpr=Figure(value, low, 1.0), resolved=resolved)
        if p.fpr == 1e-2
        else replace(p, tpr=Figure(0, 0, 1), resolved=False)
        for p in WEAK.summary.points
    )
    return replace(WEAK, summary=replace(WEAK.summary, points=points))


def test_the_strongest_has_the_lowest_error_rate_and_of_equals_the_least_speech() -> None:
    assert strongest([WEAK, STRONG]) is strongest([STRONG, WEAK]) is STRONG
    less = replace(STRONG, enrolment=3)
    assert strongest([STRONG, less]) is less


def test_the_worst_at_a_rate_is_sure_of_most_hits() -> None:
    sure, lucky = with_hits(0.2, 0.15), with_hits(0.4, 0.01)
    found = worst_at([lucky, sure], 1e-2)
    assert found is not None
    assert found[0] is sure
    assert found[1].tpr.value == 0.2
    assert worst_at([lucky], 0.3) is None
    assert worst_at([], 1e-2) is None


def test_rates_that_most_attacks_resolve() -> None:
    assert rates([WEAK]) == [1e-2, 1e-3, 1e-4]
    assert resolved_rate([with_hits(0.2, 0.1)]) == 1e-2
    blind = with_hits(0.2, 0.0, resolved=False)
    assert resolved_rate([blind]) is None
    assert resolved_rate([blind, blind, with_hits(0.2, 0.1)]) is None
    assert resolved_rate([with_hits(1.0, 0.9, resolved=False)]) == 1e-2  # no upper end, but known to be large


def test_questions_and_groups() -> None:
    one = audit("mcadams", 1, 3, 2, 0.1)
    assert asked([one]) == [("user", "relaxed"), ("user", "strict"), ("gender", "relaxed")]
    assert {a.channel for a in of(one, "user", "relaxed")} == {"all"}
    assert [a.channel for a in of(one, "user", "relaxed", "cross")] == ["cross"]
    groups = by_attacker(of(one, "user", "relaxed"))
    assert list(groups) == ["ignorant", "semi-informed"]
    assert {name: len(some) for name, some in by_encoder(groups["ignorant"]).items()} == {"ge2e": 6, "dvector": 1}


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (STRONG, "both encoders, 20 enrolments, maximum"),
        (replace(WEAK, enrolment=1), "ge2e, 1 enrolment, average"),
        (replace(WEAK, enrolment=0, pooling=""), "ge2e"),
    ],
)
def test_variants_in_words(one: Attack, text: str) -> None:
    assert variant(one) == text

"""Audits for tests of reports, with figures of scores drawn as those of real attackers lie."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from velavox.bench.audit.result import Attack, Audit
from velavox.bench.audit.summary import Summary, summarise
from velavox.bench.bootstrap import Figure
from velavox.bench.trials import Trials

SPEAKERS, EACH = 12, 6
KNOWS = {
    "ignorant": "has original speech of the speakers",
    "semi-informed": "anonymizes enrolments, and has learnt from anonymized speech of other speakers",
}


@cache
def summary(apart: float, seed: int = 0, classes: bool = False) -> Summary:
    """Of scores of which true claims are so many standard deviations higher."""
    random = np.random.default_rng(seed)
    who = np.repeat(np.arange(SPEAKERS), EACH * SPEAKERS)
    claimed = np.tile(np.arange(SPEAKERS), EACH * SPEAKERS)
    names = np.array([f"set:{i:02}" for i in range(SPEAKERS)])
    if classes:
        same = who % 2 == claimed % 2
        return summarise(Trials(random.standard_normal(len(who)) + apart * same, same, list(names[who])), seed)
    values = random.standard_normal(len(who)) + apart * (who == claimed)
    return summarise(Trials.between(values, list(names[who]), list(names[claimed])), seed)


def attack(attacker: str, apart: float, seed: int = 0, **changed: Any) -> Attack:
    given: dict[str, Any] = {
        "privacy": "user",
        "form": "relaxed",
        "knows": KNOWS.get(attacker, "knows the classes"),
        "encoder": "ge2e",
        "pooling": "average",
        "enrolment": 5,
        "channel": "all",
        "speakers": SPEAKERS,
    } | changed
    return Attack(attacker=attacker, summary=summary(round(2 * apart) / 2, seed, given["privacy"] != "user"), **given)


def audit(condition: str, ignorant: float, semi: float, gender: float, wer: float, **changed: Any) -> Audit:
    """`ignorant`, `semi` and `gender`: how far apart the scores of these attackers lie."""
    attacks = [
        attack(name, apart * (0.6 + 0.1 * enrolment**0.5), pooling=pooling, enrolment=enrolment)
        for name, apart in (("ignorant", ignorant), ("semi-informed", semi))
        for pooling in ("average", "maximum")
        for enrolment in (1, 5, 20)
    ]
    attacks += [
        attack(name, 0.9 * apart, encoder="dvector") for name, apart in (("ignorant", ignorant), ("semi-informed", semi))
    ]
    attacks += [attack("ignorant", 1.2 * ignorant, channel="same"), attack("ignorant", 0.8 * ignorant, channel="cross")]
    if condition == "mcadams":
        attacks.append(attack("ignorant", 0.5 * ignorant, form="strict"))
    attacks.append(attack("cosine", gender, privacy="gender", pooling="", enrolment=0))
    given: dict[str, Any] = {
        "delay_ms": 20.0,
        "scope": "",
        "utility": {"wer": Figure(wer, 0.9 * wer, 1.1 * wer), "dnsmos": Figure(2.9, 2.8, 3.0), "fbank_distance": Figure(7.5)},
        "counts": {"speakers": SPEAKERS, "trials_under_2_s": 3},
        "notes": ("1 recording is silent, and left out",),
        "made": {"velavox": "0.1.0", "seed": 7, "command": "velavox audit speech --method mcadams"},
    } | changed
    return Audit(condition=condition, attacks=tuple(attacks), **given)


def audits() -> tuple[Audit, ...]:
    scope = "mu 1, calibration sound. The bound speaks of the speaker embedding alone."
    return (
        audit("original", 5.0, 5.0, 3.0, 0.08, delay_ms=0.0),
        audit("mcadams", 1.0, 3.5, 2.0, 0.10),
        audit("dp:mode=low,mu=1", 0.4, 1.0, 0.8, 0.26, delay_ms=52.5, scope=scope),
        audit("/data/<other> folder", 0.7, 1.6, 1.0, 0.12, delay_ms=math.nan, utility={}),
    )

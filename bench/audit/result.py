"""What an audit found, as it is kept and handed on: one JSON file of one or several audits.

No figure stands without who attacked, what he knew and how much he was given.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ... import __version__
from ...engine import jsonfile
from ..bootstrap import Figure
from .codec import made, plain
from .summary import Summary

FORMAT = "velavox audit 1"


@dataclass(frozen=True)
class Attack:
    """One attacker on one question, and how far he got."""

    privacy: str  # what is asked: "user", or the attribute, such as "gender"
    form: str  # "relaxed": any text; "strict": the same text, and one thing differs
    attacker: str  # such as "semi-informed"
    knows: str  # what he knows, in a sentence
    encoder: str  # that turns speech into vectors
    pooling: str  # over the enrolment utterances: "average" or "maximum" similarity; "" where there are none
    enrolment: int  # utterances of each enrolled speaker; 0 where nobody is enrolled
    channel: str  # of the trials: "all", "same" or "cross", as the enrolment
    speakers: int  # who are attacked
    summary: Summary
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Audit:
    """One method, or the originals, which are audited in the same way."""

    condition: str  # as `Condition` writes it, or the name of a folder
    delay_ms: float  # of the method; NaN where it is not known
    scope: str  # what the DP bound speaks of and what not; "" where there is no bound
    attacks: tuple[Attack, ...]
    utility: dict[str, Figure] = field(default_factory=dict)  # by name, such as "wer" (from 0 to 1)
    counts: dict[str, int] = field(default_factory=dict)  # speakers, utterances, trials, left out
    notes: tuple[str, ...] = ()
    made: dict[str, Any] = field(default_factory=dict)  # versions, seeds, command, data


def distinct(audits: Sequence[Audit]) -> tuple[Audit, ...]:
    """Each once: the originals are audited anew with every method, and the figures are the same."""
    found: dict[str, Audit] = {}
    for audit in audits:
        found.setdefault(json.dumps(plain(replace(audit, made={})), sort_keys=True), audit)
    return tuple(found.values())


def as_json(audits: Sequence[Audit]) -> dict[str, Any]:
    """All of it, in plain types; what is not finite becomes None."""
    return {"format": FORMAT, "velavox": __version__, "audits": plain(list(audits))}


def from_json(value: Any) -> tuple[Audit, ...]:
    """What `as_json` gave, even after a way through a file. ValueError, in a line, that says where it is no such thing."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        remedy = "give result.json of `velavox audit speech`, or what `velavox audit mechanism` wrote with --json"
        raise ValueError(f"is no result of an audit, which says {FORMAT!r}; {remedy}")
    if not isinstance(value.get("audits"), list):
        raise ValueError("audits: is no list; write the result again")
    return tuple(made(Audit, each, f"audits[{i}]") for i, each in enumerate(value["audits"]))


def write(path: Path, audits: Sequence[Audit]) -> None:
    """Make or replace the file; OSError when that cannot be done."""
    jsonfile.write(path, as_json(audits))


def read(path: Path) -> tuple[Audit, ...]:
    """OSError when it cannot be read; ValueError, in a line with the path, when it is no result."""
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:  # no JSON, or no text, either
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from error

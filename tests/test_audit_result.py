"""Results of audits as files."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from audits import attack, audit
from velavox.bench.audit.result import FORMAT, as_json, from_json, read, write
from velavox.bench.bootstrap import Figure

pytestmark = pytest.mark.nojit


def test_a_file_holds_all_of_it(tmp_path: Path) -> None:
    audits = [
        audit("original", 4, 4, 3, 0.05),
        audit("dp", 0.5, 1, 1, 0.3, scope="of the embedding alone", notes=("one", "two")),
    ]
    write(tmp_path / "made" / "result.json", audits)
    found = read(tmp_path / "made" / "result.json")
    assert repr(found) == repr(tuple(audits))  # NaN equals nothing, not even itself
    assert found[1].attacks[0].summary == audits[1].attacks[0].summary


def test_what_is_not_known_is_null_in_the_file(tmp_path: Path) -> None:
    one = replace(audit("folder", 1, 1, 1, 0.1), delay_ms=math.nan, utility={"wer": Figure(0.1)})
    write(tmp_path / "result.json", [one])
    text = (tmp_path / "result.json").read_text()
    assert "NaN" not in text
    (value,) = json.loads(text)["audits"]
    assert (value["delay_ms"], value["utility"]["wer"]) == (None, {"value": 0.1, "low": None, "high": None})
    assert math.isnan(read(tmp_path / "result.json")[0].delay_ms)


def test_defaults_may_be_missing() -> None:
    value = {"format": FORMAT, "audits": [{"condition": "c", "delay_ms": 1, "scope": "", "attacks": []}]}
    (found,) = from_json(value)
    assert (found.utility, found.counts, found.notes, found.made) == ({}, {}, (), {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Expecting property name"),
        ("[]", "is no result of an audit"),
        ('{"format": "velavox audit 2", "audits": []}', "is no result of an audit, which says 'velavox audit 1'"),
        (f'{{"format": "{FORMAT}"}}', "audits: is no list"),
        (f'{{"format": "{FORMAT}", "audits": [{{"condition": 3}}]}}', r"audits\[0\].condition: is a int, no str"),
        ("\xff", "codec can't decode"),
    ],
)
def test_other_files_are_refused_in_a_line_with_their_path(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_what_is_wrong_inside_is_named() -> None:
    value = json.loads(json.dumps(as_json([audit("dp", 1, 1, 1, 0.1)])))
    value["audits"][0]["attacks"][2]["summary"]["points"][1]["tpr"]["value"] = "high"
    with pytest.raises(
        ValueError, match=r"^audits\[0\].attacks\[2\].summary.points\[1\].tpr.value: is a str, no int or float$"
    ):
        from_json(value)


def test_an_attack_says_who_and_what_he_knows() -> None:
    value = as_json([audit("dp", 1, 1, 1, 0.1)])["audits"][0]["attacks"][0]
    one = attack("ignorant", 1)
    assert {name: value[name] for name in ("attacker", "knows", "encoder")} == {
        "attacker": "ignorant",
        "knows": one.knows,
        "encoder": "ge2e",
    }

"""Each recording is looked at first: what is left out has a name, what would spoil everything ends the audit."""

from pathlib import Path

import pytest
from velavox.bench.audit import checked
from velavox.bench.audit.checked import (
    DAMAGED,
    IDENTICAL,
    LENGTH,
    LITTLE,
    NOT_FINITE,
    ONE_SOUND,
    RATE_TOLD,
    SILENT,
    UNREADABLE,
    UNSURE,
)
from velavox.bench.audit.embedded import Sound
from velavox.bench.audit.findings import Findings
from velavox.bench.audit.recordings import Recording

pytestmark = pytest.mark.nojit


def _sound(digest: str, seconds: float = 4.0, **more: object) -> Sound:
    return Sound(Path(digest), **{"digest": digest, "seconds": seconds, "speech": 3.0, "rate": 16_000} | more)  # type: ignore[arg-type]


def _recordings(*names: str) -> list[Recording]:
    return [Recording(name, f"c:{name[0]}", Path(name)) for name in names]


def test_originals_that_cannot_be_used_are_named() -> None:
    sounds = {
        "a1": _sound("1"),
        "a2": _sound("2", trouble="empty file"),
        "a3": _sound("3", speech=0.0),
        "a4": _sound("4", speech=0.3),
        "b1": _sound("1"),
        "b2": _sound("5", warnings=("cut short",), not_finite=7),
    }
    findings = Findings()
    kept = checked.originals(_recordings(*sounds), sounds, findings)
    assert [r.utterance for r in kept] == ["a1", "b1", "b2"]
    assert findings.names == {
        UNREADABLE: ["a2 (empty file)"],
        SILENT: ["a3"],
        LITTLE: ["a4 (0.30 s)"],
        DAMAGED: ["b2 (cut short)"],
        NOT_FINITE: ["b2 (7)"],
        ONE_SOUND: ["b1 (a1, who is c:a there and c:b here)"],
    }


def test_nothing_that_can_be_used() -> None:
    with pytest.raises(ValueError, match=r"none of 1.*silent"):
        checked.originals(_recordings("a"), {"a": _sound("1", speech=0.0)}, Findings())


def test_anonymized_ones_likewise() -> None:
    names = ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"]
    before = {name: _sound(f"o{name}") for name in names}
    after = {name: _sound(f"m{name}") for name in names}
    after["a2"] = _sound("oa2")
    after["a3"] = _sound("s", speech=0.0)
    after["a4"] = _sound("l", 5.0)
    after["a5"] = _sound("r", 12.0)
    del after["a6"]
    findings = Findings()
    assert checked.anonymized(_recordings(*names), before, after, findings) == {"a1", "a2", "a4", "a7", "a8"}
    assert findings.names == {
        SILENT: ["a3"],
        IDENTICAL: ["a2"],
        LENGTH: ["a4 (x 1.25)"],
        RATE_TOLD: ["a5 (x 3.000)"],
    }


@pytest.mark.parametrize("ratio", [3.0, 1 / 3, 44.1 / 16, 2.0, 0.5, 48 / 44.1])
def test_a_wrong_rate_of_most_ends_the_audit(ratio: float) -> None:
    names = ["a1", "a2", "a3"]
    before = {name: _sound(f"o{name}") for name in names}
    after = {name: _sound(f"m{name}", 4.0 * ratio) for name in names[:2]} | {"a3": _sound("m")}
    with pytest.raises(ValueError, match=r"wrong rate"):
        checked.anonymized(_recordings(*names), before, after, Findings())


def test_lengths_that_change_anyway_tell_no_rate() -> None:
    ratios = [0.7, 0.81, 0.9187, 0.97, 1.02, 1.0884, 1.2, 1.3335]
    before = {f"a{n}": _sound(f"o{n}") for n in range(len(ratios))}
    after = {f"a{n}": _sound(f"m{n}", 4 * ratio) for n, ratio in enumerate(ratios)}
    findings = Findings()
    assert checked.anonymized(_recordings(*before), before, after, findings) == set(before)
    assert list(findings.names) == [LENGTH]


def test_what_was_not_anonymized_at_all_ends_the_audit() -> None:
    before = {name: _sound(name) for name in ("a1", "a2")}
    with pytest.raises(ValueError, match="all 2 recordings"):
        checked.anonymized(_recordings("a1", "a2"), before, before, Findings())


def test_most_of_it_missing_ends_the_audit() -> None:
    before = {name: _sound(name) for name in ("a1", "a2", "a3")}
    with pytest.raises(ValueError, match="2 of 3 recordings, as a2"):
        checked.anonymized(_recordings(*before), before, {"a1": _sound("m")}, Findings())


def test_short_trials_are_counted() -> None:
    findings = Findings()
    sounds = {"a": _sound("1", speech=1.9), "b": _sound("2", speech=2.0), "c": _sound("3", speech=0.6)}
    assert checked.short(["a", "b"], sounds, findings) == 1
    assert findings.names == {UNSURE: ["a"]}


def test_rates_are_told() -> None:
    sounds = [_sound("1"), _sound("2"), _sound("3", rate=48_000), _sound("4", trouble="gone", rate=8000)]
    assert checked.rates(sounds) == "16000 Hz: 2 files, 48000 Hz: 1 file"

import json

from eavesdrop import Ear, Failing, crash, guard, passed_through, speech


def test_the_report_is_plain_json_and_says_all() -> None:
    with guard() as guarded:
        passed_through(guarded, speech(4.0, (1.0, 1.25), (2.5, 2.75)))
        told = json.loads(json.dumps(guarded.report().as_json()))
    assert told["found"] == 2
    assert told["terms"] == {"3f9a": 2}
    assert told["events"][1] == {
        "at": 2.5,
        "seconds": 0.25,
        "kind": "word",
        "term": "3f9a",
        "detectors": ["ear"],
        "after": 0.25,
        "heard": 0.0,
    }
    assert told["known_after_p50"] == 0.25
    assert told["detectors"][0]["looks"] == 17  # one each 0.25 s, one at the end
    assert "Words that they miss are heard" in told["scope"]


def test_troubles_are_lines() -> None:
    with guard(Ear(), Failing(crash, after=3, name="deaf")) as guarded:
        passed_through(guarded, speech(4.0, (3.0, 3.25)))
        report = guarded.report()
    assert report.line.startswith("1 found (word 1), ")
    assert report.line.endswith(" s of 4.0 s hidden")
    assert report.troubles[0] == "detector deaf failed 14 times, last with RuntimeError: what it had not passed is silent"
    assert "s are silent, since a detector had not passed them in time" in report.troubles[1]
    assert [work.name for work in report.failed] == ["deaf"]


def test_without_trouble_there_are_no_lines() -> None:
    with guard() as guarded:
        passed_through(guarded, speech(2.0, (1.0, 1.25)))
        assert guarded.report().troubles == []
        assert guarded.report().failed == ()

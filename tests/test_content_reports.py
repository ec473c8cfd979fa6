"""The table of what others met: every report has a test, and each test that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROWS = re.findall(
    r"^\| (C\d\d) \|.*`(\w+\.py)::(\w+)` \|$", (TESTS.parent / "docs/content-reports.md").read_text("utf-8"), re.M
)


def test_every_report_has_a_row() -> None:
    assert [number for number, _, _ in ROWS] == [f"C{n:02}" for n in range(1, 23)]


@pytest.mark.parametrize(("number", "file", "test"), ROWS)
def test_the_test_of_a_report_is_there_and_says_so(number: str, file: str, test: str) -> None:
    source = (TESTS / file).read_text("utf-8")
    assert f"def {test}(" in source
    assert number in source

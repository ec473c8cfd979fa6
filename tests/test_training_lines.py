"""Files that grow by lines, and the journal: a run that was killed in the middle of a line spoils nothing."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from velavox.models_onnx.training.journal import Journal
from velavox.models_onnx.training.lines import append_to, read_lines


def test_lines_are_there_as_soon_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lines"
    assert read_lines(path) == []
    with append_to(path) as file:
        for number in range(3):
            file.write(f"{number}\n")
            assert read_lines(path) == [str(n) for n in range(number + 1)]


@pytest.mark.parametrize("cut", range(1, 6))
def test_a_part_of_a_line_counts_for_nothing_and_is_cut_off(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "lines"
    whole = "one\nzwölf\n".encode()
    path.write_bytes(whole[:-cut])
    assert read_lines(path) == ["one"]
    with append_to(path) as file:
        file.write("zwölf\n")
    assert path.read_bytes() == whole


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    with append_to(path) as file:
        file.write("a\u2028b\x0bc\n\nd\n")
    assert read_lines(path) == ["a\u2028b\x0bc", "", "d"]


def test_the_journal_says_its_lines_and_keeps_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Journal(tmp_path / "work")("begun")
    Journal(tmp_path / "work")("gone on")
    said = capsys.readouterr().err
    assert re.fullmatch(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) begun\n\d{4}\S+ \S+ gone on\n", said)
    assert (tmp_path / "work" / "log.txt").read_text() == said


def test_the_journal_passes_all_items_on_and_says_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 20))  # seconds an item
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    assert list(Journal(tmp_path).each("work", "abcde", 5)) == list("abcde")
    lines = [line.split(" ", 2)[2] for line in (tmp_path / "log.txt").read_text().splitlines()]
    assert lines == ["work: 2 of 5, 1 min to go", "work: 4 of 5, 0 min to go", "work: 5 of 5, 0 min to go"]

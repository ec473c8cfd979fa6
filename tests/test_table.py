"""Tables as users hand them in: with a byte order mark, with names in any encoding, and what is no table at all."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from velavox.engine.table import open_table

pytestmark = pytest.mark.nojit


def test_rows_by_column_with_and_without_a_mark(tmp_path: Path) -> None:
    for mark in (b"", b"\xef\xbb\xbf"):
        (tmp_path / "t.csv").write_bytes(mark + b'path,who\r\n"a, b",Ann\r\n\xff.wav,Ben\r\n')
        with open_table(tmp_path / "t.csv") as rows:
            assert list(rows) == [{"path": "a, b", "who": "Ann"}, {"path": os.fsdecode(b"\xff.wav"), "who": "Ben"}]


def test_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), open_table(tmp_path / "missing.csv"):
        pass
    for path in (tmp_path, Path(os.devnull)):
        with pytest.raises(csv.Error, match="not a regular file"), open_table(path):
            pass

"""A table that a user hands in: a CSV file whose first line names the columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_table(path: Path) -> Iterator[csv.DictReader[str]]:
    """Its rows. OSError when it cannot be opened, csv.Error (while reading, too) when it is no such table."""
    if path.exists() and not path.is_file():  # a pipe may never open, /dev/zero never ends
        raise csv.Error("not a regular file")
    # Excel writes a byte order mark; file names need not be UTF-8.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        yield csv.DictReader(file)

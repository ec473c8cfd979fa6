"""Text files that grow by whole lines: a kill or a full disk may leave a part of the last one, which counts for nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TextIO


def read_lines(path: Path) -> list[str]:
    """The whole lines of `path`; none if it is not there."""
    if not path.exists():
        return []
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1].decode("utf-8").split("\n")[:-1]


def append_to(path: Path) -> TextIO:
    """`path` open for further lines, each of which is in the file once it is written; what is there of a part is cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
    return path.open("a", buffering=1, encoding="utf-8", newline="")

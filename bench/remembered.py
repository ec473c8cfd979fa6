"""What was found out once, remembered by its key: an interrupted run goes on, a repeated one costs little."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from ..kernels.jit import F32


def digest(samples: F32, how: str = "") -> str:
    """The key of speech by its content, and of `how` it was looked at."""
    return hashlib.sha256(how.encode() + np.ascontiguousarray(samples).tobytes()).hexdigest()[:32]


class Remembered:
    """Values of JSON by key in one file, to which a line is added for each: whatever ends a run costs at most its last line.

    One process writes.
    """

    def __init__(self, path: Path) -> None:
        """Read what is there, and make the folder that it lies in."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._known: dict[str, Any] = {}
        self._torn = False  # the file ends within a line: a run was interrupted
        if path.exists():
            text = path.read_text(encoding="utf-8", errors="replace")
            self._torn = bool(text) and not text.endswith("\n")
            for line in text.split("\n"):
                try:
                    key, value = json.loads(line)
                except (ValueError, TypeError):
                    continue
                self._known[key] = value

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Any:
        return self._known[key]

    def __setitem__(self, key: str, value: Any) -> None:
        """Remember a value; on disk before this returns."""
        self._known[key] = value
        line = json.dumps([key, value], ensure_ascii=False) + "\n"
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" * self._torn + line)
        self._torn = False

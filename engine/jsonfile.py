"""Results as a JSON file: whole under its name, or not there at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .atomic import atomically


def as_text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1)


def write(path: Path, value: Mapping[str, Any]) -> None:
    """Make or replace `path`, and the folders that it lies in; OSError when that cannot be done."""
    with atomically(path) as part:
        part.write_text(as_text(value) + "\n", encoding="utf-8")

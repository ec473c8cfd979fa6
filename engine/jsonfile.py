"""Results as a JSON file: whole under its name, or not there at all."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any


def as_text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1)


def write(path: Path, value: Mapping[str, Any]) -> None:
    """Make or replace `path`, and the folders that it lies in; OSError when that cannot be done."""
    part = path.with_name(f".velavox-{secrets.token_hex(8)}.json")  # short, whatever the name's length
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(as_text(value) + "\n", encoding="utf-8")
        os.replace(part, path)
    finally:
        with suppress(OSError):
            part.unlink()

"""Files that appear whole under their names, or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomically(path: Path) -> Iterator[Path]:
    """Write to what this gives; at the end it replaces `path`. Makes the folders that it lies in. OSError as it comes."""
    part = path.with_name(f".velavox-{secrets.token_hex(8)}{path.suffix}")  # short, whatever the name's length
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        os.replace(part, path)
    finally:
        with suppress(OSError):
            part.unlink()

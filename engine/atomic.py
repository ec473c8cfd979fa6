"""Files and folders that appear whole under their names, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomically(path: Path) -> Iterator[Path]:
    """Write to what this gives; at the end it replaces `path`. Makes the folders that it lies in. OSError as it comes.

    What is written may be a folder, if `path` is not there yet.
    """
    part = path.with_name(f".velavox-{secrets.token_hex(8)}{path.suffix}")  # short, whatever the name's length
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        os.replace(part, path)
    finally:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        with suppress(OSError):
            part.unlink()

"""What the steps say: a line with the time of day on stderr, kept in the working folder's log."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from ...engine.progress import say

Item = TypeVar("Item")
_EVERY = 30.0  # seconds between lines of one loop


class Journal:
    """Lines to stderr and to `log.txt` in `folder`, which it makes."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "log.txt"

    def __call__(self, text: str) -> None:
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}"
        say(line)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def each(self, what: str, items: Iterable[Item], total: int) -> Iterator[Item]:
        """`items`, with a line now and then on how many are done."""
        start = last = time.monotonic()
        for done, item in enumerate(items):
            yield item
            now = time.monotonic()
            if now - last > _EVERY or done + 1 == total:
                left = (now - start) / (done + 1) * (total - done - 1)
                self(f"{what}: {done + 1} of {total}, {left / 60:.0f} min to go")
                last = now

"""One process at a time: a lock that the system takes back from whoever dies."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_POLL = 0.01  # s

if sys.platform == "win32":
    import msvcrt

    _TAKEN = PermissionError

    def _take(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

    def _give_back(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    _TAKEN = BlockingIOError

    def _take(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # of this opening, so that threads wait for each other too

    def _give_back(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)  # closing is not enough where a child process has inherited the file


@contextmanager
def locked(path: Path, seconds: float) -> Iterator[None]:
    """Hold the lock on the file `path`, which is made, and stays: whoever waits has it open.

    TimeoutError when another holds it for longer than `seconds`; OSError where the file or the lock is refused.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait(file, time.monotonic() + seconds)
        try:
            yield
        finally:
            with suppress(OSError):
                _give_back(file)
    finally:
        os.close(file)


def _wait(file: int, until: float) -> None:
    while True:
        try:
            return _take(file)
        except _TAKEN:
            if time.monotonic() >= until:
                raise TimeoutError("locked by another program") from None
            time.sleep(_POLL)

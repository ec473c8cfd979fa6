"""stdout and stderr as a shell may hand them over: closed, on a full disk, or with nobody left who reads."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TextIO


@contextmanager
def standard_streams() -> Iterator[None]:
    """Make both safe to write to, and write out what is left in them while a failure can still be told.

    Raises OSError (BrokenPipeError where nobody reads) if stdout does not take it all. Whatever stderr refuses is lost: it
    carries no results.
    """
    if sys.stderr is None:  # closed: print() would go to stdout, and the next file to be opened would get what libraries say
        _to_nothing(2)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name may hold what the terminal cannot show
    try:
        yield
    finally:
        try:
            _flush(sys.stderr)
        except OSError:
            _to_nothing(2)
        try:
            _flush(sys.stdout)
        except OSError:
            _to_nothing(1)
            raise


def _flush(stream: TextIO | None) -> None:
    if stream is not None:
        stream.flush()


def _to_nothing(fd: int) -> None:
    """Let `fd` lead nowhere, here and in processes to come; else Python ends with status 120 over what it cannot flush."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    if nothing != fd:
        os.dup2(nothing, fd)
        os.close(nothing)
    os.set_inheritable(fd, True)

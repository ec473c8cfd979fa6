"""Ctrl-C, and the signals that end a program, as the ordinary end of what runs until somebody ends it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

_NUMBERS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]


class Ended(BaseException):
    """A signal has ended what ran; nothing catches it but whoever goes on from there."""


class Ending:
    """A context in which signals end what runs, by `Ended`, and nothing else; main thread only.

    Within `at_once` a signal takes effect where it arrives. Elsewhere, as while something is opened that would stay open
    unless it is finished, it takes effect when `at_once` is entered. A signal that was ignored before stays so.

    Attributes:
        asked: a signal has come.
    """

    def __init__(self) -> None:
        self.asked = False
        self._may_raise = False

    @contextmanager
    def at_once(self) -> Iterator[None]:
        self._may_raise = True
        try:
            self.look()
            yield
        finally:
            self._may_raise = False
        self.look()

    def look(self) -> None:
        """End if a signal has come: what it raised gets lost in a callback of C code, so who goes round looks each time."""
        if self.asked:
            raise Ended

    def again(self) -> None:
        """Whatever has come so far has had its effect: only another signal counts."""
        self.asked = False

    def __enter__(self) -> Self:
        self._before: dict[int, Any] = {}
        for number in _NUMBERS:
            if (handler := signal.getsignal(number)) is not signal.SIG_IGN:
                self._before[number] = handler
                signal.signal(number, self._ask)
        self._hook = sys.unraisablehook
        sys.unraisablehook = self._lost
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        sys.unraisablehook = self._hook

    def _lost(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Python tells of errors that code in C swallows; `Ended` is no error, and `asked` has kept it."""
        if not issubclass(unraisable.exc_type, Ended):
            self._hook(unraisable)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if self._may_raise and not _unwinding():
            raise Ended


def _unwinding() -> bool:
    """`Ended` is on its way, and what was opened is being closed."""
    error = sys.exception()
    while error is not None and not isinstance(error, Ended):
        error = error.__context__
    return error is not None

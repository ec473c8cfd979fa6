"""Ctrl-C, and the signals that end a program, as the ordinary end of what runs until somebody ends it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

_NUMBERS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]


class _Ended(BaseException):
    """Nothing that runs catches it."""


class Ending:
    """A context that signals end, and which then is left as if all were done; main thread only.

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
            if self.asked:
                raise _Ended
            yield
        finally:
            self._may_raise = False

    def __enter__(self) -> Self:
        self._before: dict[int, Any] = {}
        for number in _NUMBERS:
            if (handler := signal.getsignal(number)) is not signal.SIG_IGN:
                self._before[number] = handler
                signal.signal(number, self._ask)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        return isinstance(error, _Ended)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if self._may_raise:
            self._may_raise = False
            raise _Ended

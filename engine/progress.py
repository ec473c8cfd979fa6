"""What a run says while it goes on, on stderr: a line for whatever needs one and, on a terminal, a bar."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from .report import Outcome

_MOST_SKIPPED = 10  # lines for each reason: a corpus has a transcript for every recording


def say(text: str) -> None:
    """One line on stderr. Where that is full, or nobody reads it, the work goes on."""
    with suppress(OSError):
        print(one_line(text), file=sys.stderr)


def counted(count: int, what: str) -> str:
    """As in "1 frame", "2 frames"."""
    return f"{count} {what}{'s' * (count != 1)}"


def one_line(text: str) -> str:
    """A file's name may hold line ends and what steers a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class Progress:
    """The bar, as a context. In a pipe or a log file there is none."""

    def __init__(self) -> None:
        self._skipped: Counter[str] = Counter()
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._bar = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TimeRemainingColumn

            columns = BarColumn(), TaskProgressColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            self._bar = self._open.enter_context(Progress(*columns, console=Console(stderr=True), transient=True))
            self._task = self._bar.add_task("", total=None)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with suppress(OSError):
            self._open.close()
        self._bar = None
        for reason, count in self._skipped.items():
            if count > _MOST_SKIPPED:
                say(f"skipped: {count - _MOST_SKIPPED} more: {reason}")

    def progress(self, done: float, total: int) -> None:
        """Files done, parts of files included, of how many."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)

    def outcome(self, outcome: Outcome) -> None:
        """A line, if this file needs one."""
        if outcome.status == "failed":
            self._say(f"failed: {outcome.line}")
        elif outcome.status == "skipped":
            self._skipped[outcome.cause] += 1
            if self._skipped[outcome.cause] <= _MOST_SKIPPED:
                self._say(f"skipped: {outcome.file}: {outcome.cause}")
        for warning in outcome.report.warnings if outcome.report else ():
            self._say(f"warning: {outcome.file}: {warning}")

    def _say(self, text: str) -> None:
        if self._bar is None:
            say(text)
        else:  # above the bar
            with suppress(OSError):
                self._bar.console.print(one_line(text), markup=False, highlight=False, soft_wrap=True)

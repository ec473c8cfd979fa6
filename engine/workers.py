"""Several processes that each load the kernels once and then take one job after another.

Not `concurrent.futures`: there a worker that dies (a codec's crash, the system out of memory) ends the whole batch, and a
running job cannot be stopped. Here it costs the one job it had, and an interrupt ends every worker at once, who then removes
what it had half written.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar

J = TypeVar("J")
R = TypeVar("R")

Progress = Callable[[float], None]  # takes the done part of the job at hand, 0 to 1
_AGAIN = 0.02  # s
_TELL_EVERY = 0.1  # s
_PATIENCE = 5.0  # s, for a worker to clear up


@dataclass(frozen=True)
class Died:
    """In place of a result: the worker ended before it had one."""

    exit_code: int | None  # negative: killed by that signal


def spread(
    start: Callable[[], Callable[[J, Progress], R]], jobs: Iterable[J], count: int, progress: Callable[[J, float], None]
) -> Iterator[tuple[J, R | Died]]:
    """Do `jobs` in up to `count` processes; give each with its result as it ends.

    `start` is called once in each process and makes what does a job; it, jobs and results have to be picklable. Closing the
    iterator, or an exception in the caller (Ctrl-C), ends the processes.
    """
    todo = deque(jobs)
    busy: dict[Connection, tuple[SpawnProcess, J]] = {}
    hired: list[tuple[Connection, SpawnProcess]] = []

    def give(pipe: Connection, process: SpawnProcess) -> None:
        job = todo.popleft()
        try:
            pipe.send(job)
            busy[pipe] = process, job
        except OSError:  # it died after its last result
            todo.appendleft(job)

    try:
        while todo or busy:
            while todo and len(busy) < count:
                try:
                    pipe, process = _hire(start)
                except OSError:  # out of processes, files or memory: those that are there do it
                    if not busy:
                        raise
                    count = len(busy)
                    break
                hired.append((pipe, process))
                give(pipe, process)
            for pipe in [ready for ready in wait(list(busy)) if isinstance(ready, Connection)]:
                process, job = busy[pipe]
                try:
                    part, result = pipe.recv()
                except (EOFError, OSError):
                    del busy[pipe]
                    process.join()
                    yield job, Died(process.exitcode)
                    continue
                if part is not None:
                    progress(job, part)
                    continue
                del busy[pipe]
                if todo:
                    give(pipe, process)
                yield job, result
    finally:
        for process, _ in busy.values():
            process.terminate()
        for pipe, process in hired:
            pipe.close()  # at which an idle one ends
            process.join(_PATIENCE)
            process.kill()


def _hire(start: Callable[[], Any]) -> tuple[Connection, SpawnProcess]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, start), daemon=True)
    with _no_interrupt():
        process.start()
    theirs.close()
    return ours, process


def _serve(pipe: Connection, start: Callable[[], Callable[[Any, Progress], Any]]) -> None:
    # Ctrl-C in a terminal reaches every process: only the first one acts on it, and ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # an exception, so that what is half written is removed
    if hasattr(signal, "pthread_kill"):
        sys.unraisablehook = _swallowed
    work = start()
    told = 0.0

    def tell(part: float) -> None:
        nonlocal told
        if time.monotonic() - told > _TELL_EVERY:
            told = time.monotonic()
            pipe.send((part, None))

    try:
        while True:
            pipe.send((None, work(pipe.recv(), tell)))
    except (EOFError, OSError):
        return  # no more jobs, or nobody who wants them


def _swallowed(unraisable: sys.UnraisableHookArgs) -> None:
    """Python tells of exceptions that a finalizer swallows; one that was to end this process is raised again soon after."""
    if issubclass(unraisable.exc_type, SystemExit):
        # To the main thread, which a signal to another one would not wake where it waits.
        again = threading.Timer(_AGAIN, signal.pthread_kill, (threading.main_thread().ident, signal.SIGTERM))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(unraisable)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """A process that is born here cannot be interrupted, not even while it still imports; it changes that when it is ready.
    Nor is its birth: a process that was not told what to do says so in a traceback."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # started within, it would unblock what is blocked here
    with _put_off():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _put_off() -> Iterator[None]:
    """Python's handlers of the signals that stop a run wait for the end. A mask would not do: the system hands a signal to
    any thread that has none (OpenBLAS's, the progress bar's), and Python runs the handler in the main thread all the same."""
    if threading.current_thread() is not threading.main_thread():  # where no handler ever runs
        yield
        return
    came: list[int] = []
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handlers = {number: handler for number in numbers if callable(handler := signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)

"""Jobs on all cores: each is a callable that can be pickled, done in a process that loads its models once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from ...engine.workers import Died, Progress, spread

_ALONE = 4  # jobs that are not worth the start of processes, a second each

R_co = TypeVar("R_co", covariant=True)
Told = Callable[[float, int], None]  # jobs done, of how many


class Job(Protocol[R_co]):
    def __call__(self) -> R_co: ...


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def done(jobs: Sequence[Job[R_co]], processes: int, told: Told) -> Iterator[tuple[int, R_co | Died]]:
    """The number of each job and its result, or that its process died, as they end; an exception of a job in `processes` = 1
    comes as it is, elsewhere it ends its process."""
    told(0, len(jobs))
    if processes < 2 or len(jobs) <= _ALONE:
        for number, job in enumerate(jobs):
            yield number, job()
            told(number + 1, len(jobs))
        return
    for count, ((number, _), result) in enumerate(spread(_ready, list(enumerate(jobs)), processes, lambda *_: None), 1):
        told(count, len(jobs))
        yield number, result


def _ready() -> Callable[[tuple[int, Job[R_co]], Progress], R_co]:
    return lambda numbered, _: numbered[1]()

"""Memory that Python code keeps, for tests that a stream allocates nothing."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable


def net_growth(run: Callable[[], object], tries: int = 3) -> int:
    """Bytes that `run` leaves allocated: the least of some tries, since a test runner's own threads allocate too."""
    grown = []
    for _ in range(tries):
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            run()
            grown.append(tracemalloc.get_traced_memory()[0] - before)
        finally:
            tracemalloc.stop()
    return min(grown)

"""How much memory this process has."""

from __future__ import annotations

import sys
from pathlib import Path


def resident() -> int:
    """Bytes of memory in use: now where /proc tells, else the most so far."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        import resource

        return int(statm.read_text().split()[1]) * resource.getpagesize()
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024

"""Timings as a table and as JSON, and the command line that every bench shares."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from .timing import Timing


def parser(module: str, about: str) -> argparse.ArgumentParser:
    """The options of a bench: --blocks and --json."""
    made = argparse.ArgumentParser(prog=f"python -m velavox.bench.{module}", description=about)
    made.add_argument("--blocks", type=int, default=2000, metavar="N", help="blocks of 10 ms timed for each row")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    return made


def show(title: str, timings: Mapping[str, Timing], ratios: Mapping[str, tuple[str, str]]) -> None:
    """Print a table; `ratios`: row to (what it is called, the row whose median is divided by this one's)."""
    width = max(len(name) for name in timings)
    print(f"\n{title}\n{'':{width}}  mean us   p50 us   p99 us       RTC")
    for name, t in timings.items():
        called, other = ratios.get(name, ("", ""))
        ratio = f"  {t.times_cheaper(timings[other]):.1f} x cheaper than {called}" if other in timings else ""
        print(f"{name:{width}} {t.mean_us:8.2f} {t.p50_us:8.2f} {t.p99_us:8.2f}  {t.rtc:8.5f}{ratio}")


def write(path: Path | None, timings: Mapping[str, Timing], ratios: Mapping[str, tuple[str, str]]) -> None:
    """The same as JSON: microseconds of CPU time a block, RTC, ratios."""
    if path is None:
        return
    rows = {name: asdict(t) for name, t in timings.items()}
    cheaper = {
        f"{name} / {other}": timings[name].times_cheaper(timings[other])
        for name, (_, other) in ratios.items()
        if name in timings and other in timings
    }
    machine = {"python": sys.version.split()[0], "machine": platform.machine(), "system": platform.system()}
    path.write_text(json.dumps({"rows": rows, "times_cheaper": cheaper, "machine": machine}, indent=2) + "\n")

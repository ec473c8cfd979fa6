"""A long run: a hundred thousand blocks of mixed sizes through an engine, and what grew, compiled, was late or was muted.

python -m velavox.bench.soak --method mcadams --rate 48000 --blocks 100000
"""

from __future__ import annotations

import argparse
import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns, process_time_ns

import numpy as np

from ..engine.host import Engine
from ..engine.methods import METHODS, make
from ..engine.resident import resident

_SIZES = (0, 1, 64, 128, 160, 441, 480, 512, 960, 1024, 1920, 4096)  # frames; 480 is 10 ms at 48 kHz


def soak(method: str, rate: int, blocks: int, seed: int = 0) -> dict[str, float]:
    """Run it; memory growth in kB a thousand blocks, compilations, and the times of the 10 ms blocks among them."""
    engine = Engine(make(method), sample_rate=rate)
    rng = np.random.default_rng(seed)
    signal = (0.1 * rng.normal(size=rate + max(_SIZES))).astype(np.float32)
    ten_ms = rate // 100
    sizes = rng.choice([*_SIZES, ten_ms, ten_ms, ten_ms], size=blocks)
    starts = rng.integers(0, rate, size=blocks)
    wall, cpu = np.full(blocks, -1), np.full(blocks, -1)  # ns of the 10 ms blocks; made now, so as not to grow later
    gc.collect()
    gc.freeze()
    with _compilations() as compiled:
        before = 0
        for k in range(blocks):
            if k == blocks // 10:
                before = resident()
            x = signal[starts[k] : starts[k] + sizes[k]]
            began, spent = perf_counter_ns(), process_time_ns()
            engine.process(x)
            if sizes[k] == ten_ms:
                cpu[k] = process_time_ns() - spent
                wall[k] = perf_counter_ns() - began
        grown = resident() - before
    gc.unfreeze()
    wall, cpu = wall[wall >= 0], cpu[cpu >= 0]
    stats = engine.stats
    return {
        "blocks": blocks,
        "growth_kb_per_1000_blocks": grown / 1024 / (0.9 * blocks / 1000),
        "compilations": len(compiled),
        "muted_hops": stats.muted,
        "late_blocks": stats.late,
        "p50_us": float(np.percentile(wall, 50) / 1e3),
        "p99_us": float(np.percentile(wall, 99) / 1e3),
        "p99_9_us": float(np.percentile(wall, 99.9) / 1e3),
        "cpu_p99_us": float(np.percentile(cpu, 99) / 1e3),
    }


@contextmanager
def _compilations() -> Iterator[list[str]]:
    """Every function that numba compiles while this is open."""
    from numba.core.event import Event, Listener, install_listener

    found: list[str] = []

    class Record(Listener):  # type: ignore[misc]
        def on_start(self, event: Event) -> None:
            found.append(str(event.data))

        def on_end(self, event: Event) -> None:
            pass

    with install_listener("numba:compile", Record()):
        yield found


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m velavox.bench.soak", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--method", default="mcadams", choices=list(METHODS))
    parser.add_argument("--rate", type=int, default=48000, metavar="HZ")
    parser.add_argument("--blocks", type=int, default=100_000, metavar="N")
    arguments = parser.parse_args()
    print(json.dumps(soak(arguments.method, arguments.rate, arguments.blocks), indent=2))


if __name__ == "__main__":
    main()

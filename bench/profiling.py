"""What a profiler costs the engine that it is attached to.

python -m velavox.bench.profiling
"""

from __future__ import annotations

from ..engine.host import Engine
from ..engine.mcadams import McAdams
from . import table
from .speech import fed
from .timing import Case, interleave

RATE = 48_000
_PLAIN = "engine with McAdams, 48 kHz"


def cases() -> dict[str, Case]:
    """The engine alone, and with a profiler that looks into one block of so many."""
    found = {_PLAIN: fed(Engine(McAdams(), sample_rate=RATE).process, RATE)}
    for every in (64, 4):
        engine = Engine(McAdams(), sample_rate=RATE)
        engine.profile(every)
        found[f"profiled, every={every}"] = fed(engine.process, RATE)
    return found


def main() -> None:
    arguments = table.parser("profiling", "CPU time that a profiler adds to a block of 10 ms.").parse_args()
    timings = interleave(cases(), seconds=0.01, blocks=arguments.blocks)
    table.show("a block of 10 ms", timings, {})
    plain = timings.pop(_PLAIN)
    for name, timing in timings.items():
        added = timing.mean_us - plain.mean_us
        print(f"{name}: {added:+.2f} us, {added / plain.mean_us:+.1%} of the mean")
    table.write(arguments.json, {_PLAIN: plain, **timings}, {})


if __name__ == "__main__":
    main()

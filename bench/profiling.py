"""What a profiler costs the engine that it is attached to, and what it says of a block of 10 ms beside what that may take.

python -m velavox.bench.profiling
"""

from __future__ import annotations

from ..engine.host import Engine
from ..engine.mcadams import McAdams
from ..engine.profile_run import Pace, Work, measure
from ..engine.profile_sound import Sound
from . import table
from .speech import fed, speech
from .timing import Case, interleave

RATE = 48_000
LIMIT_US = 1000.0  # for p99 of a block of 10 ms, on an idle machine
_PLAIN = "engine with McAdams, 48 kHz"


def cases() -> dict[str, Case]:
    """The engine alone, and with a profiler that looks into one block of so many."""
    found = {_PLAIN: fed(Engine(McAdams(), sample_rate=RATE).process, RATE)}
    for every in (64, 4):
        engine = Engine(McAdams(), sample_rate=RATE)
        engine.profile(every)
        found[f"profiled, every={every}"] = fed(engine.process, RATE)
    return found


def p99_us(pace: Pace, blocks: int) -> float | None:
    """What `velavox profile` says of blocks of 10 ms of speech; None with fewer than 100."""
    work = Work("mcadams", {}, Sound("clips", speech(RATE)[:, None], RATE), RATE // 100)
    return measure(work, pace, blocks / 100)[0].times_us["p99"]


def compared(pace: Pace, p99: float | None) -> str:
    """Beside the limit."""
    if p99 is None:
        return f"{_PLAIN}, {pace} pace: too few blocks for p99; give --blocks 100 or more"
    verdict = "kept" if p99 < LIMIT_US else "exceeded; is the machine idle?"
    return f"{_PLAIN}, {pace} pace: p99 of a block of 10 ms {p99:.0f} us, limit {LIMIT_US:.0f} us: {verdict}"


def main() -> None:
    arguments = table.parser(
        "profiling", "CPU time that a profiler adds to a block of 10 ms, and p99 of such a block."
    ).parse_args()
    timings = interleave(cases(), seconds=0.01, blocks=arguments.blocks)
    table.show("a block of 10 ms", timings, {})
    plain = timings.pop(_PLAIN)
    for name, timing in timings.items():
        added = timing.mean_us - plain.mean_us
        print(f"{name}: {added:+.2f} us, {added / plain.mean_us:+.1%} of the mean")
    paces: tuple[Pace, ...] = ("fast", "real")
    for pace in paces:
        print(compared(pace, p99_us(pace, arguments.blocks)))
    table.write(arguments.json, {_PLAIN: plain, **timings}, {})


if __name__ == "__main__":
    main()

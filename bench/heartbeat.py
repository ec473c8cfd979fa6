"""Whether calls hold an event loop up: how late a heartbeat of 10 ms comes while it serves them in real time.

python -m velavox.bench.heartbeat --seconds 60

Beside it runs the same heartbeat in another process without any calls: what is late there too, the machine did. What the loop's
thread has worked from one beat to the next, in CPU time, does not depend on that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from itertools import cycle
from time import thread_time

import numpy as np

from ..engine.adapters.frames import PCM, Frames
from ..engine.adapters.worker import Runner, runner
from ..engine.methods import METHODS, make
from ..engine.stage import Stage
from .speech import speech

BEAT = 0.010  # s
RATE, FRAME = 48_000, 960  # 20 ms


async def beats(seconds: float) -> tuple[list[float], list[float]]:
    """How late each beat came, and how long the loop's thread had worked since the one before, s.

    One that is late does not make the next ones late.
    """
    loop, late, worked = asyncio.get_running_loop(), [], []
    begin = due = loop.time()
    before = thread_time()
    while due - begin < seconds:
        due = max(due, loop.time() - BEAT) + BEAT
        await asyncio.sleep(due - loop.time())
        late.append(max(0.0, loop.time() - due))
        now = thread_time()
        worked.append(now - before)
        before = now
    return late, worked


async def call(voice: Runner, pcm: PCM, seconds: float) -> int:
    """One call of pcm, shape (samples, 1), in frames of 20 ms, as they come; how many there were."""
    frames = cycle([pcm[i : i + FRAME] for i in range(0, len(pcm) - FRAME, FRAME)])
    loop, count = asyncio.get_running_loop(), 0
    begin = loop.time()
    while (due := count * FRAME / RATE) < seconds:
        await asyncio.sleep(begin + due - loop.time())
        await voice.process(next(frames), RATE)
        count += 1
    return count


def measured(stages: Sequence[Stage], seconds: float) -> dict[str, float]:
    """One call through each stage in one loop; of the heartbeat, ms, and how many samples came too late."""
    voices = [Frames(stage, sample_rate=RATE) for stage in stages]
    pcm = (speech(RATE) * 32767).astype(np.int16)[:, None]

    async def serve() -> tuple[list[float], list[float]]:
        calls = [asyncio.create_task(call(runner(voice), pcm, seconds)) for voice in voices]
        found = await beats(seconds)
        await asyncio.gather(*calls)
        return found

    late, worked = (np.asarray(times) * 1e3 for times in asyncio.run(serve()))
    return {
        "beats": len(late),
        "late_p50_ms": float(np.median(late)),
        "late_p99_ms": float(np.percentile(late, 99)),
        "late_max_ms": float(late.max()),
        "worked_p50_ms": float(np.median(worked)),
        "worked_max_ms": float(worked.max()),
        "silenced_samples": sum(sum(voice.muted.values()) for voice in voices),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m velavox.bench.heartbeat", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, metavar="N")
    parser.add_argument("--method", action="append", choices=list(METHODS), help="of one call; again for more (default: all)")
    parser.add_argument("--bare", action="store_true", help="no calls, and nothing beside it")
    arguments = parser.parse_args()
    if arguments.bare:
        print(json.dumps(measured([], arguments.seconds)))
        return
    bare = [sys.executable, "-m", "velavox.bench.heartbeat", "--bare", "--seconds", str(arguments.seconds)]
    with subprocess.Popen(bare, stdout=subprocess.PIPE, text=True) as beside:
        found = measured([make(method) for method in arguments.method or METHODS], arguments.seconds)
        print(json.dumps({"calls": found, "no calls": json.loads(beside.communicate()[0])}, indent=2))


if __name__ == "__main__":
    main()

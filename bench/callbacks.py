"""Why the sound card's callback is compiled: the same card, beside Python threads that keep the interpreter busy.

A callback in Python has to wait for the interpreter's lock (GIL); a compiled one never takes it. Counted are the callbacks that
PortAudio reports as late, and how many came at all, for a copying callback of each kind at Python's usual switch interval and
at the short one of a live stream (`engine/realtime.py`). Needs a sound device, or a sound server as the tests start one.

python -m velavox.bench.callbacks --seconds 5
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..engine import portaudio
from ..engine.exchange import Exchange
from ..engine.realtime import SWITCH_INTERVAL
from ..kernels import callback

RATE, BLOCK = 48_000, 480


def compare(seconds: float, threads: int = 2) -> dict[str, dict[str, int]]:
    """For each kind of callback: callbacks that came, of how many due, and how many were late."""
    found = {}
    usual = sys.getswitchinterval()
    for name, run, interval in (
        ("python", _python, usual),
        ("python, short switch interval", _python, SWITCH_INTERVAL),
        ("compiled", _compiled, usual),
    ):
        sys.setswitchinterval(interval)
        try:
            with _busy(threads):
                calls, late = run(seconds)
        finally:
            sys.setswitchinterval(usual)
        found[name] = {"calls": calls, "due": round(seconds * RATE / BLOCK), "late": late}
    return found


@contextmanager
def _busy(threads: int) -> Iterator[None]:
    """Python threads that compute without a pause."""
    end = threading.Event()

    def work() -> None:
        while not end.is_set():
            sorted(str(i) for i in range(2000))

    working = [threading.Thread(target=work) for _ in range(threads)]
    for thread in working:
        thread.start()
    try:
        yield
    finally:
        end.set()
        for thread in working:
            thread.join()


def _python(seconds: float) -> tuple[int, int]:
    calls = late = 0

    def copy(x: Any, y: Any, frames: int, when: Any, status: Any) -> None:
        nonlocal calls, late
        calls += 1
        late += bool(status.input_overflow or status.output_underflow)
        y[:] = x

    sd = portaudio.sounddevice()
    with sd.RawStream(samplerate=RATE, blocksize=BLOCK, channels=1, dtype="float32", latency="low", callback=copy):
        time.sleep(seconds)
    return calls, late


def _compiled(seconds: float) -> tuple[int, int]:
    sd = portaudio.sounddevice()
    exchange = Exchange(1, 1, RATE, RATE, captured=RATE, playing=RATE)
    stream = sd._StreamBase(
        "duplex",
        samplerate=RATE,
        blocksize=BLOCK,
        channels=1,
        dtype="float32",
        latency="low",
        callback=sd._ffi.cast("PaStreamCallback*", callback.DUPLEX.address),
        userdata=sd._ffi.cast("void*", exchange.address),
    )
    with stream:
        time.sleep(seconds)
    return int(exchange.counter("calls_out")[0]), int(exchange.counter("flagged")[0, 1:3].sum())


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m velavox.bench.callbacks", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--seconds", type=float, default=5.0, metavar="N")
    print(json.dumps(compare(parser.parse_args().seconds), indent=2))


if __name__ == "__main__":
    main()

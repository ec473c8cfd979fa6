"""CPU time of each kernel and of whole engine paths, for one block of 10 ms.

python -m velavox.bench.kernels [--json FILE]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..engine.exchange import Exchange
from ..engine.host import Engine
from ..engine.identity import Identity
from ..engine.methods import METHODS, make
from ..engine.stage import Stage
from ..kernels import asrc, cmn, f0, fbank, fft, level, limiter, lpc, mfcc, polyphase, preemphasis, ring
from ..kernels.jit import F32
from . import table
from .speech import RATE, fed
from .timing import Case, interleave

HOP = 160


def kernel_cases() -> dict[str, Case]:
    """Each kernel alone, one call a block."""
    emphasis, emphasised = preemphasis.fresh(), np.zeros(HOP, np.float32)
    energies, features = fbank.fresh(), np.zeros((2, 80), np.float32)
    means, centred = cmn.fresh(minimum=1), np.zeros((2, 80), np.float32)
    cepstra, coefficients = mfcc.fresh(), np.zeros((2, 13), np.float32)
    cepstrum = mfcc.stream_for(cepstra.dtype)
    forward, _ = fft.transforms(512)
    plan, re, im, frame = fft.fresh(512), np.zeros(257, np.float32), np.zeros(257, np.float32), np.zeros(512, np.float32)
    error, a, ahead, behind, window = np.zeros(1), np.zeros(21), np.zeros(320), np.zeros(320), np.hanning(320)
    tracker, track = f0.fresh(), np.zeros(1, np.float32)
    levelled, quiet, loud = level.fresh(HOP, HOP), np.zeros(HOP, np.float32), limiter.fresh()

    def burg(x: F32) -> None:
        ahead[:HOP] = ahead[HOP:]
        ahead[HOP:] = x
        lpc.stream(error, a, ahead.copy(), behind, ahead * window)

    def spectrum(x: F32) -> None:
        frame[:HOP] = x
        forward(plan, re, im, frame)

    def match(x: F32) -> None:
        np.multiply(x, np.float32(0.5), out=quiet)
        level.match(levelled, quiet, x)

    return {
        "pre-emphasis": fed(lambda x: preemphasis.stream(emphasis, emphasised, x)),
        "real FFT, 512": fed(spectrum),
        "Fbank, 80 bins": fed(lambda x: fbank.stream(energies, features, x)),
        "online mean normalisation": fed(lambda x: cmn.stream(means, centred, features)),
        "MFCC, 13": fed(lambda x: cepstrum(cepstra, coefficients, x)),
        "Burg, order 20, 20 ms": fed(burg),
        "F0 and voicing": fed(lambda x: f0.stream(tracker, track, x)),
        "level match": fed(match),
        "limiter": fed(lambda x: limiter.limit(loud, x)),
        **{f"resample {rate / 1000:g} -> 16 kHz": _resampler(rate, RATE) for rate in (8000, 44100, 48000)},
        **{f"resample 16 -> {rate / 1000:g} kHz": _resampler(RATE, rate) for rate in (8000, 44100, 48000)},
        "follow a clock, 48 kHz, at rest": _follower(48000, 48000, 0),
        "follow a clock, 48 kHz, 200 ppm off": _follower(48000, 48000, 200),
        "follow a clock, 44.1 -> 48 kHz": _follower(44100, 48000, 200),
        "exchange, stereo, 48 kHz": fed(_exchanger(), 48000),
    }


def _resampler(rate_in: int, rate_out: int) -> Case:
    block = rate_in // 100
    state, rows = polyphase.fresh(rate_in, rate_out), polyphase.bank(rate_in, rate_out)
    past, ring_state, buffer = polyphase.history(rate_in, rate_out, block), ring.fresh(), ring.memory(4096)
    return fed(lambda x: polyphase.stream(state, rows, past, ring_state, buffer, x), rate_in)


def _follower(rate_in: int, rate_out: int, ppm: float) -> Case:
    block, step = rate_in // 100, rate_in / rate_out * (1 + ppm * 1e-6)
    state, rows, past = asrc.fresh(rate_in, rate_out), asrc.bank(rate_in, rate_out), asrc.history(rate_in, rate_out, block)
    out = np.zeros(asrc.most(block, rate_in, rate_out), np.float32)
    return fed(lambda x: asrc.stream(state, rows, past, x.reshape(-1, 1), block, step, out), rate_in)


def _exchanger() -> Callable[[F32], None]:
    """Both ends: the worker puts and takes a block, the card calls once."""
    rings = Exchange(2, 2, 48000, 48000, captured=4800, playing=4800)
    captured, heard, taken = np.zeros(960, np.float32), np.zeros(960, np.float32), np.zeros((480, 2), np.float32)

    def exchange(x: F32) -> None:
        rings.put(x, x.size)
        rings.duplex(captured, heard)
        rings.take(taken)

    return exchange


def stage_cases() -> dict[str, Case]:
    """Each anonymizer's step alone; where it takes 20 ms, half of it counts."""
    cases: dict[str, Case] = {}
    stages: dict[str, Stage] = {name: make(name) for name in METHODS}
    stages["vtln on the spectrum"] = make("vtln", {"on": "spectrum"})
    for name, stage in stages.items():
        stage.prepare()
        cases[f"{name} step"] = fed(_stepper(stage), blocks=stage.hop // HOP)
    return cases


def _stepper(stage: Stage) -> Callable[[F32], None]:
    y = np.zeros(stage.hop, np.float32)
    return lambda x: stage.step(x, y)


def engine_cases() -> dict[str, Case]:
    """Whole paths, all included."""
    cases: dict[str, Case] = {}
    for rate in (8000, 16000, 44100, 48000):
        for name in ("identity", *METHODS):
            engine = Engine(Identity() if name == "identity" else make(name), sample_rate=rate)
            cases[f"engine, {name}, {rate / 1000:g} kHz"] = fed(engine.process, rate, engine.hop // HOP)
    return cases


def main() -> None:
    arguments = table.parser("kernels", "CPU time of kernels and engine paths, one block of 10 ms.").parse_args()
    timings = interleave({**kernel_cases(), **stage_cases(), **engine_cases()}, seconds=0.010, blocks=arguments.blocks)
    table.show("one block of 10 ms", timings, {})
    table.write(arguments.json, timings, {})


if __name__ == "__main__":
    main()

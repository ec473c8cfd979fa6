"""What the neural anonymizer costs: its graphs, its step, whole engines, the first block, and a further stream's memory.

python -m velavox.bench.neural [--json FILE]

A cold cache is what other programs leave between the blocks of a call: 8 MB are written before each step.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time_ns

import numpy as np

from ..engine.dpvoice import MODES, DpVoice
from ..engine.graphs import Stream
from ..engine.host import Engine
from ..engine.resident import resident
from ..kernels.jit import F32
from ..models_onnx import manifest
from . import table
from .plain import PlainMcAdams
from .speech import RATE, fed, speech
from .timing import Case, interleave

_EVICTED = 8_000_000  # bytes
_STREAMS = 10
_PLAIN = "McAdams in NumPy and librosa"


def graph_cases() -> dict[str, Case]:
    """One step, 20 ms, of each graph; half of it counts."""
    cases = {}
    for name in ("encoder", *(mode.decoder for mode in MODES.values())):
        stream = Stream(manifest.load(name))
        for x in stream.inputs.values():
            x[:] = np.random.default_rng(0).normal(size=x.shape)
        cases[f"{name}.onnx"] = Case(stream.step, 2)
    return cases


def chain_cases() -> dict[str, Case]:
    """Steps and engines, with plain McAdams beside them."""
    cases = {_PLAIN: fed(PlainMcAdams())}
    for mode in MODES:
        stage = DpVoice(mode=mode)
        stage.prepare()
        cases[f"step, {mode}"] = fed(_stepper(stage), blocks=2)
        for rate in (RATE, 48_000):
            engine = Engine(DpVoice(mode=mode), sample_rate=rate)
            cases[f"engine, {mode}, {rate // 1000} kHz"] = fed(engine.process, rate, 2)
    return cases


def _stepper(stage: DpVoice) -> Callable[[F32], None]:
    y = np.zeros(stage.hop, np.float32)
    return lambda x: stage.step(x, y)


def cold(steps: int = 200) -> float:
    """Median CPU time of a step with a cold cache, us."""
    stage, x, y = DpVoice(), speech(), np.zeros(DpVoice.hop, np.float32)
    stage.prepare()
    junk = np.zeros(_EVICTED, np.uint8)
    spent = []
    for k in range(steps):
        block = x[k * stage.hop : (k + 1) * stage.hop]
        junk += 1
        began = process_time_ns()
        stage.step(block, y)
        spent.append(process_time_ns() - began)
    return float(np.median(spent) / 1e3)


def first_block(tries: int = 9, steps: int = 100) -> float:
    """CPU time of the first block of a fresh stage over the median of the following ones: the median of some tries."""
    x, y = speech(), np.zeros(DpVoice.hop, np.float32)
    ratios = []
    for _ in range(tries):
        stage = DpVoice()
        stage.prepare()
        spent = []
        for k in range(steps):
            began = process_time_ns()
            stage.step(x[k * stage.hop : (k + 1) * stage.hop], y)
            spent.append(process_time_ns() - began)
        ratios.append(spent[0] / np.median(spent[1:]))
    return float(np.median(ratios))


def further_stream() -> float:
    """MB of memory that one more engine at 48 kHz takes."""
    first = Engine(DpVoice(), sample_rate=48_000)
    gc.collect()
    before = resident()
    engines = [Engine(DpVoice(), sample_rate=48_000) for _ in range(_STREAMS)]
    for engine in (first, *engines):
        engine.process(speech(48_000)[:48_000])
    return (resident() - before) / _STREAMS / 1e6


def main() -> None:
    arguments = table.parser("neural", "What the neural anonymizer costs, one block of 10 ms.").parse_args()
    cases = {**graph_cases(), **chain_cases()}
    ratios = {name: ("plain NumPy and librosa's McAdams", _PLAIN) for name in cases if name.startswith("engine")}
    timings = interleave(cases, seconds=0.010, blocks=arguments.blocks)
    table.show("one block of 10 ms; what takes 20 ms at a time counts by half", timings, ratios)
    table.write(arguments.json, timings, ratios)
    print(f"\na step of 20 ms with a cold cache: {cold():.0f} us")
    print(f"first block over the median: {first_block():.2f}")
    print(f"memory of one more stream: {further_stream():.2f} MB")


if __name__ == "__main__":
    main()

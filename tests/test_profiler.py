"""The profiler counts exactly, loses no time, favours no kind of block, changes no sample, and leaves nothing behind."""

from __future__ import annotations

import gc
import json
import threading
import time
from typing import Any

import numpy as np
import pytest
from doubles import Delay, Faulty, Gain, fail
from memory import net_growth
from signals import F32, noise, voice
from velavox import Engine, Identity, McAdams
from velavox.engine import profiler as module
from velavox.engine.profiler import Profiler
from velavox.kernels import guard, level, limiter, mix, polyphase, ring

MIXED = (160, 1, 0, 333, 64, 1000, 80)


class Busy(Identity):
    """Takes `seconds` in each hop, and after `hops` of them none."""

    method = "busy"

    def __init__(self, seconds: float = 2e-3, hops: int = 10**9) -> None:
        super().__init__()
        self.seconds, self.hops = seconds, hops

    def step(self, x: F32, y: F32) -> None:
        y[:] = x
        if self.hops:
            self.hops -= 1
            wait(self.seconds)


def wait(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def largest(profiler: Profiler) -> str:
    return max(profiler.report().parts, key=lambda part: part.share).name


def known(figure: float | None) -> float:
    assert figure is not None
    return figure


def feed(engine: Engine, sizes: Any, count: int) -> None:
    x = noise(4096 * engine.channels).reshape(-1, engine.channels)
    for k in range(count):
        block = x[: sizes[k % len(sizes)]]
        engine.process(block if engine.channels > 1 else block[:, 0])


@pytest.mark.parametrize(("rate", "block"), [(16_000, 160), (48_000, 480), (48_000, 64), (44_100, 1000)])
def test_parts_add_up_to_the_whole(rate: int, block: int) -> None:
    engine = Engine(McAdams(), sample_rate=rate)
    with engine.profile(every=4) as profiler:
        feed(engine, (block,), 1500)
    report = profiler.report()
    assert 0.9 < known(report.parts_to_whole) < 1.1
    assert sum(part.share for part in report.parts) == pytest.approx(1)
    assert sum(part.mean_us for part in report.parts) == pytest.approx(known(report.times_us["mean"]))
    resampled = [] if rate == 16_000 else ["resample_in", "resample_out"]
    expected = {"input", "reblock", "mcadams", "judge", "level", "limiter", "deliver", *resampled}
    assert {part.name for part in report.parts} == expected


@pytest.mark.nojit
def test_counts_are_exact_with_blocks_of_all_sizes() -> None:
    engine = Engine(Identity(), sample_rate=16_000)
    feed(engine, MIXED, 50)
    before = engine.stats
    profiler = engine.profile(every=3)
    feed(engine, MIXED, 700)
    with pytest.raises(ValueError, match="give"):
        engine.process(np.zeros((4, 2)))
    engine.close()
    feed(engine, MIXED, 7)
    report, after = profiler.report(), engine.stats
    assert report.blocks == 600  # the empty ones, the refused one and those after the end are none
    trace = report.trace
    assert trace.spent.size == 599
    assert trace.frames.sum() == 100 * sum(MIXED) - MIXED[0]
    assert trace.hops.sum() in range(after.hops - before.hops - 1, after.hops - before.hops + 1)  # the first block may have one
    assert (trace.spent > 0).all()
    assert (np.diff(trace.began) >= trace.spent[:-1]).all()
    assert report.misses == (trace.spent * 16_000 > trace.frames).sum()
    assert report.looked_into == pytest.approx(200, abs=40)
    assert report.rtc == pytest.approx(trace.spent.sum() * 16_000 / trace.frames.sum())
    assert report.times_us["max"] == pytest.approx(trace.spent.max() * 1e6)


@pytest.mark.nojit
@pytest.mark.parametrize("policy", ["each", "mix"])
def test_no_sample_changes(policy: Any) -> None:
    x = np.stack([voice(0.5, rate=44_100), voice(0.5, seed=1, rate=44_100)], axis=1)
    plain, profiled = (
        Engine([Gain(), Delay()], sample_rate=44_100, channels=2, policy=policy, seed=3, max_block=500) for _ in range(2)
    )
    position, out = 0, []
    for k in range(60):
        if k % 10 == 3:
            profiler = profiled.profile(every=1 + k % 3)
        if k % 10 == 9:
            profiler.detach()
        size = MIXED[k % len(MIXED)]
        out.append(profiled.process(x[position : position + size]))
        position += size
    np.testing.assert_array_equal(np.concatenate(out), plain.process(x[:position]))


@pytest.mark.nojit
def test_a_slow_stage_shows_under_its_name_and_as_misses() -> None:
    engine = Engine([Identity(), Busy(), Delay()], sample_rate=16_000)
    with engine.profile(every=1) as profiler:
        feed(engine, (16,), 200)  # 1 ms: one in ten completes a hop, which takes 2 ms
    report = profiler.report()
    assert largest(profiler) == "busy"
    late = report.trace.spent > 1e-3
    assert report.misses == late.sum() >= 20
    assert late[report.trace.hops > 0].all()
    assert known(report.deadline["p99"]) > 2
    assert report.deadline["max"] == pytest.approx(known(report.times_us["max"]) / 1e3)


@pytest.mark.parametrize(
    ("kernel", "part"),
    [
        ((guard, "sanitise"), "input"),
        ((mix, "mix"), "mix"),
        ((polyphase, "stream_row"), "resample_in"),
        ((ring, "pop"), "reblock"),
        ((guard, "finite"), "judge"),
        ((level, "match"), "level"),
        ((limiter, "limit"), "limiter"),
        ((polyphase, "stream"), "resample_out"),
        ((guard, "deliver"), "deliver"),
    ],
)
@pytest.mark.parametrize("policy", ["each", "mix"])
def test_each_part_has_its_own_time(kernel: tuple[Any, str], part: str, policy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    works = getattr(*kernel)

    def slow(*arguments: Any) -> Any:
        wait(1e-3)
        return works(*arguments)

    engine = Engine(Identity(), sample_rate=48_000, channels=2, policy=policy)
    monkeypatch.setattr(*kernel, slow)
    with engine.profile(every=1) as profiler:
        feed(engine, (480,), 8)
    times = {name: time.min() for name, time in profiler.trace().parts.items()}
    if (part, policy) == ("mix", "each"):
        assert times["mix"] == 0
    else:
        assert times.pop(part) >= 0.9e-3
    assert max(times.values()) < 0.9e-3


@pytest.mark.nojit
def test_time_of_a_failing_stage_is_its_own() -> None:
    def late_failure(x: F32, y: F32) -> None:
        wait(2e-3)
        fail(x, y)

    engine = Engine([Delay(), Faulty(late_failure, at=0)], sample_rate=16_000)
    with engine.profile(every=1) as profiler:
        feed(engine, (160,), 4)
    assert engine.stats.causes == {"error": 3}
    assert profiler.report().trace.parts["faulty"][:2].min() > 1.9e-3


@pytest.mark.nojit
def test_stages_of_one_method_and_names_that_are_taken() -> None:
    class Level(Busy):
        method = "level"

    engine = Engine([Delay(), Level(), Delay()], sample_rate=16_000)
    with engine.profile(every=1) as profiler:
        feed(engine, (160,), 5)
    assert list(profiler.trace().parts) == [
        *("input", "mix", "resample_in", "reblock", "delay", "level 2", "delay 2"),
        *("judge", "level", "limiter", "resample_out", "deliver"),
    ]
    assert largest(profiler) == "level 2"


@pytest.mark.nojit
def test_channels_add_up() -> None:
    alone, each, mixed = (
        Engine(Busy(), sample_rate=16_000, channels=n, policy=policy)  # type: ignore[arg-type]
        for n, policy in ((1, "each"), (3, "each"), (3, "mix"))
    )
    for engine in (alone, each, mixed):
        with engine.profile(every=1) as profiler:
            feed(engine, (160,), 10)
        trace = profiler.trace()
        assert set(trace.hops.tolist()) == {3 if engine is each else 1}
        assert trace.parts["mix"].any() == (engine is mixed)
        assert (trace.parts["busy"].min() > 5.9e-3) == (engine is each)  # three times 2 ms


@pytest.mark.nojit
@pytest.mark.parametrize("every", [2, 8])
def test_blocks_looked_into_are_a_fair_sample(every: int) -> None:
    """Every second block completes a hop: a fixed even step would see all of these, or none."""
    engine = Engine(Identity(), sample_rate=16_000)
    with engine.profile(every) as profiler:
        feed(engine, (80,), 200 * every)
    trace = profiler.trace()
    assert trace.looked_into.size == pytest.approx(200, rel=0.15)
    assert trace.hops[trace.looked_into].mean() == pytest.approx(0.5, abs=0.1)


@pytest.mark.nojit
def test_the_first_block_is_apart() -> None:
    engine = Engine(Busy(0.1, hops=1), sample_rate=16_000)
    with engine.profile(every=1) as profiler:
        feed(engine, (160,), 20)
    report = profiler.report()
    assert known(report.first_us) > 1e5 > known(report.times_us["max"])
    assert report.blocks == 20
    assert report.looked_into == 19
    assert max(trace.max() for trace in report.trace.parts.values()) < 0.1


@pytest.mark.nojit
def test_before_the_second_block_nothing_is_known() -> None:
    engine = Engine(Identity(), sample_rate=16_000)
    with engine.profile() as profiler:
        assert json.loads(json.dumps(profiler.report().as_json(), allow_nan=False))["blocks"] == 0
        feed(engine, (160,), 1)
        report = profiler.report()
    assert (report.blocks, report.parts, report.rtc, report.times_us["max"]) == (1, (), None, None)
    assert known(report.first_us) > 0


@pytest.mark.nojit
def test_one_at_a_time_and_nothing_left_behind() -> None:
    engine, callbacks = Engine(Identity(), sample_rate=16_000), list(gc.callbacks)
    first = engine.profile()
    with pytest.raises(RuntimeError, match="detach"):
        engine.profile()
    first.detach()
    assert gc.callbacks == callbacks
    with engine.profile() as second:
        first.detach()  # not the one that is attached
        feed(engine, (160,), 3)
    feed(engine, (160,), 3)
    assert (first.report().blocks, second.report().blocks) == (0, 3)
    assert gc.callbacks == callbacks
    with pytest.raises(ValueError, match="every"):
        engine.profile(every=0)
    engine.profile().detach()


@pytest.mark.nojit
def test_garbage_collections_are_counted() -> None:
    engine = Engine(Identity(), sample_rate=16_000)
    gc.disable()
    try:
        with engine.profile() as profiler:
            gc.collect(0)
            gc.collect(2)
            gc.collect(2)
        gc.collect(2)
    finally:
        gc.enable()
    report = profiler.report()
    assert report.collections == (1, 0, 2)
    assert 0 < report.longest_pause_us <= report.pause_us


def test_memory_does_not_grow() -> None:
    engine = Engine(Identity(), sample_rate=48_000)
    x = noise(480)

    def run_on() -> None:
        for _ in range(10_000):
            engine.process(x)

    with engine.profile(every=4):
        run_on()
        assert net_growth(run_on, tries=2) < 1024  # boxed counters


@pytest.mark.nojit
def test_the_latest_blocks_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 64)
    monkeypatch.setattr(module, "ROWS", 8)
    engine = Engine(Identity(), sample_rate=16_000)
    with engine.profile(every=4) as profiler:
        feed(engine, (160, 320), 1001)
    trace = profiler.trace()
    assert trace.blocks == 1001
    assert trace.frames.tolist() == [160, *[320, 160] * 31]  # block 1000 is the last one, of 160
    np.testing.assert_array_equal(trace.hops, trace.frames // 160)
    assert 6 <= trace.looked_into.size <= 8
    assert (np.diff(trace.looked_into) > 0).all()
    added = np.sum(list(trace.parts.values()), axis=0)
    assert (added <= trace.spent[trace.looked_into]).all()
    assert known(profiler.report().parts_to_whole) > 0


@pytest.mark.nojit
def test_attached_and_asked_by_another_thread() -> None:
    engine, x = Engine(Delay(), sample_rate=16_000), noise(160)
    over, seen = threading.Event(), []

    def look() -> None:
        while not over.is_set():
            with engine.profile(every=2) as profiler:
                time.sleep(0.005)
                seen.append(profiler.report())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(200):
            engine.process(x)
            time.sleep(2e-4)
    finally:
        over.set()
        thread.join()
    assert sum(report.blocks for report in seen) > 20
    assert engine.stats.muted == 0
    for report in seen:
        assert report.trace.spent.size == max(0, report.blocks - 1)
        assert set(report.trace.hops.tolist()) <= {2}


@pytest.mark.nojit
def test_reset_and_flush_in_between() -> None:
    engine = Engine(Identity(), sample_rate=16_000)
    with engine.profile(every=1) as profiler:
        feed(engine, (160,), 10)
        engine.reset()
        feed(engine, (160,), 10)
        engine.flush()
        feed(engine, (160,), 10)
        x = noise(300 * 160)
        engine.reset()
        for size in (160, 160, 0, 160 * 250):  # as many hops as before the reset, and more
            engine.process(x[:size])
    report = profiler.report()
    assert report.blocks == 33
    assert set(report.trace.hops[:-1].tolist()) == {1}
    assert report.trace.hops[-1] == 250
    assert all(part.share >= 0 for part in report.parts)


@pytest.mark.nojit
@pytest.mark.parametrize("rate", [16_000, 44_100])
def test_delay_is_that_of_the_engine_and_one_block(rate: int) -> None:
    engine = Engine(Delay(), sample_rate=rate)
    with engine.profile() as profiler:
        feed(engine, (512,), 20)
    delay = profiler.report().delay
    assert delay.total - known(delay.compute) == pytest.approx((engine.latency + 512) / rate * 1e3)
    assert delay.algorithmic["stages"] == pytest.approx(163 / 16)
    assert delay.buffering["block"] == pytest.approx(512 / rate * 1e3)
    assert delay.compute == pytest.approx(known(profiler.report().times_us["p50"]) / 1e3)


@pytest.mark.nojit
def test_share_of_the_processor() -> None:
    engine = Engine(Busy(1e-3), sample_rate=16_000)
    with engine.profile(every=1) as profiler:
        for _ in range(40):
            feed(engine, (160,), 1)
            time.sleep(3e-3)
    assert 0.05 < known(profiler.report().cpu_share) < 0.5


@pytest.mark.nojit
def test_share_of_the_processor_is_known_from_the_second_look_on() -> None:
    engine = Engine(Busy(1e-3), sample_rate=16_000)
    with engine.profile(every=1) as profiler:
        feed(engine, (160,), 1)
        assert profiler.report().cpu_share is None
        feed(engine, (160,), 3)
    assert 0.05 < known(profiler.report().cpu_share) <= 1.05  # another program may have had the core

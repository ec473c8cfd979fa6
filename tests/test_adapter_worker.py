"""Work on the event loop, or in a thread beside it: the same sound, and a loop that nothing holds up."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from hosts import Held, caught_up, framed, loop, speech, through
from velavox import DpVoice, Identity, McAdams
from velavox.engine.adapters.frames import PCM, Frames
from velavox.engine.adapters.worker import BACKLOG, HELD, PATIENCE, Inline, Worker, runner

RATE, SIZE = 16_000, 320


async def played(worker: Worker | Inline, x: PCM, size: int = SIZE, rate: int = RATE) -> PCM:
    """What a host gets that cannot wait, in time."""
    out = []
    for block in framed(x, size):
        out.append(worker.exchange(block, rate))
        await caught_up(worker)
    return np.concatenate(out)


def test_a_heavy_stage_gets_a_thread(few_nodes: Any) -> None:
    for stage, kind in ((McAdams(), Inline), (Identity(), Inline), (Held(), Worker), (DpVoice(), Worker)):
        frames = Frames(stage, sample_rate=RATE)
        assert type(runner(frames)) is kind
        assert type(runner(frames, worker=True)) is Worker
        assert type(runner(frames, worker=False)) is Inline


@pytest.mark.parametrize("worker", [False, True])
def test_awaited_it_is_what_the_frames_give(worker: bool) -> None:
    x = speech(0.5, RATE, 2)
    wanted = through(Frames(Identity(), sample_rate=RATE, channels=2), x, SIZE, RATE)

    async def work() -> PCM:
        run = runner(Frames(Identity(), sample_rate=RATE, channels=2), worker)
        return np.concatenate([await run.process(block, RATE) for block in framed(x, SIZE)])

    np.testing.assert_array_equal(loop(work()), wanted)


@pytest.mark.parametrize("ms", [10, 20, 40])
def test_a_host_that_cannot_wait_gets_it_a_little_later(ms: int) -> None:
    """By HELD, or by a frame where frames are longer; the delay that is told is the true one."""
    size = RATE * ms // 1000
    x = speech(0.4, RATE)
    worker = Worker(Frames(Identity(), sample_rate=RATE))
    y = loop(played(worker, x, size))
    delay = 159 + max(round(HELD * RATE), size)
    np.testing.assert_array_equal(y[delay:], x[:-delay])
    assert not y[:delay].any()
    assert worker.delay == max(HELD, ms / 1000)


def test_frames_of_mixed_lengths_keep_their_length_and_order() -> None:
    x = speech(0.4, RATE)
    worker = Worker(Frames(Identity(), sample_rate=RATE))

    async def work() -> PCM:
        out = []
        for block in np.split(x, [160, 480, 500, 1600, 1600, 4000]):
            y = worker.exchange(block, RATE)
            assert y.shape == block.shape
            out.append(y)
            await caught_up(worker)
        return np.concatenate(out)

    y = loop(work())
    delay = 159 + round(worker.delay * RATE)
    assert worker.delay == pytest.approx(2400 / RATE)  # of the longest frame
    np.testing.assert_array_equal(y[4000:], x[4000 - delay : -delay])


def test_a_stage_that_hangs_is_silence_and_holds_nobody_up() -> None:
    stage = Held()
    frames = Frames(stage, sample_rate=RATE)
    worker, x = Worker(frames), speech(1.0, RATE)
    blocks = framed(x, SIZE)

    async def work() -> None:
        stage.go.clear()
        began = perf_counter()
        for block in blocks[:8]:
            y = await worker.process(block, RATE)
            assert y.shape == block.shape
            assert not y.any()
        assert perf_counter() - began < (BACKLOG + 1) * PATIENCE + 1.0
        began = perf_counter()
        for block in blocks[:8]:
            assert not worker.exchange(block, RATE).any()
        assert perf_counter() - began < 0.5
        assert frames.muted["late"] >= 8 * SIZE
        assert len(worker._asked) == BACKLOG  # what is dropped is not kept
        stage.go.set()
        await caught_up(worker)
        worker.forget()
        out = await played(worker, x)
        assert out.any()

    loop(work())


def test_what_comes_late_stays_out_and_the_delay_stays() -> None:
    stage = Held()
    worker, x = Worker(Frames(stage, sample_rate=RATE)), speech(1.0, RATE)
    blocks = framed(x, SIZE)

    async def work() -> PCM:
        out = []
        for k, block in enumerate(blocks):
            held = k in (20, 21, 22)
            stage.go.clear() if held else stage.go.set()
            out.append(worker.exchange(block, RATE))
            if not held:
                await caught_up(worker)
        return np.concatenate(out)

    y = loop(work())
    delay = 159 + round(HELD * RATE)
    np.testing.assert_array_equal(y[delay : 19 * SIZE], x[: 19 * SIZE - delay])
    assert not y[22 * SIZE : 23 * SIZE].any()
    np.testing.assert_array_equal(y[27 * SIZE :], x[27 * SIZE - delay : -delay])


@pytest.mark.parametrize("switch", ["disabled", "closed"])
def test_mute_is_at_once_whatever_the_thread_has_in_hand(switch: str) -> None:
    frames = Frames(Identity(), sample_rate=RATE)
    worker, x = Worker(frames), speech(0.4, RATE)

    async def work() -> None:
        assert (await played(worker, x)).any()
        if switch == "disabled":
            frames.enabled = False
        else:
            frames.close()
        assert not (await played(worker, x)).any()
        assert not (await worker.process(x[:SIZE], RATE)).any()

    loop(work())


@pytest.mark.parametrize("switch", ["disabled", "closed"])
def test_mute_reaches_a_frame_that_the_thread_has_begun(switch: str) -> None:
    stage = Held()
    frames = Frames(stage, sample_rate=RATE)
    worker, x = Worker(frames), speech(0.4, RATE)

    async def work() -> PCM:
        for block in framed(x, SIZE):
            await worker.process(block, RATE)
        stage.go.clear()
        task = asyncio.create_task(worker.process(x[3200:3520], RATE))
        await asyncio.sleep(0.02)
        if switch == "disabled":
            frames.enabled = False
        else:
            frames.close()
        stage.go.set()
        return await task

    assert x[3200:3520].any()
    assert not loop(work()).any()


def test_a_cancelled_wait_leaves_the_order_as_it_was() -> None:
    stage = Held()
    worker, x = Worker(Frames(stage, sample_rate=RATE)), speech(0.6, RATE)
    blocks = framed(x, SIZE)

    async def work() -> PCM:
        out = []
        for k, block in enumerate(blocks):
            if k == 10:
                stage.go.clear()
                task = asyncio.create_task(worker.process(block, RATE))
                await asyncio.sleep(0.01)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                stage.go.set()
                out.append(np.zeros_like(block))
            else:
                out.append(await worker.process(block, RATE))
        return np.concatenate(out)

    y = loop(work())
    np.testing.assert_array_equal(y[11 * SIZE :], x[11 * SIZE - 159 : -159])


def test_a_thread_that_is_gone_is_silence() -> None:
    worker, x = Worker(Frames(Identity(), sample_rate=RATE)), speech(0.1, RATE)
    worker.close()

    async def work() -> None:
        assert not (await worker.process(x, RATE)).any()
        assert not worker.exchange(x, RATE).any()
        assert not worker.exchange(x, RATE).any()

    loop(work())


@pytest.mark.parametrize("closed", [True, False])
def test_threads_go_with_what_they_worked_for(closed: bool) -> None:
    """Closed or merely forgotten, as LiveKit's processors are, and their memory with them."""
    x = speech(0.1, RATE)

    async def work() -> weakref.ref[Frames]:
        frames = Frames(Held(), sample_rate=RATE)
        worker = Worker(frames)
        await worker.process(x[:SIZE], RATE)
        await worker.process(speech(0.1, 8000)[:160], 8000)  # another engine
        worker.exchange(x[:SIZE], RATE)
        await caught_up(worker)
        if closed:
            worker.close()
        return weakref.ref(frames)

    seen = [loop(work()) for _ in range(20)]
    for _ in range(200):
        kept = sum(frames() is not None for frames in seen)
        threads = [thread.name for thread in threading.enumerate() if thread.name.startswith("velavox")]
        if not kept and not threads:
            return
        time.sleep(0.02)
    raise AssertionError(f"{kept} kept, {threads}")


def test_the_callers_frame_may_change_once_it_is_handed_over() -> None:
    stage = Held()
    worker, x = Worker(Frames(stage, sample_rate=RATE)), speech(0.4, RATE)

    async def work() -> PCM:
        out = []
        buffer = np.zeros((SIZE, 1), np.int16)
        for block in framed(x, SIZE):
            buffer[:] = block
            stage.go.clear()
            out.append(worker.exchange(buffer, RATE))
            buffer[:] = 7777
            stage.go.set()
            await caught_up(worker)
        return np.concatenate(out)

    y = loop(work())
    delay = 159 + SIZE
    np.testing.assert_array_equal(y[delay:], x[:-delay])

"""The compiled callbacks, called as PortAudio calls them: through a C function pointer."""

import ctypes
import time
from threading import Thread
from typing import Any

import numba
import numpy as np
import pytest
from signals import noise
from velavox.kernels import callback, exchange
from velavox.kernels.fence import acquire
from velavox.kernels.jit import F32, State
from velavox.kernels.jit import callback as compiled_callback

RATE, BLOCK = 48_000, 480
Rings = tuple[State, F32]


def rings(channels_in: int = 2, channels_out: int = 2) -> Rings:
    return exchange.fresh(channels_in, channels_out, RATE, RATE, (2048, 1024, 4096))


def pointer(x: F32 | None) -> Any:
    return None if x is None else x.ctypes.data_as(ctypes.POINTER(ctypes.c_float))


def called(function: Any, rings: Rings, x: F32 | None, y: F32 | None, frames: int, flags: int) -> None:
    assert function.ctypes(pointer(x), pointer(y), frames, None, flags, rings[0].ctypes.data) == 0


@pytest.mark.parametrize(("channels_in", "channels_out"), [(1, 1), (2, 1), (1, 2), (4, 6)])
def test_the_same_as_the_kernels(channels_in: int, channels_out: int) -> None:
    """Blocks of every size: sound, silence for want of it, and a full ring."""
    by_c, by_kernel = rings(channels_in, channels_out), rings(channels_in, channels_out)
    rng = np.random.default_rng(0)
    for turn in range(60):
        frames, voice = int(rng.integers(0, 600)), noise(int(rng.integers(0, 600)), seed=turn)
        x, flags = noise(frames * channels_in, seed=turn), int(rng.integers(0, 32))
        y, wanted = np.full((2, frames * channels_out), 0.77, np.float32)
        for state, memory in (by_c, by_kernel):
            exchange.put(state, memory, voice.copy(), voice.size)
        if turn % 3 == 0:
            called(callback.DUPLEX, by_c, x, y, frames, flags)
            exchange.duplex(*by_kernel, x, wanted, flags)
        else:
            called(callback.CAPTURE, by_c, x, None, frames, flags)
            exchange.captured(*by_kernel, x, flags)
            called(callback.PLAY, by_c, None, y, frames, flags)
            exchange.played(*by_kernel, wanted, flags)
        np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(by_c[1], by_kernel[1])
    assert by_c[0][0] == by_kernel[0][0]
    assert by_c[0][0].lost > 0
    assert by_c[0][0].starved > 0


def test_memory_follows_the_state() -> None:
    state, memory = rings()
    assert memory.ctypes.data == state.ctypes.data + state.nbytes
    assert memory.size >= state[0].captured_size + state[0].playing_size + state[0].sent_size


PATIENCE = 10**10  # looks, some seconds: only a callback that hangs takes so long


@compiled_callback(numba.int64, numba.types.CPointer(numba.int64))
def calls_seen(counter: Any) -> int:
    """Wait for 1000 more calls; how many there were."""
    count = numba.carray(counter, 1)
    start = count[0]
    for _ in range(PATIENCE):
        acquire()  # looks at the memory each time
        if count[0] - start >= 1000:
            break
    seen: int = count[0] - start
    return seen


def test_runs_while_another_thread_holds_the_gil() -> None:
    """A native loop calls back, while this thread waits in C without letting go of the GIL."""
    duplex, state = callback.DUPLEX.ctypes, rings()[0].view(np.int64)
    x, y = np.zeros(2 * BLOCK, np.float32), np.zeros(2 * BLOCK, np.float32)
    stop, count = np.ones(1, np.int64), np.zeros(1, np.int64)

    @numba.njit(nogil=True)  # type: ignore[untyped-decorator]
    def call_until(stop: Any, count: Any, x: Any, y: Any, state: Any) -> None:
        while stop[0] == 0:
            duplex(x.ctypes, y.ctypes, BLOCK, x.ctypes, 0, state.ctypes)
            count[0] += 1

    call_until(stop, count, x, y, state)  # compiles, and stops at once
    stop[0] = 0
    card = Thread(target=call_until, args=(stop, count, x, y, state))
    card.start()
    while count[0] == 0:
        time.sleep(0.001)
    counter = ctypes.POINTER(ctypes.c_int64)
    with_the_gil = ctypes.PYFUNCTYPE(ctypes.c_int64, counter)(calls_seen.address)
    calls = with_the_gil(count.ctypes.data_as(counter))
    stop[0] = 1
    card.join()
    assert calls >= 1000

"""The compiled callbacks, called as PortAudio calls them: through a C function pointer."""

import ctypes
import sys
import time
from threading import Thread
from typing import Any

import numba
import numpy as np
import pytest
from signals import noise
from velavox.kernels import callback, exchange
from velavox.kernels.jit import F32, State

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


def test_runs_while_another_thread_holds_the_gil() -> None:
    """A native loop calls back; meanwhile this thread sleeps without letting go of the GIL, and is still called for."""
    duplex, state = callback.DUPLEX.ctypes, rings()[0]
    x, y = np.zeros(2 * BLOCK, np.float32), np.zeros(2 * BLOCK, np.float32)
    control = np.zeros(2, np.int64)  # stop, calls

    @numba.njit(nogil=True)  # type: ignore[untyped-decorator]
    def call_for_ever(control: Any, x: Any, y: Any, state: Any) -> None:
        while control[0] == 0:
            duplex(x.ctypes, y.ctypes, BLOCK, x.ctypes, 0, state.ctypes)
            control[1] += 1

    sleep_with_the_gil = ctypes.PyDLL(None).usleep
    before = sys.getswitchinterval()
    card = Thread(target=call_for_ever, args=(control, x, y, state.view(np.int64)))
    control[0] = 1
    call_for_ever(control, x, y, state.view(np.int64))  # compiles
    control[0] = 0
    card.start()
    try:
        sys.setswitchinterval(60.0)  # nobody else gets it in between
        while control[1] == 0:
            time.sleep(0.001)
        seen, limit = control[1], time.monotonic() + 10
        while control[1] < seen + 1000 and time.monotonic() < limit:
            sleep_with_the_gil(1000)
        calls = control[1] - seen
    finally:
        sys.setswitchinterval(before)
        control[0] = 1
        card.join()
    assert calls >= 1000

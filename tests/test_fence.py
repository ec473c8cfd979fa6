"""A fence can be seen in the compiled code: it stays there, and the compiler merges no stores or loads across it."""

from typing import Any

import numba
import numpy as np
import pytest
from velavox.kernels.fence import acquire, release
from velavox.kernels.jit import F32, f32, kernel


def write_twice(x: F32) -> None:
    x[0] = 41.0
    x[0] = 42.0


def write_twice_apart(x: F32) -> None:
    x[0] = 41.0
    release()
    x[0] = 42.0


def read_twice(x: F32) -> None:
    x[1] = x[0]
    x[2] = x[0]


def read_twice_apart(x: F32) -> None:
    x[1] = x[0]
    acquire()
    x[2] = x[0]


def code(function: Any) -> str:
    dispatcher = numba.njit(numba.void(f32), nogil=True)(function)
    return str(dispatcher.inspect_llvm()[(f32,)])


def test_release() -> None:
    assert "fence release" in code(write_twice_apart)
    assert code(write_twice_apart).count("store float") > code(write_twice).count("store float")


def test_acquire() -> None:
    assert "fence acquire" in code(read_twice_apart)
    assert code(read_twice_apart).count("load float") > code(read_twice).count("load float")


@pytest.mark.nojit
def test_nothing_else_happens() -> None:
    x = np.array([1, 2, 3], np.float32)
    kernel(f32)(read_twice_apart)(x)
    np.testing.assert_array_equal(x, [1, 1, 1])
    kernel(f32)(write_twice_apart)(x)
    np.testing.assert_array_equal(x, [42, 1, 1])

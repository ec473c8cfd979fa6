import numpy as np
import pytest
from velavox.kernels import ring


@pytest.mark.nojit
def test_first_in_first_out() -> None:
    state, buffer, rng = ring.fresh(), ring.memory(100), np.random.default_rng(0)
    x = rng.normal(size=1000).astype(np.float32)
    got: list[np.float32] = []
    put = 0
    while put < x.size:
        block = x[put : put + int(rng.integers(0, 40))]
        ring.push(state, buffer, block)
        put += block.size
        out = np.zeros(int(rng.integers(1, 60)), np.float32)
        if ring.pop(state, buffer, out):
            got.extend(out)
    np.testing.assert_array_equal(got, x[: len(got)])
    assert len(got) > 850


@pytest.mark.nojit
def test_short_pop_touches_nothing() -> None:
    state, buffer = ring.fresh(primed=3), ring.memory(8)
    out = np.full(4, 0.77, np.float32)
    assert ring.pop(state, buffer, out) == 0
    assert (out == np.float32(0.77)).all()
    assert ring.pop(state, buffer, out[:3]) == 1
    assert (out[:3] == 0).all()


@pytest.mark.nojit
def test_row() -> None:
    state, buffer = ring.fresh(), ring.memory(16)
    x = np.arange(20, dtype=np.float32).reshape(2, 10)
    ring.push_row(state, buffer, x, 1, 2, 5)
    out = np.zeros(5, np.float32)
    assert ring.pop(state, buffer, out)
    np.testing.assert_array_equal(out, x[1, 2:7])


def test_memory_is_a_power_of_two() -> None:
    assert [ring.memory(n).size for n in (1, 2, 3, 160, 4096, 4097)] == [1, 2, 4, 256, 4096, 8192]


@pytest.mark.nojit
def test_as_much_as_there_is_memory_from_every_position() -> None:
    for start in range(16):
        state, buffer = ring.fresh(), ring.memory(16)
        state[0].read = state[0].write = start + 160
        for count in (0, 1, 15, 16):
            x, out = np.arange(count, dtype=np.float32) + 1, np.full(count, 0.77, np.float32)
            ring.push(state, buffer, x)
            assert state[0].write - state[0].read == count
            assert ring.pop(state, buffer, out)
            np.testing.assert_array_equal(out, x)


@pytest.mark.nojit
def test_skip() -> None:
    state, buffer, out = ring.fresh(), ring.memory(8), np.zeros(3, np.float32)
    ring.push(state, buffer, np.arange(7, dtype=np.float32))
    ring.skip(state[0], 4)
    assert ring.waiting(state[0]) == 3
    ring.pop(state, buffer, out)
    np.testing.assert_array_equal(out, [4, 5, 6])

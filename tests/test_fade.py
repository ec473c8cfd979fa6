import naive
import numpy as np
import pytest
from signals import noise, partitions
from velavox.kernels import fade
from velavox.kernels.jit import State

pytestmark = pytest.mark.nojit

RATE = 16_000
RAMP = 160  # samples from silence to full gain


def at(gain: float) -> State:
    state = fade.fresh(RATE)
    state[0].gain = gain
    return state


def test_starts_silent() -> None:
    y = np.ones(1, np.float32)
    fade.fade(fade.fresh(RATE), y, 1, 1.0)
    assert y[0] == np.float32(1 / RAMP)


@pytest.mark.parametrize(("gain", "target"), [(0, 1), (1, 0), (0.3, 1), (0.7, 0.2), (1, 1), (0, 0), (0.5, 0.5)])
def test_twin(gain: float, target: float) -> None:
    y = noise(500)
    wanted = naive.fade(y.astype(float), RATE, fade.DURATION, gain, target)
    fade.fade(at(gain), y, y.size, target)
    np.testing.assert_allclose(y, wanted, atol=1e-6)


def test_at_full_gain_nothing_changes() -> None:
    x, state = noise(1000), fade.fresh(RATE)
    y = x.copy()
    fade.fade(state, y, y.size, 1.0)
    np.testing.assert_array_equal(y[RAMP - 1 :], x[RAMP - 1 :])
    z = x.copy()
    fade.fade(state, z, z.size, 1.0)
    np.testing.assert_array_equal(z, x)


def test_muted_is_zero_whatever_comes() -> None:
    state, y = at(1.0), noise(1000)
    fade.fade(state, y, y.size, 0.0)
    assert not y[RAMP - 1 :].any()
    nonsense = np.array([np.nan, np.inf, -np.inf, 3e38], np.float32)
    for gain in (0.0, 1e-3):  # silent, and within one step of it
        y = nonsense.copy()
        fade.fade(at(gain), y, y.size, 0.0)
        assert (y == 0).all()


def test_partition_does_not_matter() -> None:
    x = noise(2000)
    for target in (1.0, 0.35):
        whole = x.copy()
        fade.fade(fade.fresh(RATE), whole, whole.size, target)
        for name, sizes in partitions(x.size):
            state, y = fade.fresh(RATE), x.copy()
            for block in np.split(y, np.cumsum(sizes)[:-1]):
                fade.fade(state, block, block.size, target)
            np.testing.assert_array_equal(y, whole, err_msg=name)


def test_only_the_frames_asked_for() -> None:
    y = np.ones(100, np.float32)
    fade.fade(at(0.0), y, 60, 0.0)
    assert (y[:60] == 0).all()
    assert (y[60:] == 1).all()


def test_turned_back_in_the_middle_it_does_not_jump() -> None:
    state, y = at(1.0), np.ones(270, np.float32)
    for block, target in zip(np.split(y, [100, 170]), (0.0, 1.0, 0.0), strict=True):
        fade.fade(state, block, block.size, target)
    assert y.min() < 0.4
    assert np.abs(np.diff(y, prepend=1.0)).max() <= 1.001 / RAMP

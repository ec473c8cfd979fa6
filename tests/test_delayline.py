import numpy as np
import pytest
from signals import noise, partitions
from velavox.kernels import delayline

pytestmark = pytest.mark.nojit


@pytest.mark.parametrize("delay", [1, 63, 480, 3000])
def test_delays_by_exactly_so_many_samples(delay: int) -> None:
    x = noise(2000)
    np.testing.assert_array_equal(delayline.offline(x, delay), np.concatenate([np.zeros(delay, np.float32), x])[: x.size])


def test_streamed_equals_offline() -> None:
    x = noise(9000)
    for name, sizes in partitions(x.size):
        state, memory, y = delayline.fresh(), delayline.memory(700), x.copy()
        for block in np.split(y, np.cumsum(sizes)[:-1]):
            delayline.stream(state, memory, block)
        np.testing.assert_array_equal(y, delayline.offline(x, 700), err_msg=name)


def test_x_is_left_as_it_is() -> None:
    x = noise(100)
    before = x.copy()
    delayline.offline(x, 7)
    np.testing.assert_array_equal(x, before)


def test_no_delay_is_refused() -> None:
    with pytest.raises(ValueError, match="1 or more"):
        delayline.memory(0)

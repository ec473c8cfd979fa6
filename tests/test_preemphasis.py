import naive
import numpy as np
import pytest
from signals import noise, partitions, tone, voice
from velavox.kernels import preemphasis

pytestmark = pytest.mark.nojit


@pytest.mark.parametrize("alpha", [0.0, 0.9, 0.97, 1.0])
def test_equals_twin(alpha: float) -> None:
    x = voice(0.2)
    np.testing.assert_allclose(preemphasis.offline(x, alpha), naive.preemphasis(x.astype(np.float64), alpha), atol=1e-7)


def test_streamed_equals_offline() -> None:
    x = voice(0.1)
    whole = preemphasis.offline(x)
    for name, blocks in partitions(x.size):
        state, y, start = preemphasis.fresh(), np.empty_like(x), 0
        for n in blocks:
            preemphasis.stream(state, y[start : start + n], x[start : start + n])
            start += n
        np.testing.assert_array_equal(y, whole, err_msg=name)


@pytest.mark.parametrize("hz", [100, 1000, 7000])
def test_gain_of_a_tone(hz: int) -> None:
    y = preemphasis.offline(tone(1600, hz, 0.5), 0.97)[160:]
    gain = np.sqrt(2 * np.mean(y.astype(np.float64) ** 2)) / 0.5
    assert gain == pytest.approx(abs(1 - 0.97 * np.exp(-2j * np.pi * hz / 16_000)), rel=1e-3)


def test_int16_and_float_agree() -> None:
    pcm = np.round(noise(500) * 32768).astype(np.int16)
    np.testing.assert_array_equal(preemphasis.offline(pcm), preemphasis.offline(pcm / np.float32(32768)))


def test_empty() -> None:
    assert preemphasis.offline(np.empty(0, np.float32)).shape == (0,)


def test_errors() -> None:
    with pytest.raises(ValueError, match=r"alpha=1\.2"):
        preemphasis.fresh(1.2)
    with pytest.raises(ValueError, match="alpha=nan"):
        preemphasis.fresh(float("nan"))

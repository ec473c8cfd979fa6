import kaldi
import numpy as np
import pytest
from signals import F32, noise
from velavox.kernels import fft
from velavox.kernels.jit import State, f32, kernel, record, record_dtype

SIZES = [32, 64, 128, 512, 2048, 4096]  # every stage of radix 4, with and without the one of radix 2


def forward(x: F32) -> tuple[F32, F32]:
    re, im = np.full((2, x.size // 2 + 1), np.nan, np.float32)
    fft.transforms(x.size)[0](fft.fresh(x.size), re, im, x)
    return re, im


@kaldi.same_rounding
@pytest.mark.parametrize("n", SIZES)
def test_same_bits_as_kaldi(n: int) -> None:
    x = noise(n, 1e4)
    np.testing.assert_array_equal(forward(x), kaldi.rfft(x))


@pytest.mark.nojit
@pytest.mark.parametrize("n", SIZES)
def test_equals_numpy(n: int) -> None:
    x = noise(n)
    re, im = forward(x)
    expected = np.fft.rfft(x.astype(np.float64))
    assert np.abs(re + 1j * im - expected).max() < 2e-7 * np.abs(expected).max()


@pytest.mark.nojit
@pytest.mark.parametrize("n", SIZES)
def test_inverse_of_any_spectrum(n: int) -> None:
    re, im = noise(n // 2 + 1, seed=1), noise(n // 2 + 1, seed=2)
    before = re.copy(), im.copy()
    x = np.full(n, np.nan, np.float32)
    fft.transforms(n)[1](fft.fresh(n), x, re, im)
    expected = np.fft.irfft(re + 1j * im)
    np.testing.assert_allclose(x, expected, atol=3e-7 * np.abs(expected).max())
    np.testing.assert_array_equal((re, im), before)


@pytest.mark.parametrize("n", SIZES)
def test_there_and_back(n: int) -> None:
    x = noise(n)
    y = np.empty_like(x)
    fft.transforms(n)[1](fft.fresh(n), y, *forward(x))
    np.testing.assert_allclose(y, x, atol=5e-7 * np.abs(x).max())


def test_inside_a_kernel() -> None:
    """As words on a nested record: a delay of one sample, as a turn of each bin."""
    n = 256
    dtype = record_dtype(("fft", fft.plan_dtype(n)), ("re", "f4", (n // 2 + 1,)), ("im", "f4", (n // 2 + 1,)))

    @kernel(record(dtype), f32, f32)
    def delay(state: State, out: F32, x: F32) -> None:
        s = state[0]
        fft.rfft(s.fft, s.re, s.im, x)
        for k in range(len(s.re)):
            turn = np.exp(-2j * np.pi * k / n)
            z = turn * complex(s.re[k], s.im[k])
            s.re[k], s.im[k] = z.real, z.imag
        fft.irfft(s.fft, out, s.re, s.im)

    state = np.zeros(1, dtype)
    state[0].fft = fft.fresh(n)[0]
    x = noise(n)
    y = np.empty_like(x)
    delay(state, y, x)
    np.testing.assert_allclose(y, np.roll(x, 1), atol=1e-6)


@pytest.mark.nojit
@pytest.mark.parametrize("n", [0, 16, 100, 8192])
def test_size_out_of_range(n: int) -> None:
    with pytest.raises(ValueError, match=f"n={n} .*32 to 4096"):
        fft.plan_dtype(n)

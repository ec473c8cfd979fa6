import numpy as np
from velavox.kernels.exact import exact_word
from velavox.kernels.jit import F32, f32, kernel


@exact_word
def product_minus(a: np.float32, b: np.float32) -> np.float32:
    return a * a - b


@kernel(f32, f32)
def difference(out: F32, x: F32) -> None:
    for i in range(out.size):
        out[i] = product_minus(x[0], x[1])


def test_a_product_is_rounded_before_the_sum() -> None:
    """(1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, whose last term only a fused multiply-add keeps."""
    out = np.ones(40, np.float32)
    difference(out, np.array([1 + 2**-12, 1 + 2**-11], np.float32))
    assert not out.any()

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import butter, sosfilt
from signals import noise
from velavox.kernels.biquad import biquads, high_pass

pytestmark = pytest.mark.nojit


def test_filters_as_the_design_says_in_any_blocks() -> None:
    x = noise(3000)
    wanted = sosfilt(butter(4, 100, "high", fs=4000, output="sos"), x)
    y, memory = x.copy(), np.zeros((2, 2))
    for start in range(0, x.size, 700):
        biquads(y[start : start + 700], high_pass(4, 100, 4000), memory)
    np.testing.assert_allclose(y, wanted, atol=1e-6)


def test_an_offset_goes_and_leaves_no_denormals() -> None:
    memory = np.zeros((2, 2))
    biquads(np.full(4000, 0.3), high_pass(4, 60, 16000), memory)
    y = np.zeros(40000)
    biquads(y, high_pass(4, 60, 16000), memory)
    assert abs(y[-1]) < 1e-12
    biquads(y, high_pass(4, 60, 16000), memory)
    assert np.all((memory == 0) | (np.abs(memory) > 1e-30))

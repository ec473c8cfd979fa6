import numpy as np
import pytest
from velavox.kernels.edge import mono

pytestmark = pytest.mark.nojit


def test_kernels_get_what_their_signature_names() -> None:
    for x in (np.ones(6)[::2], np.broadcast_to(np.float32(1), 3), [1.0, 1.0, 1.0], np.ones(3, np.float16)):
        y = mono(x)
        assert y.dtype == np.float32
        assert y.flags.c_contiguous
        assert y.flags.writeable
        np.testing.assert_array_equal(y, [1, 1, 1])


def test_the_users_array_is_not_shared() -> None:
    x = np.zeros(3, np.float32)
    mono(x)[:] = 1
    assert not x.any()


def test_int16_has_full_scale_32768() -> None:
    np.testing.assert_array_equal(mono(np.array([-32768, 16384, 0], np.int16)), [-1, 0.5, 0])


def test_errors() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 100\).*one channel"):
        mono(np.zeros((2, 100)))
    with pytest.raises(TypeError, match=r"int32.*int16"):
        mono(np.zeros(3, np.int32))
    assert mono([]).shape == (0,)

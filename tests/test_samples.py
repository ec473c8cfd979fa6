import numpy as np
import pytest
from velavox.engine.samples import full_scale, read_into, silence, written_as


@pytest.mark.parametrize(
    ("dtype", "lowest", "highest"),
    [("int8", -128, 127), ("int16", -32768, 32767), ("int32", -(2**31), 2**31 - 1), ("uint8", 0, 255)],
)
def test_integers_by_full_scale(dtype: str, lowest: int, highest: int) -> None:
    x = np.array([lowest, highest, 128 if dtype == "uint8" else 0], dtype)
    out = np.zeros(3, np.float32)
    read_into(out, x)
    assert out[0] == -1
    assert 0.99 < out[1] <= 1
    assert out[2] == 0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_as_they_are(dtype: str) -> None:
    out = np.zeros(3, np.float32)
    read_into(out, np.array([0.5, -1.0, 0.25], dtype))
    assert out.tolist() == [0.5, -1.0, 0.25]


def test_overflow_becomes_infinite_without_a_warning() -> None:
    out = np.zeros(1, np.float32)
    read_into(out, np.array([1e300]))
    assert np.isinf(out[0])


@pytest.mark.parametrize("x", [np.array(["a"]), np.array([1j]), np.array([True]), np.array([2**40]), np.array([None])])
def test_other_kinds_are_refused(x: np.ndarray) -> None:
    with pytest.raises(TypeError, match="give float16"):
        full_scale(x.dtype)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8"])
def test_the_ends_of_the_scale_are_at_full_scale(dtype: str) -> None:
    info = np.iinfo(dtype)
    out = np.zeros(2, np.float32)
    read_into(out, np.array([info.min, info.max], dtype))
    assert (np.abs(out) >= full_scale(np.dtype(dtype))).all()
    assert full_scale(np.dtype(dtype)) > 0.99


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "float16", "float32", "float64"])
def test_written_and_read_again(dtype: str) -> None:
    kind = np.dtype(dtype)
    x = np.linspace(-1, 1, 4001, dtype=np.float32)
    y = written_as(x, kind)
    assert y.dtype == kind
    again = np.zeros_like(x)
    read_into(again, y)
    step = 2.0 ** (1 - 8 * kind.itemsize) if kind.kind in "iu" else 2.0 ** -np.finfo(kind).nmant
    assert np.abs(again - x)[x <= 1 - step].max() <= max(step / 2, 2.0**-24)  # above it full scale ends
    np.testing.assert_array_equal(written_as(again, kind), y)


@pytest.mark.parametrize(("dtype", "lowest", "middle", "highest"), [("int16", -32768, 0, 32767), ("uint8", 0, 128, 255)])
def test_beyond_full_scale_is_full_scale(dtype: str, lowest: int, middle: int, highest: int) -> None:
    y = written_as(np.array([-3.0, 0.0, 3.0], np.float32), np.dtype(dtype))
    assert y.tolist() == [lowest, middle, highest]
    assert silence((2, 1), np.dtype(dtype)).tolist() == [[middle], [middle]]


def test_32_bits_keep_what_float32_has() -> None:
    x = np.array([-1.0, 2.0**-24, 0.5, 1.0], np.float32)
    assert written_as(x, np.dtype(np.int32)).tolist() == [-(2**31), 128, 2**30, 2**31 - 1]

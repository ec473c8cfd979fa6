import kaldi_native_fbank as knf
import naive
import numpy as np
import pytest
from signals import F32
from velavox.kernels import cmn

pytestmark = pytest.mark.nojit


def frames(n: int, dim: int = 3, seed: int = 0) -> F32:
    rng = np.random.default_rng(seed)
    return (15 + 4 * rng.normal(size=(n, dim)) + np.linspace(0, 5, n)[:, None]).astype(np.float32)


def streamed(x: F32, window: int, minimum: int, blocks: list[int]) -> F32:
    state = cmn.fresh(x.shape[1], window, minimum)
    stream, parts, start = cmn.stream_for(state.dtype), [], 0
    for n in blocks:
        out = np.full((n + minimum - 1, x.shape[1]), np.nan, np.float32)
        parts.append(out[: stream(state, out, x[start : start + n])])
        start += n
    return np.concatenate([*parts, cmn.tail(state)])


@pytest.mark.parametrize("n", [0, 1, 9, 10, 11, 40, 41, 42, 200])
@pytest.mark.parametrize("minimum", [1, 10, 41])
def test_equals_twin(n: int, minimum: int) -> None:
    x = frames(n)
    expected = naive.cmn(x.astype(np.float64), 40, minimum) if n else x
    np.testing.assert_allclose(cmn.offline(x, 40, minimum), expected, atol=2e-6)


def test_equals_kaldi() -> None:
    x = frames(720)
    y = cmn.offline(x)
    for t in (0, 50, 99, 100, 500, 600, 601, 719):
        statistics = knf.compute_cmvn_stats(x[max(0, t - 600) : max(t + 1, 100)])
        np.testing.assert_allclose(y[t], knf.apply_cmvn(statistics, knf.CmvnOptions(), x[t : t + 1])[0], atol=3e-6)


@pytest.mark.parametrize("minimum", [1, 10])
def test_any_partition(minimum: int) -> None:
    x = frames(150)
    whole = cmn.offline(x, 40, minimum)
    for blocks in ([150], [1] * 150, [7] * 21 + [3], [0, 9, 0, 1, 100, 0, 40], [11, 139]):
        np.testing.assert_array_equal(streamed(x, 40, minimum, blocks), whole)


def test_delay_at_the_start_alone() -> None:
    state = cmn.fresh(3, 40, 10)
    stream, out = cmn.stream_for(state.dtype), np.empty((10, 3), np.float32)
    counts = [stream(state, out, x[None]) for x in frames(50)]
    assert counts == [0] * 9 + [10] + [1] * 40


def test_constant_becomes_zero_and_an_offset_vanishes() -> None:
    np.testing.assert_allclose(cmn.offline(np.full((700, 3), 12.3, np.float32)), 0, atol=1e-5)
    x = frames(300)
    np.testing.assert_allclose(cmn.offline(x + np.float32(7)), cmn.offline(x), atol=1e-5)


@pytest.mark.parametrize("t", [3, 100])
def test_nan_stays_in_its_frame(t: int) -> None:
    x = frames(200)
    x[t, 1] = np.nan
    y = cmn.offline(x, 40, 10)
    assert np.argwhere(np.isnan(y)).tolist() == [[t, 1]]
    np.testing.assert_array_equal(y[t + 42 :], cmn.offline(frames(200), 40, 10)[t + 42 :].astype(np.float32))


def test_errors() -> None:
    for minimum in (0, 602):
        with pytest.raises(ValueError, match=f"minimum={minimum} .* 601"):
            cmn.fresh(minimum=minimum)
    with pytest.raises(ValueError, match="window=0"):
        cmn.fresh(window=0)
    with pytest.raises(ValueError, match=r"shape \(80,\)"):
        cmn.offline(np.zeros(80))

import naive
import numpy as np
import pytest
from signals import noise
from velavox.kernels import guard, ring

pytestmark = pytest.mark.nojit


def test_sanitise_twin_and_counts() -> None:
    x = np.concatenate([noise(50), [np.nan, np.inf, -np.inf, 16.5, -3e9, 1e-39, -1e-16, 1.0, -2.0]]).astype(np.float32)
    rows = np.stack([x, x])
    counts = guard.fresh()
    guard.sanitise(counts, rows, x.size, 1.0)
    wanted = naive.sanitise(x.astype(float), guard.SCALE_LIMIT, guard.TINY)
    np.testing.assert_array_equal(rows, np.stack([wanted, wanted]).astype(np.float32))
    assert counts[0].tolist() == (6, 4, 4, 0)


def test_sanitise_leaves_what_lies_behind_the_frames() -> None:
    rows = np.full((1, 10), np.nan, np.float32)
    guard.sanitise(guard.fresh(), rows, 4, 1.0)
    assert (rows[0, :4] == 0).all()
    assert np.isnan(rows[0, 4:]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_finite_sees_every_place(bad: float) -> None:
    """Under `nnan` or `ninf` fast-math flags this would always say finite."""
    assert guard.finite(noise(160)) == 1
    for place in (0, 77, 159):
        y = noise(160)
        y[place] = bad
        assert guard.finite(y) == 0


def test_deliver_clips_counts_and_writes_all() -> None:
    state, buffer, counts = ring.fresh(), ring.memory(8), guard.fresh()
    ring.push(state, buffer, np.array([0.5, 1.5, -1.0, -1.0001, np.nan, np.inf], np.float32))
    out = np.full((7, 2), 0.77, np.float32)
    guard.deliver(counts, state, buffer, out, 1, 1, 6)
    np.testing.assert_array_equal(out[1:, 1], np.array([0.5, 1, -1, -1, 0, 1], np.float32))
    assert (out[:, 0] == np.float32(0.77)).all()
    assert counts[0].clipped == 4

from __future__ import annotations

import naive
import numpy as np
import pytest
from velavox.kernels import lobes

BINS = 257
RNG = np.random.default_rng(0)


def fresh(power: np.ndarray) -> np.ndarray:
    state = np.zeros(1, lobes.lobes_dtype(BINS))
    state[0].power[:] = power
    return state


@pytest.mark.nojit
@pytest.mark.parametrize(
    "power",
    [
        RNG.random(BINS),
        np.arange(BINS),
        np.arange(BINS)[::-1],
        np.ones(BINS),
        np.zeros(BINS),
        np.arange(BINS) % 2,
        np.repeat(RNG.random(BINS), 3)[:BINS],
    ],
    ids=["noise", "up", "down", "flat", "nothing", "comb", "plateaus"],
)
def test_lobes_cover_all_bins_with_one_peak_each(power: np.ndarray) -> None:
    state = fresh(power)
    count = lobes.find_lobes(state[0])
    assert 1 <= count <= state[0].peak.size - 1
    stops = [0, *state[0].stop[:count]]
    assert stops[-1] == BINS
    assert np.all(np.diff(stops) > 0)
    for peak, start, stop in zip(state[0].peak[:count], stops, stops[1:], strict=False):
        assert start <= peak < stop
        assert state[0].power[peak] == state[0].power[start:stop].max()
        assert np.all(np.diff(state[0].power[start : peak + 1]) >= 0)
        assert np.all(np.diff(state[0].power[peak:stop]) <= 0)


@pytest.mark.nojit
def test_rotors() -> None:
    turn = np.linspace(-0.5, 0.5, 1001, dtype=np.float32)
    cosine, sine = np.empty_like(turn), np.empty_like(turn)
    lobes.rotors(cosine, sine, turn)
    np.testing.assert_allclose(cosine, np.cos(2 * np.pi * turn), atol=2e-5)
    np.testing.assert_allclose(sine, np.sin(2 * np.pi * turn), atol=2e-5)


@pytest.mark.nojit
def test_twin_over_frames() -> None:
    state, turns = np.zeros(1, lobes.lobes_dtype(BINS)), np.zeros(BINS)
    bins = np.arange(BINS, dtype=np.float32)
    moved = np.minimum(1.2 * bins, 256 - (256 - bins) * 0.4).astype(np.float32)
    source = np.interp(bins, moved, bins).astype(np.float32)
    for _ in range(5):
        X = np.convolve(RNG.normal(size=BINS) + 1j * RNG.normal(size=BINS), [1, 2, 1], "same")
        re, im = X.real.astype(np.float32), X.imag.astype(np.float32)
        out = np.full((2, BINS), np.nan, np.float32)
        lobes.warp_lobes(state[0], out[0], out[1], re, im, moved, source, np.float32(80 / 512))
        wanted = naive.move_lobes(re + 1j * im, turns, moved.astype(float), source.astype(float), 80 / 512)
        np.testing.assert_allclose(out[0] + 1j * out[1], wanted, atol=2e-3)


@pytest.mark.nojit
def test_a_constant_stays() -> None:
    state = np.zeros(1, lobes.lobes_dtype(BINS))
    bins = np.arange(BINS, dtype=np.float32)
    re = np.zeros(BINS, np.float32)
    re[:3] = 4, 2, 1
    out = np.empty((2, BINS), np.float32)
    moved, source = (bins**2 / 256).astype(np.float32), (16 * np.sqrt(bins)).astype(np.float32)
    for _ in range(3):
        lobes.warp_lobes(state[0], out[0], out[1], re, 0 * re, moved, source, np.float32(0.15))
        assert out[0, 0] == 4
        assert out[1, 0] == 0

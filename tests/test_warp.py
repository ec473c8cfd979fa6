from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from velavox.kernels import warp

GRID = np.linspace(0, np.pi, 257)
INSIDE = {
    "symmetric": (0.6, 0.9, 1.0, 1.1, 1.6),
    "asymmetric": (0.6, 0.9, 1.0, 1.1, 1.14),
    "power": (0.6, 0.9, 1.0, 1.1, 1.6),
    "quadratic": (-3.1, -1.0, 0.0, 1.0, 3.1),
    "bilinear": (-0.7, -0.1, 0.0, 0.1, 0.7),
    "kaldi": (0.6, 0.9, 1.0, 1.1, 1.6),
}
CASES = [(name, a) for name, values in INSIDE.items() for a in values]
SPEECH = 1500 / 8000 * np.pi


@pytest.mark.nojit
@pytest.mark.parametrize(("name", "a"), CASES)
def test_twin(name: str, a: float) -> None:
    np.testing.assert_allclose(warp.offline(GRID, name, a), naive.warp(GRID, name, a), atol=1e-12)


@pytest.mark.nojit
@pytest.mark.parametrize(("name", "a"), CASES)
def test_rises_from_0_to_pi(name: str, a: float) -> None:
    moved = warp.offline(GRID, name, a)
    assert moved[0] == 0
    assert moved[-1] == pytest.approx(math.pi, abs=1e-12)
    assert np.all(np.diff(moved) > 0)


@pytest.mark.nojit
@pytest.mark.parametrize("name", warp.NAMES)
def test_identity(name: str) -> None:
    np.testing.assert_allclose(warp.offline(GRID, name, 0 if name in ("quadratic", "bilinear") else 1), GRID, atol=1e-12)


@pytest.mark.nojit
@pytest.mark.parametrize("a", [0.7, 0.9, 1.2])
def test_inverses_in_closed_form(a: float) -> None:
    for name, back in (("symmetric", 1 / a), ("power", 1 / a), ("bilinear", 1 - a)):
        there = warp.offline(GRID, name, a - 1 if name == "bilinear" else a)
        np.testing.assert_allclose(warp.offline(there.clip(0, np.pi), name, back), GRID, atol=1e-12)


@pytest.mark.nojit
@pytest.mark.parametrize("name", warp.NAMES)
@pytest.mark.parametrize("factor", [0.8, 1.13])
def test_inverse_of_a_map(name: str, factor: float) -> None:
    a = warp.parameter(name, factor, SPEECH)
    moved = warp.offline(GRID, name, a)
    source = warp.inverse(GRID, moved)
    assert np.all(np.diff(source) > 0)
    np.testing.assert_allclose(np.interp(source, GRID, moved), GRID, atol=1e-12)  # exact for the map between its points
    np.testing.assert_allclose(warp.offline(source, name, a), GRID, atol=2e-3)  # a sixth of a grid step for the curve


@pytest.mark.nojit
@pytest.mark.parametrize("name", warp.NAMES)
@pytest.mark.parametrize("factor", [0.7, 0.9, 1.1])
def test_one_scale_for_all_shapes(name: str, factor: float) -> None:
    a = warp.parameter(name, factor, SPEECH)
    assert warp.offline(SPEECH, name, a) == pytest.approx(factor * SPEECH, rel=1e-9)


@pytest.mark.nojit
def test_piecewise_slopes_and_knees() -> None:
    knee = 7 / 8 * np.pi
    for a in (0.8, 1.1):
        assert warp.offline(knee, "asymmetric", a) == pytest.approx(a * knee)
        assert warp.offline(knee / max(a, 1), "symmetric", a) == pytest.approx(min(a, 1) * knee)
        assert warp.offline(np.pi / 2, "kaldi", a) == pytest.approx(np.pi / 2 / a)
        assert warp.offline(np.pi / 2, "symmetric", a) == pytest.approx(np.pi / 2 * a)


@pytest.mark.nojit
def test_voicemask_is_quadratic_after_bilinear() -> None:
    between = naive.warp(GRID, "bilinear", 0.09)
    np.testing.assert_allclose(warp.voicemask(GRID, 0.09, -1.2), naive.warp(between, "quadratic", -1.2), atol=1e-12)


@pytest.mark.nojit
def test_displacement() -> None:
    assert warp.displacement(GRID, GRID) == 0
    # triangle of height (1 - 0.8) 7/8 pi over pi; area of a (omega / pi - (omega / pi)^2) is a pi / 6
    assert warp.displacement(GRID, warp.offline(GRID, "symmetric", 0.8)) == pytest.approx(0.1 * 7 / 8 * np.pi**2, rel=1e-4)
    assert warp.displacement(GRID, warp.offline(GRID, "quadratic", -2)) == pytest.approx(np.pi / 3, rel=1e-4)
    # the published bounds of VoiceMask, alpha in [0.08, 0.10] and area in [0.32, 0.40], agree where beta is 0
    for sign in (-1, 1):
        assert warp.displacement(GRID, warp.voicemask(GRID, sign * 0.08, 0.0)) == pytest.approx(0.32, abs=0.001)
        assert warp.displacement(GRID, warp.voicemask(GRID, sign * 0.10, 0.0)) == pytest.approx(0.40, abs=0.001)


@pytest.mark.nojit
@pytest.mark.parametrize("name", warp.NAMES)
def test_values_out_of_limits_are_refused(name: str) -> None:
    for end in warp.LIMITS[name]:
        with pytest.raises(ValueError, match=f"{name} rises only"):
            warp.offline(GRID, name, end)
    with pytest.raises(ValueError, match="a=nan"):
        warp.offline(GRID, name, math.nan)


@pytest.mark.nojit
@pytest.mark.parametrize(("name", "a"), [("asymmetric", 8 / 7), ("quadratic", -np.pi), ("quadratic", np.pi)])
def test_limits_are_where_a_warp_stops_rising(name: str, a: float) -> None:
    assert any(a == pytest.approx(end) for end in warp.LIMITS[name])
    assert np.all(np.diff(naive.warp(GRID, name, 0.99 * a)) > 0)
    assert not np.all(np.diff(naive.warp(GRID, name, 1.02 * a)) > 0)


@pytest.mark.nojit
def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="symmetric, asymmetric"):
        warp.offline(GRID, "cubic", 1.0)
    for omega in (-0.1, 3.2, math.nan):
        with pytest.raises(ValueError, match="from 0 to pi"):
            warp.offline(omega, "power", 1.1)
    for moved in (GRID[::-1], GRID[:-1], GRID / 2, GRID * 0):
        with pytest.raises(ValueError, match="moved of shape"):
            warp.inverse(GRID, moved)
    with pytest.raises(ValueError, match="asymmetric rises only"):
        warp.parameter("asymmetric", 1.2, SPEECH)
    with pytest.raises(ValueError, match="symmetric, asymmetric"):
        warp.parameter("cubic", 1.2, SPEECH)

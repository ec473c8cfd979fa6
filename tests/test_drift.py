"""The drift controller: rest at exactly nominal, convergence, steps; the clock line."""

from __future__ import annotations

import numpy as np
import pytest
from velavox.engine.drift import BAND, LIMIT, REST, ClockLine, Drift


def settle(drift: Drift, error: float, ppm: float, seconds: float, noise: float = 0.0) -> float:
    """The error after `seconds` in which the clocks differ by `ppm` and the correction acts."""
    rng = np.random.default_rng(3)
    for k in range(int(seconds / 0.01)):
        error += 0.01 * (1e-6 * ppm - drift.correction)
        drift.update(k * 0.01, error + noise * rng.normal())
    return error


@pytest.mark.nojit
@pytest.mark.parametrize("one_clock", [True, False])
def test_small_errors_change_nothing(one_clock: bool) -> None:
    drift = Drift(one_clock)
    settle(drift, 0.9 * BAND, 0.0, 60.0)
    assert drift.correction == 0.0


@pytest.mark.nojit
@pytest.mark.parametrize("ppm", [200, -200, 400, 3])
def test_a_difference_of_clocks_is_learned_and_the_error_goes(ppm: float) -> None:
    drift = Drift(one_clock=False)
    error = settle(drift, 0.0, ppm, 900.0, noise=1e-3)
    assert abs(error) < BAND
    assert drift.correction == pytest.approx(1e-6 * ppm, abs=25e-6 if abs(ppm) > 100 else 5e-6)


@pytest.mark.nojit
def test_one_clock_removes_an_error_and_rests_at_exactly_nominal() -> None:
    drift = Drift(one_clock=True)
    error = settle(drift, 0.012, 0.0, 120.0)
    assert abs(error) < 2 * REST
    assert drift.correction == 0.0


@pytest.mark.nojit
def test_the_ratio_stays_within_its_limit() -> None:
    drift = Drift(one_clock=False)
    settle(drift, 5.0, 0.0, 20.0)
    assert 0 < drift.correction <= LIMIT


@pytest.mark.nojit
def test_a_jump_is_taken_as_it_is_and_not_smoothed() -> None:
    drift = Drift(one_clock=True)
    for k in range(1000):
        drift.update(k * 0.01, 0.0)
    drift.forget()  # starved, and kept
    for k in range(1000, 1100):
        drift.update(k * 0.01, 0.02)
    assert drift.correction == pytest.approx(LIMIT)
    drift.forget()  # dropped
    for k in range(1100, 1200):
        drift.update(k * 0.01, 0.0)
    assert drift.correction == 0.0


@pytest.mark.nojit
def test_updates_tell_when_the_correction_changed() -> None:
    drift = Drift(one_clock=False)
    told, before = 0, 0.0
    seen = 0
    for k in range(3000):
        told += drift.update(k * 0.01, 0.004)
        seen += drift.correction != before
        before = drift.correction
    assert told == seen > 1


@pytest.mark.nojit
def test_a_line_runs_through_uneven_callbacks() -> None:
    line, rng = ClockLine(48_000, longest=0.1, slack=0.02), np.random.default_rng(0)
    for k in range(1, 2000):
        line.add(k * 0.01 + rng.uniform(0, 4e-3), 480 * k)
    assert line.at(20.0) / 48_000 == pytest.approx(1999 * 0.01 + 0.01 - 2e-3, abs=1e-3)


@pytest.mark.nojit
def test_a_line_ends_where_callbacks_do() -> None:
    line = ClockLine(48_000, longest=0.02, slack=0.02)
    for k in range(1, 300):
        line.add(k * 0.01, 480 * k)
    assert line.at(5.0) == pytest.approx(299 * 480 + 960, abs=20)


@pytest.mark.nojit
def test_a_late_callback_does_not_bend_the_line_and_lost_time_moves_it() -> None:
    line = ClockLine(48_000, longest=0.1, slack=0.02)
    for k in range(1, 300):
        line.add(k * 0.01, 480 * k)
    line.add(3.04, 300 * 480)  # late by 40 ms, and those after it in time
    assert not line.sure
    for k in range(305, 320):
        line.add(k * 0.01, 480 * k)
        assert line.sure
        assert line.at(k * 0.01) == pytest.approx(480 * k, abs=1)
    for k in range(320, 330):  # half a second was lost
        line.add(k * 0.01 + 0.5, 480 * k)
    assert line.sure
    assert line.at(3.79) == pytest.approx(329 * 480, abs=1)

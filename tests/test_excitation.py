from __future__ import annotations

import naive
import numpy as np
import pytest
from velavox.kernels import excitation
from velavox.kernels.excitation import EXCITATION, HALF, HOP, excite
from velavox.kernels.jit import F32, State, f32, kernel, record


@kernel(record(EXCITATION), f32, f32, f32)
def stream(state: State, pulses: F32, noise: F32, f0: F32) -> None:
    for t in range(f0.size):
        excite(state[0], f0[t])
        pulses[HOP * t : HOP * (t + 1)] = state[0].pulses[:HOP]
        noise[HOP * t : HOP * (t + 1)] = state[0].noise


def run(f0: list[float] | np.ndarray, seed: int = 0) -> tuple[F32, F32]:
    hz = np.asarray(f0, np.float32)
    pulses, noise = np.empty(HOP * hz.size, np.float32), np.empty(HOP * hz.size, np.float32)
    stream(excitation.fresh(seed), pulses, noise, hz)
    return pulses, noise


CONTOUR = np.concatenate([np.zeros(2), np.linspace(90, 240, 9), np.zeros(3), [413, 29, 1500, 87, 0, 0]])


@pytest.mark.nojit
def test_twin() -> None:
    """Each pulse where the equations say, as band-limited as they say."""
    pulses, _ = run(CONTOUR)
    clock, wanted = np.arange(pulses.size) - HOP, np.zeros(pulses.size)
    for time, gain in naive.pulse_times(CONTOUR):
        late = clock - time
        window = np.i0(6 * np.sqrt(np.maximum(0, 1 - (late / HALF) ** 2))) / np.i0(6) * (np.abs(late) <= HALF)
        wanted += gain * np.sinc(late) * window
    np.testing.assert_allclose(pulses, wanted, atol=2e-4 * np.abs(wanted).max())


@pytest.mark.nojit
def test_twin_of_the_noise() -> None:
    np.testing.assert_allclose(run(np.zeros(3), seed=5)[1], naive.even_noise(3 * HOP, 5), atol=1e-6)


@pytest.mark.parametrize("hz", [55.0, 123.4, 317.0, 900.0])
def test_pulses_have_power_1_at_every_harmonic_up_to_6_khz(hz: float) -> None:
    pulses, _ = run(np.full(400, hz))
    x = pulses[8000:40000].astype(float)
    t = np.arange(x.size)
    window = np.hanning(x.size) / np.hanning(x.size).sum()
    for harmonic in range(1, int(6000 / hz) + 1, max(1, int(700 / hz))):
        line = 2 * np.abs((x * window) @ np.exp(-2j * np.pi * harmonic * hz / 16000 * t))
        assert 20 * np.log10(line / np.sqrt(2 * 2 * hz / 16000)) == pytest.approx(0, abs=0.12)  # of density 1: 2 f0 / rate


def test_noise_is_white_and_another_one_for_another_seed() -> None:
    noise = run(np.zeros(500))[1].astype(float)
    power = np.mean(np.abs(np.fft.rfft(noise.reshape(-1, 200) * np.hanning(200))) ** 2, axis=0)[3:-3] / 75
    assert np.mean(noise**2) == pytest.approx(1, abs=0.02)
    assert np.abs(10 * np.log10(power)).max() < 1
    other = run(np.zeros(500), seed=1)[1]
    assert abs(np.corrcoef(noise, other)[0, 1]) < 0.02


@pytest.mark.nojit
@pytest.mark.parametrize("f0", [np.nan, -np.inf, -100.0, 0.0, 29.9])
def test_what_is_no_voice_has_no_pulses(f0: float) -> None:
    assert not run([f0] * 3)[0].any()


@pytest.mark.nojit
@pytest.mark.parametrize("f0", [1000.0, 1e30, np.inf])
def test_f0_is_bounded(f0: float) -> None:
    np.testing.assert_array_equal(run([f0] * 5)[0], run([1000.0] * 5)[0])

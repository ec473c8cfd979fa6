from __future__ import annotations

import naive
import numpy as np
import pytest
from scipy.signal import lfilter
from signals import F32, RATE, awkward, noise, tone, voice
from velavox.kernels import f0, pitch
from velavox.kernels.jit import F64
from velavox.kernels.pitch import FRAMES, offline
from velavox.kernels.residual import HOP, KEPT, LATENCY, OUTPUT

FORMANTS = (650, 1100, 2500)


def vowel(hz: F64 | float, seconds: float = 1.5) -> F32:
    """A pulse train of F0 `hz` through three formants and a tilt, with a little breath."""
    n = int(seconds * RATE)
    rng = np.random.default_rng(0)
    x = np.diff(np.floor(np.cumsum(np.broadcast_to(hz, n) / RATE)), prepend=0.0) + 0.01 * rng.normal(size=n)
    x = lfilter([1], [1, -0.9], x)
    for formant in FORMANTS:
        r = np.exp(-np.pi * 90 / RATE)
        x = lfilter([1], [1, -2 * r * np.cos(2 * np.pi * formant / RATE), r * r], x)
    return np.asarray(0.5 * x / np.abs(x).max(), np.float32)


def envelope(x: F32) -> F64:
    """Spectral envelope in dB, 0 to 4 kHz in steps of 100 Hz, of the power of many frames smoothed over 300 Hz."""
    frames = np.lib.stride_tricks.sliding_window_view(x[4000:-4000], 640)[::160] * np.hanning(640)
    power = (np.abs(np.fft.rfft(frames, axis=1)) ** 2).mean(axis=0)
    power = np.convolve(power, np.hanning(25), "same")[4:160:4]
    return np.asarray(10 * np.log10(power / power.sum()))


def periodicity(x: F32, hz: float) -> float:
    """Normalised correlation one period apart, at the best lag within 3 % of the period."""
    body = x[4000:-4000].astype(float)
    lags = range(int(RATE / hz * 0.97), int(RATE / hz * 1.03) + 2)
    return max(float(np.corrcoef(body[:-lag], body[lag:])[0, 1]) for lag in lags)


@pytest.mark.nojit
@pytest.mark.parametrize("ratio", [0.45, 0.83, 1.0, 1.3, 2.2])
def test_twin_of_the_splices(ratio: float) -> None:
    state, period, hops = pitch.fresh(), 93.7, 5
    s = state[0]
    x, all_marks, found = noise(KEPT + hops * HOP), 60 + period * np.arange(15), []
    s.voiced[:], s.period[:], s.ratio[:] = 1, period, ratio
    for start in range(0, hops * HOP, HOP):
        s.residual.residual[:] = x[start : start + KEPT]
        inside = all_marks[(all_marks >= start) & (all_marks < start + KEPT)] - start
        s.epochs.count = inside.size
        s.epochs.mark[: inside.size] = inside
        pitch.splice(s)
        found.append(s.excitation.copy())
        for time in ("born", "source", "next_born", "next_source"):
            s[time] -= HOP
    wanted = naive.splice(x.astype(np.float64), all_marks.astype(np.float64), period, ratio, OUTPUT, OUTPUT + hops * HOP)
    np.testing.assert_allclose(np.concatenate(found), wanted, atol=1e-5)


@pytest.mark.parametrize("hz", [70, 110, 180, 260, 340])
@pytest.mark.parametrize("ratio", [0.7, 0.9, 1.2, 1.6])
def test_f0_moves_by_the_ratio(hz: float, ratio: float) -> None:
    if not 55 < hz * ratio < 500:
        pytest.skip("out of the range of F0")
    found = f0.offline(offline(vowel(hz), ratio))[20:-20]
    assert np.mean(np.abs(found / (hz * ratio) - 1) < 0.02) > 0.95


def test_a_contour_is_followed() -> None:
    hz = 150 * np.exp(0.3 * np.sin(2 * np.pi * 1.5 * np.arange(3 * RATE) / RATE))
    found = f0.offline(offline(vowel(hz, 3), 1.3))[20:-20]
    wanted = 1.3 * hz[20 * HOP :: HOP][: found.size]
    assert np.mean(np.abs(found / wanted - 1) < 0.03) > 0.95


@pytest.mark.parametrize("hz", [100, 200])
@pytest.mark.parametrize("ratio", [0.7, 1.0, 1.5])
def test_formants_and_level_stay(hz: float, ratio: float) -> None:
    x = vowel(hz)
    y = offline(x, ratio)
    assert np.sqrt(np.mean((envelope(y) - envelope(x)) ** 2)) < 4
    assert abs(10 * np.log10(np.mean(y**2) / np.mean(x**2))) < 3  # 1.8 are due: there are more pulses


@pytest.mark.parametrize(("hz", "ratio"), [(100, 0.8), (100, 1.5), (200, 0.6), (200, 1.3), (330, 0.5)])
def test_one_clean_pulse_each_period(hz: float, ratio: float) -> None:
    """No doubled pulses, no missing ones: the output is as periodic as the input nearly is."""
    x = vowel(hz)
    assert periodicity(offline(x, ratio), hz * ratio) > periodicity(x, hz) - 0.1


@pytest.mark.parametrize("name", ["noise", "one_lsb", "tone_7900", "impulse"])
def test_what_is_not_voiced_passes(name: str) -> None:
    """It loses what lies below 60 Hz, and takes part of the filter's phase near it."""
    x = lfilter([1, -1], [1, -0.9], awkward(32000)[name]).astype(np.float32)
    y = offline(x, 1.4)
    assert np.linalg.norm(y[8000:] - x[8000:]) < 0.15 * np.linalg.norm(x)


def test_no_rumble_below_the_voice() -> None:
    x = voice(4.0)
    low = np.fft.rfftfreq(x.size, 1 / RATE) < 30

    def share(y: F32) -> float:
        power = np.abs(np.fft.rfft(y)) ** 2
        return float(power[low].sum() / power.sum())

    for ratio in (0.7, 1.4):
        assert share(offline(x, ratio)) < 1e-3


def test_shuffled_noise_keeps_its_power_at_every_moment() -> None:
    x = noise(64000)
    state, y = pitch.fresh(16.0), np.empty_like(x)
    pitch.stream(state, y, x, 1.0)
    body = y[8000:]
    late = x[8000 - LATENCY : -LATENCY]
    assert abs(10 * np.log10(np.mean(body**2) / np.mean(late**2))) < 0.3
    assert abs(np.corrcoef(body, late)[0, 1]) < 0.3
    power = np.mean(body.reshape(-1, 80) ** 2, axis=1)
    assert np.std(power) / np.mean(power) < 0.25  # 0.16 for noise left alone


@pytest.mark.parametrize("name", awkward())
@pytest.mark.parametrize("ratio", [0.5, 1.7])
def test_finite_and_not_loud_on_anything(name: str, ratio: float) -> None:
    x = awkward()[name]
    y = offline(x, ratio)
    assert np.isfinite(y).all()
    assert np.abs(y).max() <= 6 * np.abs(x).max() + 1e-12


def test_streamed_is_offline_and_reset_is_fresh() -> None:
    x = np.append(voice(2.0), np.zeros(LATENCY, np.float32))
    state = pitch.fresh()
    first = state.copy()
    for hops in (1, 7):
        state[:] = first
        y = np.empty_like(x)
        for k in range(0, x.size, HOP * hops):
            pitch.stream(state, y[k : k + HOP * hops], x[k : k + HOP * hops], 1.3)
        np.testing.assert_allclose(y[LATENCY:], offline(voice(2.0), 1.3), atol=1e-5)


def test_latency_is_true() -> None:
    """A burst of noise comes out when it went in, LATENCY later."""
    x = np.zeros(16000, np.float32)
    x[5000:6000] = noise(1000)
    y = np.empty_like(x)
    pitch.stream(pitch.fresh(), y, x, 1.5)
    late = np.correlate(y.astype(float), x.astype(float), "full").argmax() - (x.size - 1)
    assert late == LATENCY


def test_a_changing_ratio_makes_no_click() -> None:
    x = tone(3 * RATE, 200)
    state, y = pitch.fresh(), np.empty_like(x)
    for k in range(0, x.size, HOP):
        pitch.stream(state, y[k : k + HOP], x[k : k + HOP], 0.8 if (k // HOP) % 40 < 20 else 1.25)
    step = np.abs(np.diff(y[8000:]))
    joins = np.arange(HOP - 1, step.size, HOP)
    assert step[joins].max() <= 1.5 * np.percentile(np.delete(step, joins), 99.9)


def test_denormals_leave_no_denormals_behind() -> None:
    state = pitch.fresh(16.0)
    x = np.append(voice(0.4), noise(80000, 1e-39))
    y = np.empty_like(x)
    pitch.stream(state, y, x, 1.3)
    assert np.all(y[-16000:] == 0)
    assert np.all(state[0].memory == 0)
    assert state[0].voiced.shape == (FRAMES,)
    assert not state[0].voiced.any()


def test_wrong_ratio_is_refused() -> None:
    for ratio in (0.1, 5.0, float("nan")):
        with pytest.raises(ValueError, match="ratio="):
            offline(voice(0.1), ratio)

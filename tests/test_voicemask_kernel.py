from __future__ import annotations

import math
from pathlib import Path

import naive
import numpy as np
import pytest
from scipy.signal import lfilter
from signals import F32, RATE, awkward, noise, voice
from velavox.bench.measure import best_lag_correlation
from velavox.kernels import f0, voicemask, vtln, warp
from velavox.kernels.voicemask import HOP, LATENCY, offline

# alpha, beta, Hz, spread: four that VoiceMask may draw, of the four kinds of its warp
VOICES = [(0.09, -0.05, 110.0, 0.13), (-0.09, 0.03, 205.0, 0.2), (0.085, -1.35, 150.0, 0.16), (-0.095, 1.45, 180.0, 0.12)]


def started(alpha: float, beta: float, hz: float, spread: float) -> np.ndarray:
    state = voicemask.fresh()
    voicemask.aim(state, warp.voicemask(vtln.GRID, alpha, beta), math.log(hz), spread)
    voicemask.settle(state)
    return state


def db(y: F32, x: F32) -> float:
    """Level of y above x."""
    return float(10 * np.log10((np.mean(np.square(y, dtype=float)) + 1e-30) / (np.mean(np.square(x, dtype=float)) + 1e-30)))


def tracked(x: F32) -> tuple[np.ndarray, np.ndarray]:
    """F0 and periodicity, one value each 10 ms."""
    state, x = f0.fresh(), np.append(x, np.zeros(2 * HOP, np.float32))
    values = np.empty((2, x.size // HOP))
    for k in range(values.shape[1]):
        f0.stream(state, np.empty(1, np.float32), x[k * HOP : (k + 1) * HOP])
        values[:, k] = state[0].hz, state[0].periodicity
    return values[0, 2:], values[1, 2:]


def harmonicity(x: F32, hz: np.ndarray, sure: np.ndarray) -> float:
    """Harmonics-to-noise ratio in dB where `sure`: from the correlation of the pre-emphasised signal one period apart."""
    flat = lfilter([1, -0.9], [1], x)
    found = []
    for k in np.flatnonzero(sure[5:-5]) + 5:
        best = -1.0
        for lag in range(int(RATE / hz[k] * 0.97), int(RATE / hz[k] * 1.03) + 2):
            start = k * HOP - lag
            a, b = flat[start : start + lag], flat[start + lag : start + 2 * lag]
            best = max(best, float(a @ b / np.sqrt(a @ a * (b @ b) + 1e-12)))
        found.append(best)
    mean = float(np.mean(found))
    return 10 * math.log10(mean / (1 - mean))


def fixture(shared: Path, name: str) -> F32:
    soundfile = pytest.importorskip("soundfile")
    return np.asarray(soundfile.read(shared / "fixtures" / f"{name}_16k.wav", dtype="float32")[0])


@pytest.mark.nojit
def test_twin_of_the_contour() -> None:
    x = voice(0.8, 150)
    state, found, heard = started(*VOICES[2]), [], []
    for k in range(0, x.size - HOP, HOP):
        voicemask.stream(state, np.empty(HOP, np.float32), x[k : k + HOP])
        p = state[0].pitch
        if p.voiced[-1]:
            heard.append(float(p.f0.hz))
            found.append(float(p.f0.hz * p.ratio[-1]))
    assert len(found) > 20
    np.testing.assert_allclose(found, naive.wanted_f0(np.array(heard), *VOICES[2][2:]), rtol=1e-6)


@pytest.mark.parametrize("hz", [90, 140, 220])
@pytest.mark.parametrize("target", VOICES)
def test_mean_and_spread_reach_the_target(hz: float, target: tuple[float, float, float, float]) -> None:
    """After 5 s of voice, with a vowel whose ln F0 wanders with a standard deviation of 0.1."""
    seconds = 20
    wander = lfilter([1], [1, -np.exp(-1 / 1500)], np.random.default_rng(1).normal(size=seconds * RATE))
    contour = hz * np.exp(0.1 * (wander - wander.mean()) / wander.std())
    x = np.diff(np.floor(np.cumsum(contour / RATE)), prepend=0.0) + 0.01 * np.random.default_rng(2).normal(size=contour.size)
    for formant in (700, 1200):
        x = lfilter([1], [1, -2 * 0.98 * np.cos(2 * np.pi * formant / RATE), 0.98**2], x)
    found, sure = tracked(offline(np.asarray(x / np.abs(x).max() * 0.5, np.float32), *target))
    late = np.log(found[500:][sure[500:] > 0.8])
    assert late.size > 500
    assert abs(late.mean() - math.log(target[2])) < 0.05
    assert late.std() == pytest.approx(target[3], rel=0.25)


def test_formants_move_as_the_warp_says() -> None:
    n = 4 * RATE
    x = 0.1 * np.random.default_rng(0).normal(size=n)
    for formant in (700, 1800, 3000):
        r = np.exp(-np.pi * 100 / RATE)
        x = lfilter([1], [1, -2 * r * np.cos(2 * np.pi * formant / RATE), r * r], x)
    x = np.asarray(0.3 * x / np.abs(x).max(), np.float32)
    for alpha, beta, hz, spread in VOICES:
        y = offline(x, alpha, beta, hz, spread)
        power = np.mean(np.abs(np.fft.rfft(y.reshape(-1, 1600) * np.hanning(1600), axis=1)) ** 2, axis=0)
        power = np.convolve(power, np.hanning(15), "same")
        for formant in (700, 1800, 3000):
            wanted = float(warp.voicemask(2 * np.pi * formant / RATE, alpha, beta)) * RATE / (2 * np.pi)
            near = np.arange(int(wanted / 10 * 0.85), int(wanted / 10 * 1.15))
            assert 10 * near[power[near].argmax()] == pytest.approx(wanted, rel=0.04)


@pytest.mark.parametrize("target", VOICES)
@pytest.mark.parametrize("name", awkward())
def test_finite_and_not_loud_on_anything(name: str, target: tuple[float, float, float, float]) -> None:
    x = awkward(16000)[name]
    y = offline(x, *target)
    assert np.isfinite(y).all()
    assert np.abs(y).max() <= 4 * np.abs(x).max() + 1e-12
    if name not in ("impulse", "denormal"):
        assert db(y, x) < 3


@pytest.mark.parametrize("target", VOICES)
def test_silence_stays_silent_and_the_last_bit_is_not_raised(target: tuple[float, float, float, float]) -> None:
    assert not offline(awkward()["zeros"], *target).any()
    assert not offline(awkward()["denormal"], *target).any()
    assert db(offline(awkward(32000)["one_lsb"], *target), awkward(32000)["one_lsb"]) < 6
    y = offline(np.append(noise(16000), np.zeros(16000, np.float32)), *target)
    assert np.abs(y[-8000:]).max() < 1e-6


@pytest.mark.parametrize("name", ["speech_whisper", "speech_whisper_f"])
def test_whisper_keeps_its_level_and_gets_no_buzz(name: str, shared: Path) -> None:
    x = fixture(shared, name)
    before = tracked(x)[1]
    for target in VOICES:
        state, y = started(*target), np.empty(x.size // HOP * HOP, np.float32)
        voiced = []
        for k in range(0, y.size, HOP):
            voicemask.stream(state, y[k : k + HOP], x[k : k + HOP])
            voiced.append(bool(state[0].pitch.voiced[-1]))
        after = tracked(y)[1]
        assert abs(db(y, x)) < 6
        assert np.mean(voiced) < 0.2  # what pulses could come from
        assert np.mean(after > 0.65) <= np.mean(before > 0.65) + 0.02


@pytest.mark.parametrize("name", ["speech_childlike", "speech_verylow"])
def test_high_and_low_voices_keep_their_intonation(name: str, shared: Path) -> None:
    """No octave jumps, and no hoarse bursts: harmonics-to-noise ratio less than 6 dB lower."""
    x = fixture(shared, name)
    f0_in, sure_in = tracked(x)
    for target in VOICES:
        y = offline(x, *target)
        f0_out, sure_out = tracked(y)
        sure = (sure_in > 0.8) & (sure_out > 0.8)
        sure[:100] = False  # the first second, in which the speaker's mean is learnt
        assert harmonicity(y, f0_out, sure) > harmonicity(x, f0_in, sure) - 6
        before, after = np.log(f0_in[sure]), np.log(f0_out[sure])
        moved = after - before
        alike = np.abs(moved - np.median(moved)) < 0.3  # not an octave off, by the pitch change or by the measurement
        assert np.mean(alike) > 0.97
        assert np.corrcoef(before[alike], after[alike])[0, 1] > 0.9


def test_what_is_not_voiced_does_not_stay_alike() -> None:
    for x in (noise(32000), np.asarray(lfilter([1], [1, 0.9], noise(32000)), np.float32)):
        for target in VOICES:
            assert best_lag_correlation(x, offline(x, *target)) < 0.3


def test_the_level_follows_the_input() -> None:
    """Over each half second but the first: pitch and warp alone are up to 3 dB off."""
    x = np.concatenate([voice(3.0, 110), voice(3.0, 220)])

    def levels(z: F32) -> np.ndarray:
        return np.asarray(10 * np.log10(np.mean(np.square(z, dtype=float).reshape(-1, 8000), axis=1)))

    for target in VOICES:
        assert np.abs(levels(offline(x, *target)) - levels(x))[1:].max() < 1


def test_a_new_aim_is_reached_in_two_hops() -> None:
    state, x, y = started(*VOICES[0]), noise(HOP), np.empty(HOP, np.float32)
    s = state[0]
    voicemask.aim(state, warp.voicemask(vtln.GRID, 0.1, 0.0), math.log(200), 0.3)
    for part in (0.5, 1.0, 1.0):
        voicemask.stream(state, y, x)
        assert s.goal_mean == pytest.approx(math.log(110) + part * math.log(200 / 110))
        assert s.goal_spread == pytest.approx(0.13 + part * 0.17)


def test_no_gap_opens() -> None:
    """Nowhere in voiced sound is the output 20 dB below the input over 20 ms."""
    x = voice(3.0)

    def power(z: F32) -> np.ndarray:
        return np.asarray(np.convolve(np.square(z, dtype=float), np.ones(320) / 320, "valid")[::80])

    loud = power(x) > 1e-3
    for target in VOICES:
        assert np.min(power(offline(x, *target))[loud] / power(x)[loud]) > 0.01


def test_streamed_is_offline_and_reset_is_fresh() -> None:
    x = np.append(voice(2.0), np.zeros(LATENCY, np.float32))
    state = started(*VOICES[1])
    first = state.copy()
    for hops in (1, 4):
        state.view(np.uint8)[:] = first.view(np.uint8)
        y = np.empty_like(x)
        for k in range(0, x.size, HOP * hops):
            voicemask.stream(state, y[k : k + HOP * hops], x[k : k + HOP * hops])
        np.testing.assert_allclose(y[LATENCY:], offline(voice(2.0), *VOICES[1]), atol=1e-5)


def test_denormals_leave_no_denormals_behind() -> None:
    state = started(*VOICES[0])
    x = np.append(voice(0.4), noise(96000, 1e-39))
    y = np.empty_like(x)
    voicemask.stream(state, y, x)
    assert not y[-16000:].any()
    for field in ("power_in", "power_out", "average", "variance"):
        assert state[0][field] == 0 or abs(state[0][field]) > 1e-30


def test_wrong_input_is_refused() -> None:
    for hz, spread in ((20.0, 0.1), (1000.0, 0.1), (math.nan, 0.1), (150.0, 0.0)):
        with pytest.raises(ValueError, match="hz="):
            offline(voice(0.1), 0.09, 0.0, hz, spread)
    with pytest.raises(ValueError, match="a="):
        offline(voice(0.1), 1.5, 0.0, 150.0, 0.1)

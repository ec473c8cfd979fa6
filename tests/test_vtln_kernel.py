from __future__ import annotations

import tracemalloc
from pathlib import Path

import naive
import numpy as np
import pytest
from scipy.signal import lfilter, welch
from signals import F32, RATE, awkward, noise, tone, voice
from velavox.kernels import vtln, warp
from velavox.kernels.jit import F64
from velavox.kernels.vtln import GRID, LATENCY, ON, STEP, offline

FORMANT = 1500 / 8000 * np.pi


def scaled(factor: float, name: str = "symmetric") -> np.ndarray:
    """The map that moves 1.5 kHz by `factor`."""
    return warp.offline(GRID, name, warp.parameter(name, factor, FORMANT))


def started(moved: np.ndarray, on: str) -> np.ndarray:
    state = vtln.fresh()
    state[0].on = ON.index(on)
    vtln.aim(state, moved)
    vtln.settle(state)
    return state


def power(x: np.ndarray) -> float:
    return float(np.mean(np.square(x, dtype=float)))


def db(y: np.ndarray, x: np.ndarray) -> float:
    """Level of y above x."""
    return float(10 * np.log10(power(y) / power(x)))


def resonance(hz: float, excitation: np.ndarray, radius: float = 0.97) -> F32:
    y = lfilter([1 - radius], [1, -2 * radius * np.cos(2 * np.pi * hz / RATE), radius**2], excitation)
    return np.asarray(y, np.float32)


def pulses(f0: int) -> F64:
    """Two seconds of pulses, whole samples apart."""
    return np.asarray(np.arange(2 * RATE) % (RATE // f0) == 0, np.float64)


def comb(x: np.ndarray, f0: float) -> float:
    """Energy at the harmonics of f0 above that between them, dB, up to 4 kHz."""
    spectrum = np.abs(np.fft.rfft(x[8000:24000] * np.blackman(16000))) ** 2
    hz = np.arange(spectrum.size)
    near = np.abs((hz / f0 + 0.5) % 1 - 0.5) * f0 < 4
    inside = (hz > f0 / 2) & (hz < 4000)
    return float(10 * np.log10(spectrum[near & inside].sum() / spectrum[~near & inside].sum()))


@pytest.mark.nojit
@pytest.mark.parametrize(("on", "least"), [("envelope", 80), ("spectrum", 60)])
@pytest.mark.parametrize(("name", "factor"), [("symmetric", 0.83), ("bilinear", 1.25)])
def test_twin(on: str, least: float, name: str, factor: float) -> None:
    x = voice(0.2)[1600:]
    wanted = naive.vtln(x.astype(float), scaled(factor, name), on)
    assert -db(offline(x, scaled(factor, name), on) - wanted, wanted) > least


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("name", ["voice", *awkward()])
def test_no_warp_is_the_input_after_the_latency(name: str, on: str) -> None:
    x = {"voice": voice(0.5), **awkward()}[name]
    np.testing.assert_allclose(offline(x, GRID, on), np.where(np.abs(x) < vtln.SMALLEST, 0, x), atol=1e-5)


@pytest.mark.parametrize("on", ON)
def test_stream_is_offline(on: str) -> None:
    x = np.append(voice(1.0), np.zeros(LATENCY, np.float32))
    state, y = started(scaled(1.2), on), np.empty_like(x)
    for k in range(0, x.size, STEP):
        vtln.stream(state, y[k : k + STEP], x[k : k + STEP])
    np.testing.assert_array_equal(y[LATENCY:], offline(x[:-LATENCY], scaled(1.2), on))


@pytest.mark.parametrize("n", [0, 1, 159, 160, 161, 320, 321, 1000])
def test_length_is_kept(n: int) -> None:
    y = offline(voice(0.1)[:n], scaled(0.8))
    assert y.shape == (n,)
    assert y.dtype == np.float32


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("name", warp.NAMES)
@pytest.mark.parametrize("factor", [0.8, 1.13])
@pytest.mark.parametrize("hz", [700, 1500, 2800])
def test_formants_move_as_the_warp_says(hz: float, factor: float, name: str, on: str) -> None:
    x = resonance(hz, noise(2 * RATE, 0.01))
    moved = np.interp(hz, GRID * 8000 / np.pi, scaled(factor, name) * 8000 / np.pi)
    f, before = welch(x, RATE, nperseg=512)
    after = welch(offline(x, scaled(factor, name), on), RATE, nperseg=512)[1]
    assert abs(f[before.argmax()] - hz) < 80
    assert abs(f[after.argmax()] - moved) < 80


@pytest.mark.parametrize("factor", [0.8, 1.25])
@pytest.mark.parametrize("f0", [100, 125, 200])
def test_on_the_envelope_the_pitch_stays(f0: int, factor: float) -> None:
    x = resonance(600, resonance(1500, pulses(f0)))
    assert comb(offline(x, scaled(factor)), f0) > 30


@pytest.mark.parametrize(("f0", "least"), [(125, 10), (200, 25), (250, 25)])
@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_on_the_spectrum_the_pitch_moves(f0: int, least: float, factor: float) -> None:
    x = resonance(600, resonance(1500, pulses(f0)))
    y = offline(x, scaled(factor), "spectrum")
    assert comb(y, factor * f0) > least
    assert comb(y, f0) < 5


@pytest.mark.parametrize("hz", [440, 1000, 3003])
@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_on_the_spectrum_a_tone_is_another_tone(hz: float, factor: float) -> None:
    y = offline(tone(2 * RATE, hz), scaled(factor), "spectrum")[8000:24000]
    spectrum = np.abs(np.fft.rfft(y * np.blackman(16000))) ** 2
    peak = int(spectrum.argmax())
    assert abs(peak - factor * hz) <= 1
    assert 10 * np.log10(spectrum.sum() / spectrum[peak - 4 : peak + 5].sum() - 1) < -40
    assert abs(db(y, tone(RATE, hz))) < 2


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("factor", [0.75, 1.33])
@pytest.mark.parametrize("name", awkward())
def test_awkward_signals_stay_finite_and_no_louder(name: str, factor: float, on: str) -> None:
    x = awkward(16000)[name]
    y = offline(x, scaled(factor), on)
    assert np.isfinite(y).all()
    assert power(y) <= 1.5 * power(x)


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_an_offset_is_kept_and_hum_not_amplified(factor: float, on: str) -> None:
    y = offline(np.full(RATE, 0.3, np.float32), scaled(factor), on)[2000:-2000]
    np.testing.assert_allclose(y, 0.3, atol=0.01)
    assert db(offline(tone(RATE, 50), scaled(factor), on), tone(RATE, 50)) < 0.5
    x = voice(1.0)
    y = offline(x + np.float32(0.25), scaled(factor), on)
    assert y[4000:-4000].mean() == pytest.approx(x[4000:-4000].mean() + 0.25, abs=0.02)


@pytest.mark.parametrize("on", ON)
def test_silence_after_sound_is_silent(on: str) -> None:
    x = np.append(voice(0.5), np.zeros(8000, np.float32))
    y = offline(x, scaled(1.25), on)
    assert np.all(y[8000 + vtln.WINDOW :] == 0)
    assert np.abs(y[8000 + STEP :]).max() < 0.1 * np.abs(x).max()


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -3e38, 1e-40])
def test_samples_beyond_reason_count_as_zero(bad: float, on: str) -> None:
    x = voice(0.3)
    x[1000:1010] = bad
    wanted = x.copy()
    wanted[1000:1010] = 0
    np.testing.assert_array_equal(offline(x, scaled(0.8), on), offline(wanted, scaled(0.8), on))


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("factor", [0.75, 1.33])
@pytest.mark.parametrize(
    "x",
    [noise(RATE), awkward(RATE)["one_lsb"], resonance(2000, noise(RATE)), voice(2.0), voice(2.0, 220.0, seed=5)],
    ids=["noise", "one_lsb", "whisper", "low", "high"],
)
def test_level_is_kept(x: F32, factor: float, on: str) -> None:
    assert abs(db(offline(x, scaled(factor), on), x)) < 2


@pytest.mark.parametrize("on", ON)
def test_quiet_speech_is_processed_like_loud(on: str) -> None:
    x = voice(0.5)
    np.testing.assert_allclose(offline(x * np.float32(2**-8), scaled(0.8), on) * 2**8, offline(x, scaled(0.8), on), atol=1e-6)


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("x", [tone(RATE, 440), voice(2.0)], ids=["tone", "voice"])
@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_no_click_where_frames_join(x: F32, factor: float, on: str) -> None:
    step = np.abs(np.diff(offline(x, scaled(factor), on)))
    joins = np.arange(vtln.HOP - 1, step.size, vtln.HOP)
    assert step[joins].max() <= 1.5 * np.percentile(np.delete(step, joins), 99.9)


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_no_buzz_at_the_rate_of_the_steps(factor: float, on: str) -> None:
    y = offline(tone(2 * RATE, 440), scaled(factor), on)[8000:24000]
    spectrum = np.abs(np.fft.rfft(y * np.blackman(16000))) ** 2
    buzz = [spectrum[hz - 3 : hz + 4].sum() for hz in range(100, 8000, 100) if abs(hz - factor * 440) > 20]
    assert 10 * np.log10(max(buzz) / spectrum.max()) < -50


@pytest.mark.parametrize("on", ON)
def test_the_start_is_not_loud(on: str) -> None:
    x = voice(1.0)[3000:]
    y = offline(x, scaled(1.25), on)
    assert np.abs(y[:800]).max() < 2 * np.abs(x[:800]).max()


@pytest.mark.parametrize("on", ON)
def test_a_map_is_reached_in_equal_parts_over_two_steps(on: str) -> None:
    state, x, y = started(scaled(0.8), on), noise(STEP), np.empty(STEP, np.float32)
    before = state[0].source.copy()
    vtln.aim(state, scaled(1.25))
    target = state[0].source_target.copy()
    for part in (0.5, 1.0, 1.0):
        vtln.stream(state, y, x)
        np.testing.assert_allclose(state[0].source, before + part * (target - before), atol=1e-3)


def test_denormals_do_not_enter() -> None:
    state, y = started(scaled(0.8), "envelope"), np.empty(STEP, np.float32)
    vtln.stream(state, y, noise(STEP, 1e-39))
    assert np.all(state[0].past == 0)


def test_the_last_of_several_maps_is_reached() -> None:
    state, x, y = started(scaled(0.8), "spectrum"), noise(STEP), np.empty(STEP, np.float32)
    for factor in (1.25, 0.9, 1.1):
        vtln.aim(state, scaled(factor))
        vtln.stream(state, y, x)
    vtln.stream(state, y, x)
    np.testing.assert_allclose(state[0].moved, scaled(1.1) * 256 / np.pi, atol=1e-4)


def test_no_allocation() -> None:
    for on in ON:
        state, x, y = started(scaled(0.8), on), noise(STEP), np.empty(STEP, np.float32)
        vtln.stream(state, y, x)
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(5000):
            vtln.stream(state, y, x)
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert grown <= 256  # the loop's own counter


@pytest.mark.parametrize(
    ("moved", "on", "told"),
    [
        (GRID, "harmonics", "envelope, spectrum"),
        (GRID[:-1], "envelope", "257 angles"),
        (GRID[::-1], "envelope", "257 angles"),
        (GRID * 0.9, "envelope", "257 angles"),
        (np.where(GRID > 1, np.nan, GRID), "envelope", "257 angles"),
    ],
)
def test_wrong_arguments(moved: np.ndarray, on: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        offline(np.zeros(9), moved, on)


def test_whispered_speech_keeps_its_level(shared: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    for name in ("speech_whisper_16k", "speech_whisper_f_16k"):
        x, _ = soundfile.read(shared / "fixtures" / f"{name}.wav", dtype="float32")
        for on in ON:
            for factor in (0.75, 1.33):
                assert abs(db(offline(x, scaled(factor), on), x)) < 1

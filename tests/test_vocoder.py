import naive
import numpy as np
import pytest
from signals import F32, partitions
from velavox.kernels import vocoder
from velavox.kernels.vocoder import BANDS, COLUMNS, HOP, LATENCY, QUIETEST, RATE


def frames(n: int, hz: float = 120.0, pulses: float = -3.0, noise: float = QUIETEST) -> F32:
    """Flat envelopes."""
    y = np.empty((n, COLUMNS), np.float32)
    y[:, 0], y[:, 1 : 1 + BANDS], y[:, 1 + BANDS :] = hz, pulses, noise
    return y


def speech(n: int, seed: int = 0) -> F32:
    """Frames that change as those of speech do: voicing, gliding pitch, moving formants."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    y = frames(n)
    y[:, 0] = np.where(np.sin(t / 9) > -0.3, 150 + 60 * np.sin(t / 25), 0)
    y[:, 1:] = -4 + 2 * np.sin(t[:, None] / 12 + np.arange(2 * BANDS) / 3) + 0.2 * rng.normal(size=(n, 2 * BANDS))
    return y


def level(x: F32) -> float:
    return float(np.sqrt(np.mean(x.astype(np.float64) ** 2)))


@pytest.mark.nojit
def test_equals_twin() -> None:
    given = speech(30)
    expected = naive.vocoder(given.astype(np.float64), BANDS, seed=5)
    error = vocoder.offline(given, seed=5) - expected
    assert level(error) < 0.01 * level(expected.astype(np.float32))  # pulses stand on a grid of 1/64 sample


def test_noise_alone_equals_twin() -> None:
    given = speech(20)
    given[:, 0] = 0
    expected = naive.vocoder(given.astype(np.float64), BANDS, seed=9)
    np.testing.assert_allclose(vocoder.offline(given, seed=9), expected, atol=2e-5 * np.abs(expected).max())


def test_streamed_equals_offline() -> None:
    given = speech(150)
    whole = vocoder.offline(given)
    for name, blocks in partitions(len(given)):
        state, parts, start = vocoder.fresh(), [], 0
        for n in blocks:
            out = np.full(n * HOP, np.nan, np.float32)
            vocoder.stream(state, out, np.ascontiguousarray(given[start : start + n]))
            parts.append(out)
            start += n
        np.testing.assert_array_equal(np.concatenate(parts), whole, err_msg=name)


def test_a_reset_gives_the_same_again() -> None:
    given, state = speech(40), vocoder.fresh()
    fresh, out = state.copy(), np.empty((2, 40 * HOP), np.float32)
    vocoder.stream(state, out[0], given)
    state.view(np.uint8)[:] = fresh.view(np.uint8)
    vocoder.stream(state, out[1], given)
    np.testing.assert_array_equal(out[0], out[1])


@pytest.mark.parametrize("hz", [60.0, 110.0, 200.0, 390.0])
def test_level_does_not_depend_on_pitch(hz: float) -> None:
    """A white excitation of power 1 times exp(-3)."""
    y = vocoder.offline(frames(200, hz))[50 * HOP :]
    assert level(y) == pytest.approx(np.exp(-3), rel=0.06)


def test_noise_has_the_level_and_spectrum_asked_for() -> None:
    given = frames(3000, hz=0, noise=0)
    slope = np.linspace(-1, -6, BANDS).astype(np.float32)
    given[:, 1 + BANDS :] = slope
    y = vocoder.offline(given)[20 * HOP :]
    power = np.mean(np.abs(np.fft.rfft(y[: len(y) // 512 * 512].reshape(-1, 512) * np.hanning(512))) ** 2, axis=0)
    power /= np.sum(np.hanning(512) ** 2)
    at = np.interp(np.fft.rfftfreq(512, 1 / RATE), vocoder.band_centres(), 2 * slope)
    np.testing.assert_allclose(np.log(power[4:-4]), at[4:-4], atol=0.35)


def test_pitch_is_the_one_asked_for() -> None:
    y = vocoder.offline(frames(300, hz=200.0))[20 * HOP :]
    spectrum = np.abs(np.fft.rfft(y[:32_000] * np.hanning(32_000)))
    harmonics = spectrum[400 * np.arange(1, 36)]  # bins of 0.5 Hz
    between = spectrum[200 + 400 * np.arange(1, 36)]
    assert harmonics.min() > 100 * between.max()


def test_impulse_comes_at_its_time_and_has_no_past() -> None:
    """Minimum phase: the response of a flat filter is the pulse itself, LATENCY after phase 1."""
    y = vocoder.offline(frames(8, hz=50.0))  # voiced from the middle of the first hop: 320 samples later phase is 1
    peaks = np.flatnonzero(np.abs(y) > 0.5 * np.abs(y).max())
    assert abs(peaks[0] - (HOP // 2 + RATE // 50 + LATENCY)) <= 2
    assert np.abs(y[: peaks[0] - 2 * LATENCY]).max() < 1e-5


def test_silence() -> None:
    y = vocoder.offline(frames(50, pulses=QUIETEST))
    assert np.abs(y).max() < 1e-6


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30, -1e30, 1e-40])
def test_finite_whatever_comes(value: float) -> None:
    for column in (slice(0, 1), slice(1, COLUMNS), slice(0, COLUMNS)):
        given = speech(40)
        given[10:20, column] = value
        y = vocoder.offline(given)
        assert np.isfinite(y).all()
        assert np.abs(y).max() < 1e5  # LOUDEST is 34 dB over full scale: the engine's limiter comes after


def test_wrong_shape() -> None:
    with pytest.raises(ValueError, match="give"):
        vocoder.offline(np.zeros((3, COLUMNS + 1)))

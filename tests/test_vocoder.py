from __future__ import annotations

from itertools import accumulate

import naive
import numpy as np
import pytest
from signals import F32, RATE
from velavox.kernels import vocoder
from velavox.kernels.vocoder import BANDS, CEILING, FLOOR, HOP, LATENCY, NOISE_BANDS, fresh, offline, stream

PARTS = len(NOISE_BANDS)
Frames = tuple[F32, F32, F32]


def steady(frames: int, f0: float, level: float = -5.0, noise: float = 0.0) -> Frames:
    """A flat envelope of mean square exp(level)."""
    shapes = (frames,), (frames, BANDS), (frames, PARTS)
    hz, envelope, part = (np.full(shape, value, np.float32) for shape, value in zip(shapes, (f0, level, noise), strict=True))
    return hz, envelope, part


def joined(first: Frames, second: Frames) -> Frames:
    f0, envelope, noise = (np.concatenate(pair) for pair in zip(first, second, strict=True))
    return f0, envelope, noise


def speech(frames: int, seed: int = 0) -> Frames:
    """Formants that move, stretches with and without a voice, pauses."""
    rng, t = np.random.default_rng(seed), np.arange(frames)
    f0 = np.where(np.sin(t / 9 + seed) > -0.5, 140 + 50 * np.sin(t / 23), 0)
    envelope = -14 + 4 * np.sin(t[:, None] / 17) + 6 * np.sin(np.arange(BANDS) / 4 + 3 * np.sin(t[:, None] / 11))
    envelope = np.where((t // 15 % 4 == 2)[:, None], FLOOR, envelope)
    return f0.astype(np.float32), envelope.astype(np.float32), rng.uniform(0, 1, (frames, PARTS)).astype(np.float32)


def rms(x: F32) -> float:
    return float(np.sqrt(np.mean(np.square(x, dtype=float))))


def lines(x: F32) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies in Hz and power spectrum, with side lobes below -90 dB."""
    window = np.blackman(x.size)
    return np.arange(x.size // 2 + 1) * RATE / x.size, np.abs(np.fft.rfft(x * window)) ** 2


@pytest.mark.nojit
def test_twin() -> None:
    f0, envelope, noise = speech(60)
    assert envelope[:-1].min() == FLOOR  # is exact silence, as -200 is to the twin
    quiet = np.where(envelope == FLOOR, -200.0, envelope)
    wanted = naive.vocode(f0.astype(float), quiet, noise.astype(float), 3)
    y = offline(f0, envelope, noise, seed=3)
    assert np.linalg.norm(y - wanted) < 2e-4 * np.linalg.norm(wanted)


def test_any_partition_gives_the_offline_output_and_reset_is_fresh() -> None:
    f0, envelope, noise = speech(300)
    wanted, state = offline(f0, envelope, noise), fresh()
    first = state.copy()
    for sizes in ([1] * 300, [7] * 42 + [6], [0, 100, 1, 0, 199]):
        state.view(np.uint8)[:] = first.view(np.uint8)
        y = np.empty(300 * HOP, np.float32)
        for end, size in zip(accumulate(sizes), sizes, strict=True):
            start = end - size
            stream(state, y[HOP * start : HOP * end], f0[start:end], envelope[start:end], noise[start:end])
        np.testing.assert_array_equal(y[LATENCY:], wanted[:-LATENCY])


@pytest.mark.nojit
def test_frame_t_is_heard_about_sample_160_t() -> None:
    """Of one loud frame, a click to either side of its instant weighs as much, and no sound comes before the frame."""
    f0, envelope, noise = steady(40, 0, FLOOR)
    envelope[20] = 0
    y = offline(f0, envelope, noise)
    power = np.square(y, dtype=float)
    # flat, so nothing but the noise under the window comes; what is not 0 before is rounding
    assert power[: HOP * 19].max() < 1e-11
    assert power[HOP * 21 + 400 :].max() < 1e-7 < 1e-3 < power[HOP * 20]
    assert np.sum(power * np.arange(y.size)) / power.sum() == pytest.approx(HOP * 20, abs=15)


@pytest.mark.parametrize("f0", [0.0, 120.0])
def test_a_frame_at_the_floor_is_exactly_silent(f0: float) -> None:
    assert not offline(*steady(10, f0, FLOOR)).any()
    assert not offline(*steady(10, f0, -1000.0)).any()
    loud, quiet = steady(10, f0), steady(80, f0, FLOOR)
    y = offline(*joined(loud, quiet))
    assert np.abs(y[: HOP * 9]).max() > 0.05
    assert np.abs(y[HOP * 20 :]).max() < 1e-5  # what is left is the high pass coming to rest
    assert not y[HOP * 70 :].any()


@pytest.mark.parametrize("level", [-15.0, -5.0, 0.0])
@pytest.mark.parametrize("noise", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("f0", [0.0, 60.0, 118.0, 200.0, 410.0])
def test_a_flat_envelope_gives_its_power(f0: float, noise: float, level: float) -> None:
    y = offline(*steady(600, f0, level, noise))[HOP * 20 : -HOP * 20]
    assert 20 * np.log10(rms(y) / np.exp(level / 2)) == pytest.approx(0, abs=0.25)


@pytest.mark.parametrize("f0", [0.0, 100.0])
def test_the_spectrum_follows_the_envelope(f0: float) -> None:
    frames, hz = 800, vocoder.centres()
    wanted = -12 + 5 * np.cos(np.arange(BANDS) / 5)
    y = offline(np.full(frames, f0), np.tile(wanted, (frames, 1)), np.zeros((frames, PARTS)))[16000:-16000]
    window = np.hanning(1601)[:-1]
    power = np.mean(np.abs(np.fft.rfft(y.reshape(-1, 1600) * window)) ** 2, axis=0) / np.sum(window**2)
    at = np.arange(1, 79)  # of 100 Hz, so one harmonic in each
    bands = np.array([power[10 * k - 5 : 10 * k + 5].mean() for k in at])
    found = np.log(bands) - np.interp(at * 100.0, hz, wanted)
    assert np.abs(found.mean()) < 0.1
    assert np.std(found) < 0.25


@pytest.mark.parametrize("f0", [80.0, 200.0, 333.3])
def test_a_voice_has_its_lines_at_the_harmonics(f0: float) -> None:
    hz, power = lines(offline(*steady(500, f0))[8000:72000])
    for harmonic in range(1, int(3900 / f0)):
        near = np.flatnonzero(np.abs(hz - harmonic * f0) < f0 / 2)
        peak = near[power[near].argmax()]
        assert hz[peak] == pytest.approx(harmonic * f0, rel=1e-3, abs=0.25)
        between = power[np.abs(hz - (harmonic + 0.5) * f0) < f0 / 8]
        assert between.max() < 1e-5 * power[peak]


def test_harmonics_end_in_noise_before_6_khz() -> None:
    hz, power = lines(offline(*steady(500, 200.0))[8000:72000])

    def periodic(low: float, high: float) -> float:
        """Part of the power that lies within 3 Hz of the harmonics, which have 3 % of the band."""
        band = (hz > low) & (hz < high)
        return float(power[band & (np.abs((hz + 100) % 200 - 100) < 3)].sum() / power[band].sum())

    assert periodic(1100, 3900) > 0.999
    assert 0.4 < periodic(4700, 5300) < 0.6
    assert periodic(6100, 7900) < 0.06


def test_the_part_of_noise_is_that_of_its_band() -> None:
    parts = np.array([0.1, 0.4, 0.2, 0.8])
    f0, envelope, _ = steady(2000, 100.0)
    hz, power = lines(offline(f0, envelope, np.tile(parts, (2000, 1)))[8000:-8000])
    for centre, part in zip(NOISE_BANDS[:3], parts, strict=False):
        band = np.abs(hz - centre) < 150
        rough = band & (np.abs((hz + 50) % 100 - 50) > 5)
        assert power[rough].sum() / 0.9 / power[band].sum() == pytest.approx(part, abs=0.04)


def test_no_click_where_frames_meet() -> None:
    """Steps of 40 dB and of formants: above 5 kHz, where the envelope has nothing, nothing comes (-60 dB of the peak)."""
    low = np.where(vocoder.centres() < 1500, -4.0, -24.0)
    other = np.where(vocoder.centres() < 1000, -13.0, -24.0)
    envelope = np.where((np.arange(400) // 5 % 2 == 0)[:, None], low, other)
    y = offline(np.full(400, 110.0), envelope, np.zeros((400, PARTS))).astype(float)
    spectrum = np.fft.rfft(y)
    spectrum[: int(5000 / RATE * y.size)] = 0
    high = np.fft.irfft(spectrum)[20 * HOP : -20 * HOP]
    assert np.abs(high).max() < 10 ** (-60 / 20) * np.abs(y).max()


WILD = [np.nan, np.inf, -np.inf, 1e38, -1e38, 1e-40, 0.0, -50.0, 50.0]


def test_finite_on_anything() -> None:
    rng = np.random.default_rng(0)
    f0 = rng.choice([*WILD, 30.0, 999.0], 60).astype(np.float32)
    envelope = rng.choice([*WILD, FLOOR, CEILING], (60, BANDS)).astype(np.float32)
    noise = rng.choice([*WILD, 1.0], (60, PARTS)).astype(np.float32)
    for shape in (envelope, np.full_like(envelope, np.inf), np.sort(envelope, axis=1)):
        y = offline(f0, shape, noise)
        assert np.isfinite(y).all()
        assert np.abs(y).max() < 50 * np.exp(CEILING / 2)
    assert not offline(f0, np.full_like(envelope, np.nan), noise).any()


def test_values_out_of_range_count_as_the_nearest() -> None:
    inside, outside = steady(8, 1000.0, CEILING, 1.0), steady(8, 5000.0, 100.0, 7.0)
    np.testing.assert_array_equal(offline(*inside), offline(*outside))
    np.testing.assert_array_equal(offline(*steady(8, 100.0, -5.0, np.nan)), offline(*steady(8, 100.0, -5.0, 1.0)))
    np.testing.assert_array_equal(offline(*steady(8, np.nan)), offline(*steady(8, 0.0)))


@pytest.mark.nojit
def test_the_seed_chooses_the_noise() -> None:
    frames = steady(8, 0.0)
    np.testing.assert_array_equal(offline(*frames, seed=1), offline(*frames, seed=1))
    assert abs(np.corrcoef(offline(*frames, seed=1), offline(*frames, seed=2))[0, 1]) < 0.2


def test_no_denormal_stays() -> None:
    state = fresh()
    loud, quiet = steady(10, 100.0), steady(30, 100.0, FLOOR)
    stream(state, np.empty(40 * HOP, np.float32), *joined(loud, quiet))
    for field in ("tail", "pulse_re", "pulse_im", "noise_re", "noise_im"):
        assert not state[0][field].any()


@pytest.mark.nojit
def test_wrong_shapes_are_refused() -> None:
    f0, envelope, noise = steady(5, 100.0)
    assert offline(f0[:0], envelope[:0], noise[:0]).shape == (0,)
    for wrong in (
        (f0[:4], envelope, noise),
        (f0, envelope[:, 1:], noise),
        (f0, envelope, noise[:, 1:]),
        (f0, envelope[0], noise),
    ):
        with pytest.raises(ValueError, match="give"):
            offline(*wrong)

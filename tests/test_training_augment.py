"""Harm done to speech: the same each time, by no more than is said, and labels can follow it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.signal import correlate
from signals import F32, RATE, noise, tone, voice
from velavox.models_onnx.training import augment
from velavox.models_onnx.training.augment import Augmented, Augmenter, minimum_phase, path, rms

OTHERS = [voice(1.0, 180, seed=7), voice(1.5, 90, seed=8)]


@cache
def harmed() -> tuple[Augmented, ...]:
    augmenter = Augmenter(5, OTHERS)
    return tuple(augmenter(voice(1.0, 140), number) for number in range(60))


def spectrum(x: F32) -> np.ndarray:
    return np.abs(np.fft.rfft(x))


def test_a_copy_depends_on_the_seed_and_its_number_alone() -> None:
    again = Augmenter(5, OTHERS)
    for number in (11, 3, 11):
        assert np.array_equal(again(voice(1.0, 140), number).samples, harmed()[number].samples)
    assert not np.array_equal(again(voice(1.0, 140), 4).samples[:8000], harmed()[3].samples[:8000])
    assert not np.array_equal(Augmenter(6, OTHERS)(voice(1.0, 140), 3).samples[:8000], harmed()[3].samples[:8000])


def test_levels_are_between_a_whisper_far_away_and_full_scale() -> None:
    level = 20 * np.log10([rms(copy.samples) for copy in harmed()])
    assert -44 < level.min() < -34  # 2 dB may be lost where a copy is clipped
    assert -22 < level.max() < -13.9
    assert max(np.abs(copy.samples).max() for copy in harmed()) <= 1


def test_speed_is_the_length_and_the_pitch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a tone that is not harmed otherwise: its sample n comes at n / speed, its frequency times `speed`."""
    monkeypatch.setattr(augment, "_NOISES", (lambda random, length, others: np.zeros(length, np.float32),))
    monkeypatch.setattr(augment, "narrow", lambda random, x: x)
    x = tone(RATE, 1000)
    x[RATE // 2 :] = 0
    found = [Augmenter(1, [])(x, number) for number in range(40)]
    assert 10 < sum(copy.speed == 1 for copy in found) < 25
    for copy in found:
        assert 0.9 <= copy.speed <= 1.1
        assert abs(len(copy.samples) - RATE / copy.speed) <= 1
        sounding = copy.samples[: int(RATE / 2 / copy.speed)]
        peak = spectrum(sounding * np.hanning(len(sounding)).astype(np.float32)).argmax() * RATE / len(sounding)
        assert abs(peak - 1000 * copy.speed) < 4
        late = copy.samples[int(RATE / 2 / copy.speed) + RATE // 20 :]
        assert rms(late) < 0.5 * rms(sounding)


def test_speech_stays_where_it_was() -> None:
    """No delay beyond a millisecond and a half, which filters and rooms have, in those at the original's speed."""
    x = voice(1.0, 140)
    lags = []
    for copy in harmed():
        if copy.speed == 1:
            match = correlate(copy.samples, x, "same", "fft")
            lags.append(int(np.abs(match).argmax()) - len(x) // 2)
    assert len(lags) > 15
    assert np.median(np.abs(lags)) <= 24
    assert np.percentile(np.abs(lags), 80) <= 80


def test_noise_is_between_inaudible_and_as_loud_as_speech(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ratio is what is left of a tone after a noise at another frequency."""
    monkeypatch.setattr(augment, "_NOISES", (lambda random, length, others: tone(length, 3000),))
    monkeypatch.setattr(augment, "narrow", lambda random, x: x)
    monkeypatch.setattr(augment, "path", lambda random, room: np.ones(1, np.float32))
    ratios = []
    for number in range(80):
        copy = Augmenter(2, [])(tone(RATE, 500), number)
        s = spectrum(copy.samples * np.hanning(len(copy.samples)).astype(np.float32))
        hertz = np.arange(len(s)) * RATE / len(copy.samples)
        heard, other = (s[np.abs(hertz - f) < 0.12 * f].max() for f in (500, 3000))
        ratios.append(20 * np.log10(heard / other))
    with_noise = np.array([r for r in ratios if r < 40])
    assert 45 < len(with_noise) < 75  # three in four
    assert -1.5 < with_noise.min() < 6
    assert 24 < with_noise.max() < 31.5


def test_the_direct_sound_comes_first_and_a_room_dies_away() -> None:
    for seed in range(12):
        dry = path(np.random.default_rng(seed), room=False)
        room = path(np.random.default_rng(seed), room=True)
        assert np.allclose(room[:16], dry[:16], atol=1e-5)  # nothing else for a millisecond
        assert np.sum(dry[:24] ** 2) > 0.5 * np.sum(dry**2)
        energy = np.cumsum(room[::-1] ** 2)[::-1]
        assert energy[len(energy) * 3 // 4] < 1e-3 * energy[0]


def test_the_minimum_phase_response_has_the_gain_asked_for() -> None:
    gain = np.exp(np.convolve(np.random.default_rng(0).normal(size=129), np.hanning(25), "same") / 4)
    response = minimum_phase(gain)
    assert np.allclose(spectrum(response), gain, rtol=1e-3)
    reversed_ = response[::-1]
    assert all(np.sum(response[:n] ** 2) >= np.sum(reversed_[:n] ** 2) for n in range(1, 256))


@pytest.mark.parametrize("kind", [augment.steady, augment.restless, augment.babble])
def test_noises_are_as_long_as_asked_and_finite(kind: object) -> None:
    assert callable(kind)
    for length in (1, 401, 5000, 3 * RATE):
        for seed in range(4):
            x = kind(np.random.default_rng(seed), length, OTHERS)
            assert (x.shape, x.dtype) == ((length,), np.float32)
            assert np.isfinite(x).all()


def test_babble_is_of_the_others() -> None:
    """And of nothing else: of silent ones it is silent."""
    silent = [np.zeros(100, np.float32)]
    assert not augment.babble(np.random.default_rng(0), 1000, silent).any()
    assert augment.babble(np.random.default_rng(0), 1000, []).any()


def test_a_narrow_band_loses_the_highs_and_keeps_its_length() -> None:
    x = noise(RATE)
    for seed in range(8):
        y = augment.narrow(np.random.default_rng(seed), x)
        assert len(y) == len(x)
        s = spectrum(y) ** 2
        assert s[7500:].sum() < 1e-2 * s.sum()
        assert s[500:2900].sum() > 0.3 * s.sum()


@pytest.mark.parametrize("samples", [np.zeros(4000, np.float32), noise(400), np.ones(4000, np.float32)])
def test_what_is_no_speech_comes_out_finite(samples: F32) -> None:
    for number in range(12):
        copy = Augmenter(3, OTHERS)(samples, number).samples
        assert np.isfinite(copy).all()
        assert np.abs(copy).max() <= 1

"""What happens to a voice on its way: tempo, room, equaliser, noise, other voices, codecs, level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import soxr
from scipy.fft import irfft, next_fast_len, rfft
from scipy.signal import butter, fftconvolve, sosfilt

from ...kernels import g711
from ...kernels.jit import F32

RATE = 16_000
_TAPS = 256  # of the equaliser
_LEVEL = (-42.0, -14.0)  # dBFS, RMS
_SNR = (0.0, 30.0)  # dB
_RT60 = (0.08, 0.6)  # s
_DIRECT = (-3.0, 15.0)  # dB, direct sound over reverberation: 15 is a headset, -3 is two metres away


@dataclass(frozen=True)
class Augmented:
    samples: F32
    speed: float  # of the original: its sample n is sample n / speed here, its pitch times `speed`


class Augmenter:
    """Draws from `seed` and a number for each call, so that a corpus comes out the same whatever part of it is made when."""

    def __init__(self, seed: int, others: Sequence[F32]) -> None:
        """`others`: speech of training speakers, for babble; none: no babble."""
        self._seed, self._others = seed, others

    def __call__(self, samples: F32, number: int) -> Augmented:
        """A harmed copy of speech at RATE, shape (n,)."""
        random = np.random.default_rng([self._seed, number])
        speed = float(np.exp(random.uniform(np.log(0.9), np.log(1.1)))) if random.random() < 0.6 else 1.0
        x = soxr.resample(samples, RATE * speed, RATE, quality="MQ") if speed != 1.0 else samples
        x = fftconvolve(x, path(random, room=random.random() < 0.5))[: len(x)]
        speech = rms(x)
        if random.random() < 0.75:
            kind = _NOISES[random.integers(len(_NOISES))]
            disturbance = kind(random, len(x), self._others)
            x = x + disturbance * (speech / max(rms(disturbance), 1e-9) * 10 ** (-random.uniform(*_SNR) / 20))
        if random.random() < 0.25:
            x = narrow(random, x)
        x = x * (10 ** (random.uniform(*_LEVEL) / 20) / max(rms(x), 1e-9))
        if random.random() < 0.05:
            x = np.clip(x, -2 * rms(x), 2 * rms(x))
        return Augmented(np.clip(x, -1, 1).astype(np.float32), speed)


def rms(x: F32) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.square(x), dtype=np.float64)))


def path(random: np.random.Generator, room: bool) -> F32:
    """Impulse response from mouth to samples, whose first tap is the direct sound: an equaliser and, in a room, its decay.

    The decay is noise whose power falls by 60 dB in RT60, faster in the high band; it begins 2 to 10 ms after the direct sound.
    """
    anchors = random.normal(0, 3.0, 8).cumsum()  # dB at eight places of the band, a drift
    gain = np.interp(np.linspace(0, 7, _TAPS // 2 + 1), np.arange(8), anchors - anchors.mean())
    equaliser = minimum_phase(10 ** (np.clip(gain, -15, 15) / 20))
    if not room:
        return equaliser
    rt60 = random.uniform(*_RT60)
    time = np.arange(int(rt60 * RATE)) / RATE
    high = sosfilt(butter(2, 2000, "high", fs=RATE, output="sos"), random.normal(size=len(time)))
    tail = random.normal(size=len(time)) * 10 ** (-3 * time / rt60) + high * 10 ** (-3 * time / (0.6 * rt60))
    tail[: int(random.uniform(0.002, 0.01) * RATE)] = 0
    tail *= 10 ** (-random.uniform(*_DIRECT) / 20) / max(float(np.sqrt(np.sum(tail**2))), 1e-9)
    tail[0] = 1
    return np.asarray(fftconvolve(tail, equaliser), np.float32)


def minimum_phase(gain: np.ndarray[tuple[int], np.dtype[np.float64]]) -> F32:
    """The minimum-phase impulse response of a gain at equidistant frequencies from 0 to half the rate, by the cepstrum."""
    cepstrum = np.fft.irfft(np.log(np.maximum(gain, 1e-6)))
    half = len(cepstrum) // 2
    cepstrum[1:half] *= 2
    cepstrum[half + 1 :] = 0
    return np.asarray(np.fft.irfft(np.exp(np.fft.rfft(cepstrum))), np.float32)


def steady(random: np.random.Generator, length: int, others: Sequence[F32]) -> F32:
    """Noise with a spectrum from white to f^-2, maybe with a hum."""
    points = next_fast_len(length, real=True)
    spectrum = rfft(random.normal(size=points))
    spectrum *= np.maximum(np.arange(len(spectrum)), 20) ** -random.uniform(0, 1.2)
    noise = irfft(spectrum, points)[:length]
    noise /= max(rms(noise), 1e-12)
    if random.random() < 0.3:
        phase = 2 * np.pi * random.choice([50, 60, 100, 120]) * np.arange(length) / RATE
        noise = noise + random.uniform(0.3, 2) * sum(np.sin(k * phase) / k for k in (1, 2, 3, 5))
    return np.asarray(noise, np.float32)


def restless(random: np.random.Generator, length: int, others: Sequence[F32]) -> F32:
    """Noise that comes and goes several times a second, as of traffic, keys, dishes."""
    noise = steady(random, length, others)
    points = max(2, int(length / RATE * random.uniform(1, 12)))
    envelope = np.interp(np.linspace(0, points - 1, length), np.arange(points), random.exponential(size=points) ** 2)
    return np.asarray(noise * envelope, np.float32)


def babble(random: np.random.Generator, length: int, others: Sequence[F32]) -> F32:
    """One to eight other speakers at once; steady noise where none are known."""
    if not others:
        return steady(random, length, others)
    total = np.zeros(length, np.float32)
    for _ in range(int(random.choice([1, 3, 5, 8]))):
        other = others[int(random.integers(len(others)))]
        total += np.resize(np.roll(other, int(random.integers(len(other)))), length) / max(rms(other), 1e-4)
    return total


_NOISES: tuple[Callable[[np.random.Generator, int, Sequence[F32]], F32], ...] = (steady, restless, babble)


def narrow(random: np.random.Generator, x: F32) -> F32:
    """A telephone (300 to 3400 Hz, 8 kHz, mu-law) or a low pass between 3 and 7 kHz."""
    if random.random() < 0.5:
        return np.asarray(sosfilt(butter(6, random.uniform(3000, 7000), fs=RATE, output="sos"), x), np.float32)
    low = sosfilt(butter(4, [random.uniform(150, 300), 3400], "band", fs=RATE, output="sos"), x)
    low = soxr.resample(np.asarray(low, np.float32), RATE, 8000, quality="MQ")
    low *= 0.1 / max(rms(low), 1e-9)
    sixteen_bits = np.clip(np.rint(low * 32768), -32768, 32767).astype(np.int64)
    heard = g711.LEVELS["mulaw"][g711.CODES["mulaw"][sixteen_bits + 32768]].astype(np.float32) / 32768
    return np.resize(soxr.resample(heard, 8000, RATE, quality="MQ"), len(x))

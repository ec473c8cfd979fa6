"""Seeded test signals and partitions into blocks, one place for all tests. Mono float32 at 16 kHz unless stated."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
RATE = 16_000


def voice(seconds: float = 2.0, f0: float = 120.0, seed: int = 0, rate: int = RATE) -> F32:
    """A speech-like signal: a gliding glottal pulse train through four formants, with unvoiced bursts and pauses."""
    from scipy.signal import lfilter

    rng = np.random.default_rng(seed)
    n = int(seconds * rate)
    t = np.arange(n) / rate
    pitch = f0 * (1 + 0.15 * np.sin(2 * np.pi * 0.7 * t + rng.uniform(0, 6)))
    phase = np.cumsum(pitch / rate)
    pulses = np.diff(np.floor(phase), prepend=0.0)
    syllable = np.clip(np.sin(2 * np.pi * 3 * t + rng.uniform(0, 6)) + 0.4, 0, 1)
    voiced = np.sin(2 * np.pi * 1.1 * t + rng.uniform(0, 6)) > -0.6
    y: npt.NDArray[np.float64] = np.where(voiced, pulses * 8, rng.normal(size=n) * 0.6) * syllable
    for hz, width in ((500, 80), (1500, 120), (2500, 160), (3500, 200)):
        r = np.exp(-np.pi * width / rate)
        y = lfilter([1 - r], [1, -2 * r * np.cos(2 * np.pi * hz / rate), r * r], y)
    y = 0.5 * y / np.abs(y).max() + 1e-4 * rng.normal(size=n)
    return np.asarray(y, np.float32)


def noise(n: int, rms: float = 0.1, seed: int = 0) -> F32:
    return (rms * np.random.default_rng(seed).normal(size=n)).astype(np.float32)


def tone(n: int, hz: float, amplitude: float = 0.5, rate: int = RATE) -> F32:
    return (amplitude * np.sin(2 * np.pi * hz * np.arange(n) / rate)).astype(np.float32)


def awkward(n: int = 8000) -> dict[str, F32]:
    """Signals that break careless DSP code."""
    square = np.sign(np.sin(2 * np.pi * 200 * np.arange(n) / RATE)).astype(np.float32)
    impulse = np.zeros(n, np.float32)
    impulse[n // 2] = 1.0
    return {
        "zeros": np.zeros(n, np.float32),
        "dc": np.full(n, 0.3, np.float32),
        "denormal": noise(n, 1e-39),
        "one_lsb": np.random.default_rng(1).integers(-1, 2, n).astype(np.float32) / np.float32(32768),
        "tone_60": tone(n, 60),
        "tone_440": tone(n, 440),
        "tone_7900": tone(n, 7900),
        "square": square,
        "impulse": impulse,
        "noise": noise(n),
        "then_silence": np.concatenate([noise(n // 2), np.zeros(n - n // 2, np.float32)]),
    }


def partitions(n: int, seed: int = 0) -> Iterator[tuple[str, list[int]]]:
    """Named ways to cut n samples into blocks: one size each, one of mixed sizes with empty blocks, one whole."""
    for size in (1, 64, 65, 160, 480, 8193):
        if size > 1 or n <= 20_000:
            yield str(size), [min(size, n - i) for i in range(0, n, size)]
    rng = np.random.default_rng(seed)
    sizes: list[int] = []
    while (left := n - sum(sizes)) > 0:
        sizes.append(min(left, int(rng.choice([0, 1, 7, 160, 313, 720, 4000]))))
    yield "mixed", sizes
    yield "whole", [n]

"""What a profile is made of: the beginning of a recording, or noise that is shaped like speech."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..kernels.jit import F32, F64
from .reader import Reader

LENGTH = 10.0  # s that are generated, and played over and over
LONGEST = 60.0  # s that are read of a file at most
_FORMANTS = ((500, 80), (1500, 120), (2500, 160), (3500, 200))  # Hz: centres and bandwidths, of a neutral vocal tract


@dataclass(frozen=True)
class Sound:
    """x: shape (frames, channels), float32, at `rate` Hz."""

    name: str
    x: F32
    rate: int

    def at(self, rate: int) -> Sound:
        """The same at another rate."""
        if rate == self.rate:
            return self
        import soxr

        return Sound(self.name, np.asarray(soxr.resample(self.x, self.rate, rate, quality="LQ"), np.float32), rate)


def read(path: Path) -> Sound:
    """The beginning of a recording. FileFailure if it cannot be read."""
    taken: list[F32] = []
    with Reader(path) as reader:
        wanted = int(LONGEST * reader.rate)
        for block in reader.blocks():
            taken.append(block[:wanted].copy())
            wanted -= len(taken[-1])
            if not wanted:
                break
    return Sound(path.name, np.concatenate(taken), reader.rate)


def generated(rate: int, seed: int | None) -> Sound:
    """Voiced and unvoiced syllables with pauses between them: all that stages treat differently. RMS about -20 dB."""
    random = np.random.default_rng(seed)
    n = int(LENGTH * rate)
    t = np.arange(n) / rate
    pitch = 130 * (1 + 0.2 * np.sin(2 * np.pi * 0.3 * t)) * (1 + 0.05 * np.sin(2 * np.pi * 1.7 * t))
    pulses = np.diff(np.floor(np.cumsum(pitch / rate)), prepend=0.0) * np.sqrt(rate / 130)  # unit power, as the noise
    voiced = np.sin(2 * np.pi * 1.3 * t) > -0.5
    syllables = np.clip(np.sin(2 * np.pi * 4 * t) + 0.6, 0, 1) * (np.sin(2 * np.pi * 0.4 * t) > -0.8)
    y = _through_formants(np.where(voiced, pulses, 0.3 * random.normal(size=n)) * syllables, rate)
    y = 0.1 * y / np.sqrt(np.mean(y**2)) + 1e-4 * random.normal(size=n)
    return Sound("generated speech-like noise", np.clip(y, -1, 1).astype(np.float32)[:, None], rate)


def _through_formants(x: F64, rate: int) -> F64:
    """Through resonances, as one filter of the whole signal, round its end."""
    z = np.exp(-2j * np.pi * np.fft.rfftfreq(x.size))
    response = np.ones_like(z)
    for hz, width in _FORMANTS:
        pole = np.exp((-np.pi * width + 2j * np.pi * hz) / rate)
        if 2 * hz < rate:
            response /= (1 - pole * z) * (1 - pole.conjugate() * z)
    return np.fft.irfft(np.fft.rfft(x) * response, x.size)

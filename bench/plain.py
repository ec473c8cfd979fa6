"""The algorithms as one would write them in plain NumPy, SciPy and librosa, in 10 ms blocks: what kernels are timed against."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from ..kernels.jit import F32, F64

HOP, WINDOW = 160, 320


class PlainStft:
    """Frames of 20 ms every 10 ms with a root Hann window at both ends; a subclass changes the frame."""

    def __init__(self) -> None:
        self._window = np.sin(np.pi * np.arange(WINDOW) / WINDOW)
        self._past = np.zeros(HOP)
        self._overlap = np.zeros(HOP)

    def __call__(self, x: F32) -> F64:
        """One hop in, shape (160,); one hop out, 160 samples later."""
        frame = np.concatenate([self._past, x])
        self._past = frame[HOP:]
        windowed = frame * self._window
        changed = self.change(windowed) * self._window
        changed *= np.sqrt(np.sum((windowed * self._window) ** 2) / (np.sum(changed**2) + 1e-20))
        out = self._overlap + changed[:HOP]
        self._overlap = changed[HOP:]
        return out

    def change(self, frame: F64) -> F64:
        raise AssertionError("a subclass says how")


class PlainMcAdams(PlainStft):
    """Burg prediction by librosa, poles by numpy.roots, polynomial by numpy.poly, filters by scipy.lfilter."""

    def __init__(self, alpha: float = 0.8, order: int = 20) -> None:
        super().__init__()
        self._alpha, self._order = alpha, order

    def change(self, frame: F64) -> F64:
        import librosa

        a = librosa.lpc(frame + 1e-7, order=self._order)
        poles = np.roots(a)
        angles = np.abs(np.angle(poles))
        moved = np.where(poles.imag == 0, angles, np.minimum(angles**self._alpha, np.pi)) * np.sign(np.angle(poles))
        shifted = np.poly(np.abs(poles) * np.exp(1j * moved)).real
        return np.asarray(lfilter([1.0], shifted, lfilter(a, [1.0], frame)))


class PlainVtln(PlainStft):
    """Envelope by cepstral smoothing, warped by numpy.interp; its ratio scales the spectrum."""

    def __init__(self, factor: float = 0.85, quefrencies: int = 30) -> None:
        super().__init__()
        bins = np.arange(257)
        self._bins, self._from, self._kept = bins, np.minimum(bins / factor, 256), quefrencies

    def change(self, frame: F64) -> F64:
        spectrum = np.fft.rfft(frame, 512)
        cepstrum = np.fft.irfft(np.log(np.abs(spectrum) + 1e-9))
        cepstrum[self._kept : -self._kept + 1] = 0
        envelope = np.fft.rfft(cepstrum).real
        ratio = np.exp(np.interp(self._from, self._bins, envelope) - envelope)
        return np.asarray(np.fft.irfft(spectrum * ratio)[:WINDOW])

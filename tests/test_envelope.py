from __future__ import annotations

import naive
import numpy as np
import pytest
from signals import tone, voice
from velavox.kernels import envelope, fft

SIZE, BINS = 512, 257


def predicted(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A(omega) and X of the frame x, shape (480,)."""
    state, plan = envelope.fresh(SIZE), fft.fresh(SIZE)
    X = np.fft.rfft(x, SIZE)
    envelope.predict(state[0], plan[0], X.real.astype(np.float32), X.imag.astype(np.float32))
    return state, X


FRAME = voice(0.2)[1000:1480] * np.hanning(480)


@pytest.mark.nojit
def test_twin() -> None:
    state, X = predicted(FRAME)
    np.testing.assert_allclose(state[0].re + 1j * state[0].im, naive.prediction_response(X), rtol=1e-3)


@pytest.mark.nojit
def test_the_envelope_follows_formants_not_harmonics() -> None:
    from scipy.signal import lfilter

    period = 80  # 200 Hz
    pulses = (np.arange(480) % period == 0).astype(float)
    x = lfilter([1], [1, -2 * 0.97 * np.cos(2 * np.pi * 1500 / 16000), 0.97**2], pulses) * np.hanning(480)
    state, _ = predicted(x)
    level = -20 * np.log10(np.hypot(state[0].re, state[0].im))
    hz = np.arange(BINS) * 16000 / SIZE
    assert abs(hz[level.argmax()] - 1500) < 100
    rises = np.count_nonzero(np.diff(np.sign(np.diff(level))) < 0)
    assert rises <= 9  # of 40 harmonics below 8 kHz


@pytest.mark.nojit
def test_hum_does_not_hide_the_formants() -> None:
    hum = tone(480, 50, np.abs(FRAME).max()) * np.hanning(480)
    quiet, _ = predicted(FRAME)
    loud, _ = predicted(FRAME + hum)
    difference = 20 * np.log10(np.hypot(loud[0].re, loud[0].im) / np.hypot(quiet[0].re, quiet[0].im))
    assert np.abs(difference[10:128]).max() < 4  # 300 Hz to 4 kHz; without the high-pass 6.2


@pytest.mark.nojit
def test_no_warp_no_change() -> None:
    state, X = predicted(FRAME)
    out = np.empty((2, BINS), np.float32)
    re, im = X.real.astype(np.float32), X.imag.astype(np.float32)
    envelope.warp_envelope(state[0], out[0], out[1], re, im, np.arange(BINS, dtype=np.float32))
    np.testing.assert_allclose(out, [re, im], atol=1e-5 * np.abs(X).max())


@pytest.mark.nojit
def test_a_warp_reads_the_envelope_elsewhere() -> None:
    state, X = predicted(FRAME)
    out = np.empty((2, BINS), np.float32)
    source = np.arange(BINS, dtype=np.float32) * np.float32(0.5)
    envelope.warp_envelope(state[0], out[0], out[1], X.real.astype(np.float32), X.imag.astype(np.float32), source)
    A = state[0].re + 1j * state[0].im
    np.testing.assert_allclose((out[0] + 1j * out[1])[::2], X[::2] * A[::2] / A[:129], rtol=1e-3)

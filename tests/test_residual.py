from __future__ import annotations

import naive
import numpy as np
import pytest
from signals import F32, awkward, noise, voice
from velavox.kernels import residual
from velavox.kernels.residual import AHEAD, HOP, KEPT, LATENCY, SMALLEST


def run(x: F32) -> tuple[F32, F32]:
    """Output of the stream without its delay, and the residual, for x of whole hops."""
    state, padded = residual.fresh(), np.append(x, np.zeros(LATENCY, np.float32))
    out, left = np.empty_like(padded), np.empty_like(padded)
    for k in range(0, padded.size, HOP):
        residual.stream(state, out[k : k + HOP], padded[k : k + HOP])
        left[k : k + HOP] = state[0].residual[KEPT - AHEAD - HOP : KEPT - AHEAD]
    return out[LATENCY:], left[AHEAD : AHEAD + x.size]


@pytest.mark.nojit
def test_twin() -> None:
    x = voice(0.3)[1600:]
    wanted = naive.whiten(x.astype(float))
    assert np.linalg.norm(run(x)[1] - wanted) < 1e-3 * np.linalg.norm(wanted)


@pytest.mark.parametrize("name", ["voice", *awkward()])
def test_an_unchanged_residual_gives_the_signal_back(name: str) -> None:
    x = {"voice": voice(1.0), **awkward()}[name]
    np.testing.assert_allclose(run(x)[0], np.where(np.abs(x) < SMALLEST, 0, x), atol=1e-5)


def test_the_residual_is_white() -> None:
    x = voice(2.0)
    left = run(x)[1]

    def flatness(y: F32) -> float:
        power = np.abs(np.fft.rfft(y.reshape(-1, 320), axis=1)) ** 2
        mean = power.mean(axis=0)[2:-2]
        return float(np.exp(np.log(mean).mean()) / mean.mean())

    assert flatness(left) > 0.5 > 3 * flatness(x)


def test_pulses_stay_where_they_are() -> None:
    """The residual of a pulse through a vocal tract is that pulse."""
    from scipy.signal import lfilter

    pulses = (np.arange(16000) % 160 == 40).astype(np.float32)
    x = lfilter([1], [1, -2 * 0.97 * np.cos(0.3), 0.97**2], lfilter([1], [1, -2 * 0.96 * np.cos(1.2), 0.96**2], pulses))
    left = run(np.asarray(0.1 * x, np.float32))[1].reshape(-1, 160)[10:-10]
    assert np.all(np.abs(np.abs(left).argmax(axis=1) - 40) <= 1)


def test_silence_after_sound_is_silent_and_holds_no_denormals() -> None:
    state = residual.fresh()
    x = np.append(noise(3200), noise(48000, 1e-39))
    out = np.empty_like(x)
    residual.stream(state, out, x)
    assert np.all(out[-16000:] == 0)
    for field in ("signal", "residual", "voice", "new", "tilt"):
        held = np.abs(np.asarray(state[0][field], float))
        assert np.all((held == 0) | (held > 1e-37))

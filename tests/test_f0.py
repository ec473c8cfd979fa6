from __future__ import annotations

import csv
import warnings
from pathlib import Path

import naive
import numpy as np
import pytest
from scipy.signal import lfilter
from signals import F32, RATE, awkward, noise, tone, voice
from velavox.bench.speech import speech
from velavox.kernels import f0
from velavox.kernels.f0 import HOP, LATENCY, offline
from velavox.kernels.jit import F64


def vowel(hz: F64, seed: int = 0) -> F32:
    """A pulse train of F0 `hz`, one value a sample, through two formants, in faint noise."""
    x = np.diff(np.floor(np.cumsum(hz / RATE)), prepend=0.0)
    for formant in (600, 1300):
        x = lfilter([1], [1, -2 * 0.98 * np.cos(2 * np.pi * formant / RATE), 0.98**2], x)
    x = x / np.abs(x).max() * 0.5 + 1e-3 * np.random.default_rng(seed).normal(size=x.size)
    return np.asarray(x, np.float32)


def streamed(state: np.ndarray, x: F32, hops: int = 1) -> F32:
    out = np.empty(x.size // HOP, np.float32)
    for k in range(0, out.size, hops):
        f0.stream(state, out[k : k + hops], x[HOP * k : HOP * (k + hops)])
    return out


@pytest.mark.nojit
def test_twin() -> None:
    for x in (voice(0.6, 110), voice(0.6, 300, seed=4), noise(8000)):
        np.testing.assert_allclose(offline(x), naive.f0(x.astype(float)), rtol=1e-3)


@pytest.mark.parametrize("hz", [52, 65, 90, 130, 180, 250, 330, 450, 520, 590])
def test_finds_f0_within_a_percent(hz: float) -> None:
    found = offline(vowel(np.full(RATE, float(hz))))[10:-10]
    np.testing.assert_allclose(found, hz, rtol=0.01)


def test_values_belong_to_their_time() -> None:
    hz = 180 * np.exp(0.3 * np.sin(2 * np.pi * 2.5 * np.arange(2 * RATE) / RATE))
    found = offline(vowel(hz))[10:190]

    def error(late: int) -> float:
        return float(np.sqrt(np.mean(np.log(found / hz[1600 + late : 1600 + late + 180 * HOP : HOP]) ** 2)))

    assert error(0) < 0.02
    assert error(0) < min(error(-HOP), error(HOP)) / 2


@pytest.mark.parametrize("name", ["zeros", "dc", "denormal", "one_lsb", "tone_7900", "noise", "then_silence"])
def test_no_voice_where_there_is_none(name: str) -> None:
    found = offline(awkward(64000)[name])
    assert np.mean(found[200:] > 0) < 0.05  # it takes 2 s to know a loud noise for one


@pytest.mark.parametrize("name", awkward())
def test_finite_on_anything(name: str) -> None:
    found = offline(awkward()[name])
    assert np.isfinite(found).all()
    assert np.all((found == 0) | ((found > 49) & (found < 680)))


def test_whisper_has_low_periodicity(shared: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    middle = {}
    for name in ("whisper", "whisper_f", "m1", "f2"):
        x = soundfile.read(shared / "fixtures" / f"speech_{name}_16k.wav", dtype="float32")[0]
        state, values = f0.fresh(), []
        for k in range(0, x.size - HOP, HOP):
            f0.stream(state, np.empty(1, np.float32), x[k : k + HOP])
            values.append(state[0].periodicity)
        middle[name] = np.quantile([v for v in values if v > 0], 0.8)
    assert max(middle["whisper"], middle["whisper_f"]) < 0.65
    assert min(middle["m1"], middle["f2"]) > 0.9


def test_in_noise_hum_and_rumble() -> None:
    clean = vowel(np.full(2 * RATE, 200.0))
    rms = np.sqrt(np.mean(clean**2))
    for other in (noise(clean.size, rms / 3), tone(clean.size, 50, rms / 2), np.cumsum(noise(clean.size, rms / 100))):
        found = offline(clean + np.asarray(other, np.float32))[10:-10]
        assert np.mean(np.abs(found / 200 - 1) < 0.02) > 0.97


def test_high_and_low_voices_keep_their_octave(shared: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    for name, low, high in (("childlike", 260, 400), ("verylow", 45, 95)):
        found = offline(soundfile.read(shared / "fixtures" / f"speech_{name}_16k.wav", dtype="float32")[0])
        found = found[100:][found[100:] > 0]
        assert np.mean((found > low) & (found < high)) > 0.85


def test_streamed_in_any_number_of_hops_is_offline() -> None:
    x = np.concatenate([voice(2.0), np.zeros(LATENCY, np.float32)])
    wanted = offline(voice(2.0))
    for hops in (1, 3, 50, x.size // HOP):
        np.testing.assert_allclose(streamed(f0.fresh(), x, hops)[LATENCY // HOP :], wanted[:-1], atol=1e-5)


def test_level_hardly_matters() -> None:
    x = speech()
    wanted = offline(x)
    for gain in (0.5, 2):
        found = offline(np.float32(gain) * x)
        both = (found > 0) & (wanted > 0)
        assert np.mean((found > 0) == (wanted > 0)) > 0.95
        assert np.mean(np.abs(found[both] / wanted[both] - 1) < 0.01) > 0.99


def test_denormals_leave_no_denormals_behind() -> None:
    state = f0.fresh()
    streamed(state, np.concatenate([voice(0.2), noise(32000, 1e-39)]))
    held = np.concatenate([state[0].band, state[0].memory.ravel()])
    assert np.all((held == 0) | (np.abs(held) > 1e-37))


@pytest.mark.parametrize("n", [0, 1, 79, 159, 160, 161, 400])
def test_one_value_each_hop(n: int) -> None:
    assert offline(noise(n)).shape == (n // HOP + 1,)


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match="one channel"):
        offline(np.zeros((2, 1600), np.float32))


def test_agrees_with_harvest(shared: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it imports pkg_resources
        pyworld = pytest.importorskip("pyworld")
    with (shared / "speech" / "manifest.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == "dev"]
    voicing, gross = [], []
    for row in rows[::80]:
        x = soundfile.read(shared / "speech" / row["path"], dtype="float32")[0]
        wanted = pyworld.harvest(x.astype(float), RATE, frame_period=10)[0]
        found = offline(x)[: wanted.size]
        both = (found > 0) & (wanted > 0)
        voicing.append((found > 0) != (wanted > 0))
        gross.append(np.abs(found[both] / wanted[both] - 1) > 0.2)
    assert np.mean(np.concatenate(gross)) <= 0.06
    assert np.mean(np.concatenate(voicing)) <= 0.12

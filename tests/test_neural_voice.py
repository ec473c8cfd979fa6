"""The neural anonymizer with the networks that are shipped: what its controls do, that it lasts, and that its voices differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from signals import noise, tone
from test_graphs import resident
from velavox import DpVoice, Engine
from velavox.bench.measure import best_lag_correlation, envelope_change, level_change
from velavox.bench.speech import clips, speech
from velavox.kernels import f0
from velavox.kernels.jit import F32

MODES = ["balanced", "low"]
CLIP = "27-123349-0009"


def spoken(x: F32, seed: int | None = 0, **values: Any) -> F32:
    """Aligned with x, and as long."""
    engine = Engine(DpVoice(**values), sample_rate=16_000, seed=seed)
    y = np.concatenate([engine.process(x), engine.flush()])[engine.latency :]
    assert engine.stats.muted == 0
    return y


def pitch(x: F32) -> tuple[float, float]:
    """Mean F0 in Hz and its spread in semitones, over the voiced frames."""
    track = f0.offline(x)
    logs = np.log2(track[track > 0])
    return float(2 ** logs.mean()), float(12 * logs.std())


@pytest.mark.parametrize("mode", MODES)
def test_a_voice_is_not_the_speakers_and_not_another_voice(mode: str) -> None:
    x = clips()[CLIP]
    voices = [spoken(x, seed, mode=mode) for seed in range(4)]
    for y in voices:
        assert best_lag_correlation(x, y) < 0.3
        assert abs(level_change(x, y)) < 3
        assert envelope_change(x, y) > 1.5
    means = sorted(pitch(y)[0] for y in voices)
    assert means[-1] / means[0] > 1.15


@pytest.mark.parametrize("mode", MODES)
def test_where_nobody_speaks_every_voice_is_quiet(mode: str) -> None:
    """Of voices as the decoder learnt them some hiss as loudly as the noise that they hear. In the mode `low`, which hears
    40 ms less, the beginning of noise may be taken for a sound."""
    x = noise(16_000, 0.1)
    for seed in range(6):
        y = spoken(x, seed, mode=mode)[9600 if mode == "low" else 0 :]
        assert np.sqrt(np.mean(y**2)) < 0.1 * np.sqrt(np.mean(x**2)), seed


def test_the_pitch_moves_as_far_as_is_asked() -> None:
    x = clips()[CLIP]
    still, usual = (pitch(spoken(x, pitch_range=part))[1] for part in (0.0, 1.0))
    assert still < 0.6 * usual


def test_flattened_speech_has_less_contour() -> None:
    x = clips()[CLIP]
    assert pitch(spoken(x, flatten=1.0))[1] < 0.6 * pitch(spoken(x))[1]


def test_what_comes_later_changes_nothing_earlier() -> None:
    x = speech()[:48_000]
    cut = 24_000
    other = np.concatenate([x[:cut], noise(x.size - cut, 0.3)])
    for mode, delay in (("balanced", 1160 + 319), ("low", 520 + 319)):
        one, two = spoken(x, mode=mode), spoken(other, mode=mode)
        np.testing.assert_array_equal(one[: cut - delay], two[: cut - delay])
        assert not np.array_equal(one[cut:], two[cut:])


def test_a_long_stream_ends_as_it_began() -> None:
    x = clips()[CLIP]
    y = spoken(np.tile(x, 12)).reshape(12, -1)
    change = [level_change(part, y[1]) for part in y[1:]]
    assert np.abs(change).max() < 1.5
    assert envelope_change(y[1], y[-1]) < 1.5


def test_pauses_are_quiet_and_speech_comes_back() -> None:
    x = clips()[CLIP]
    pause = noise(48_000, 1e-4)
    y = spoken(np.concatenate([x, pause, x]))
    assert np.std(y[x.size + 8000 : x.size + 44_000]) < 0.02 * np.std(y[: x.size])
    assert abs(level_change(x, y[-x.size :])) < 3


def test_quiet_and_loud_speech_keep_their_level() -> None:
    x = clips()[CLIP]
    for gain in (0.03, 0.1, 2.0):  # -60 dBFS to -24; what is quieter still, the networks do not take for speech
        louder = np.clip(x * np.float32(gain), -1, 1)
        assert abs(level_change(louder, spoken(louder))) < 3


def test_what_is_no_speech_is_finite() -> None:
    music = sum(tone(32_000, hz, 0.1) for hz in (220.0, 277.2, 329.6, 440.0))
    for x in (music, noise(32_000), np.clip(20 * speech()[:32_000], -1, 1), speech()[:32_000:2].repeat(3)):
        y = spoken(np.asarray(x, np.float32))
        assert np.isfinite(y).all()
        assert np.abs(y).max() <= 1


def test_a_further_stream_takes_little_memory() -> None:
    engines = [Engine(DpVoice(), sample_rate=48_000)]
    engines[0].process(speech(48_000)[:48_000])
    before = resident()
    for _ in range(6):
        engines.append(Engine(DpVoice(), sample_rate=48_000))
        engines[-1].process(speech(48_000)[:48_000])
    assert resident() - before < 6 * 8e6

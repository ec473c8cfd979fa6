"""The neural anonymizer around its networks: graphs of a few nodes take their place, so that what comes out is known."""

from __future__ import annotations

import gc
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tinygraphs
from dpvoices import MODES, damage, every_mode, prepared, through
from signals import noise, partitions, tone, voice
from stages import run
from test_graphs import resident
from velavox import DpVoice, Engine
from velavox.engine.graphs import GraphError
from velavox.kernels import channel
from velavox.models_onnx import manifest

pytestmark = pytest.mark.usefixtures("few_nodes")


@every_mode
def test_the_delay_is_what_it_says(mode: str) -> None:
    """Bursts of 20 ms: the middle of what comes out is that of what went in, to 2 ms. In the low mode, to 6: what smooths
    energy does not know there what follows."""
    x = noise(320 * 200, 1e-4)
    middles = np.arange(8160, 60_000, 8087)
    for k, middle in enumerate(middles):
        x[middle - 160 : middle + 160] += noise(320, 0.2, k)
    stage = prepared(mode=mode)
    assert stage.latency == MODES[mode]
    y = run(stage, np.concatenate([x, np.zeros(1280, np.float32)]))[stage.latency :]
    power = np.convolve(np.square(y, dtype=np.float64), np.hanning(160), "same")
    late = []
    for middle in middles:
        near = power[middle - 1600 : middle + 1600]
        weight = np.maximum(near - 0.2 * near.max(), 0)
        late.append(weight @ np.arange(-1600, 1600) / weight.sum())
    assert abs(np.mean(late)) < (32 if mode == "balanced" else 96)


@every_mode
def test_any_partition_gives_the_same(mode: str) -> None:
    x = voice(0.8)
    whole = through(x, mode=mode)
    assert np.abs(whole).max() > 0.01
    for name, sizes in partitions(x.size):
        np.testing.assert_allclose(through(x, sizes, mode=mode), whole, atol=1e-5, err_msg=name)


def test_the_encoder_hears_frames_and_their_running_mean() -> None:
    x, stage, heard = voice(0.8), prepared(), []
    step = stage._encoder.step

    def listening() -> None:
        heard.append([stage._encoder.inputs[name][0].copy() for name in ("mel", "mean")])
        step()

    stage._encoder.step = listening  # type: ignore[method-assign]
    run(stage, x)
    mel, mean = (np.concatenate(part) for part in zip(*heard, strict=True))
    assert len(mel) == x.size // 160
    np.testing.assert_array_equal(mean, channel.offline(mel))


def test_what_comes_later_changes_nothing_earlier() -> None:
    x, other = voice(1.6), voice(1.6)
    other[16_000:] = noise(len(other) - 16_000)
    a, b = run(prepared(), x), prepared()
    b.restore({**prepared().save(), "voice": (first := prepared()).voice})
    a = run(first, x)
    b.reset()
    np.testing.assert_array_equal(run(b, other)[:16_000], a[:16_000])


def test_silence_is_silence_and_level_follows() -> None:
    assert np.abs(through(np.zeros(16_000, np.float32))).max() < 1e-4
    x = voice(3.0)
    for gain in (0.02, 0.2, 1.0):
        y = through(x * np.float32(gain))
        assert abs(20 * math.log10(np.std(y[8000:]) / np.std(gain * x[8000:]))) < 3


def test_loud_quiet_and_strange_sounds_are_finite() -> None:
    for x in (np.sign(tone(8000, 200)), tone(8000, 7900, 1.0), noise(8000, 1e-30), noise(8000, 3.0)):
        y = through(x)
        assert np.isfinite(y).all()
        assert np.abs(y).max() <= 1


def test_a_minute_is_as_its_first_seconds() -> None:
    x = np.tile(voice(3.0), 20)
    y = through(x)
    parts = np.array([np.std(y[start : start + 48_000]) for start in range(48_000, len(y) - 47_999, 48_000)])
    assert parts.max() / parts.min() < 1.1


def test_streams_share_weights_and_take_little_memory() -> None:
    first = prepared()
    gc.collect()
    before = resident()
    others = [prepared() for _ in range(8)]
    assert all(stage._encoder.model is first._encoder.model for stage in others)
    assert all(stage._decoder.model is first._decoder.model for stage in others)
    assert resident() - before < 8 * 8e6


@pytest.mark.parametrize("fault", ["nan", "raise"])
def test_a_fault_of_a_network_is_silence_and_over_when_it_is_over(few_nodes: Path, fault: str) -> None:
    tinygraphs.chain(few_nodes, fault)
    x = noise(32_000, 0.03)
    x[12_800:13_440] *= 30  # 40 ms
    engine = Engine(DpVoice(), sample_rate=16_000)
    y = engine.process(x)[319:]
    assert set(engine.stats.causes) == {"error"}
    assert engine.stats.muted in (1, 2)  # energy that is NaN is taken into account two frames later
    assert (y[13_120:13_440] == 0).all()
    assert np.std(y[25_600:]) > 0.005


def test_a_stage_whose_network_fails_leaves_silence_not_the_input(few_nodes: Path) -> None:
    tinygraphs.chain(few_nodes, "raise")
    stage, y = prepared(), np.full(320, 0.7, np.float32)
    with pytest.raises(Exception, match="Gather"):
        stage.step(noise(320, 0.9), y)
    assert (y == 0).all()


def test_a_stage_that_is_not_prepared_leaves_silence_too() -> None:
    y = np.full(320, 0.7, np.float32)
    with pytest.raises(AttributeError):
        DpVoice().step(noise(320), y)
    assert (y == 0).all()


NAMES = ["encoder", "decoder", "noise"]


@pytest.mark.parametrize("how", ["missing", "cut short", "altered", "foreign"])
@pytest.mark.parametrize("name", NAMES)
def test_graphs_that_are_not_ours_are_refused_in_a_line(few_nodes: Path, name: str, how: str) -> None:
    damage(few_nodes, name, how)
    with pytest.raises(GraphError, match=rf"^graph {name}: [^\n]+; install velavox again$"):
        Engine(DpVoice(), sample_rate=16_000)


@pytest.mark.parametrize("number", [0.0, 1.1, math.nan])
def test_a_mechanism_that_gives_no_private_vector_is_refused(few_nodes: Path, number: float) -> None:
    tinygraphs.save(tinygraphs.careless(number), few_nodes, "noise")
    with pytest.raises(GraphError, match=r"^graph noise: gave no private vector; install velavox again$"):
        prepared()


def test_without_a_manifest_nothing_is_loaded(few_nodes: Path) -> None:
    (few_nodes / manifest.FILE).unlink()
    with pytest.raises(GraphError, match=r"manifest.json: missing"):
        prepared()


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"enroll": "nowhere.wav"}, "enroll=nowhere.wav: [^\n]+"),
        ({"enroll": "self"}, "only whole recordings"),
        ({"enroll": np.zeros((2, 3))}, r"enroll of shape \(2, 3\)"),
        ({"enroll": np.full(256, np.nan)}, "NaN"),
        ({"enroll": np.zeros(16_000)}, "less than 0.5 s of speech"),
        ({"mu": 0.0}, "mu=0.0"),
        ({"mode": "fast"}, "balanced, low"),
        ({"flatten": 1.5}, "flatten=1.5"),
    ],
)
def test_what_cannot_be_is_refused(values: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        prepared(**values)


def test_the_mode_is_fixed_once_there_is_a_delay() -> None:
    stage = DpVoice()
    stage.mode = "low"
    assert stage.latency == MODES["low"]
    stage.prepare()
    with pytest.raises(ValueError, match="fixed once"):
        stage.mode = "balanced"
    with pytest.raises(ValueError, match=r"mode 'balanced': this stage is prepared for 'low'"):
        stage.restore(prepared().save())
    assert stage.mode == "low"


def test_the_first_frame_is_as_flat_as_is_asked() -> None:
    stage = prepared(flatten=1.0, pitch_range=0.5)
    for _ in range(2):
        assert [float(stage._state["prosody"][name][0]) for name in ("flatness", "pitch_range")] == [1.0, 0.5]
        run(stage, noise(3200))
        stage.reset()


@every_mode
def test_the_channel_is_all_that_the_decoder_gets_but_the_voice(mode: str) -> None:
    stage = prepared(mode=mode)
    run(stage, noise(3200))
    given = stage._decoder.inputs
    assert given.keys() == {"content", "prosody", "voice"}
    np.testing.assert_array_equal(stage.channel, np.concatenate([given["content"][0], given["prosody"][0]], axis=1))
    stage.channel[:] = 7.0
    assert (stage.channel != 7.0).all()

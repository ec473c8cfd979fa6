from __future__ import annotations

import csv
import json
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memory import net_growth
from scipy.signal import correlate
from signals import F32, noise, tone, voice
from velavox.engine.vtln import FORMANT, Vtln
from velavox.kernels import vtln, warp

HOP = Vtln.hop


def prepared(**values: Any) -> Vtln:
    stage = Vtln(**values)
    stage.prepare()
    return stage


def run(stage: Vtln, x: F32) -> F32:
    """Whole hops of x through the stage, delayed."""
    y = np.full_like(x, 0.77)
    for k in range(0, x.size, HOP):
        stage.step(x[k : k + HOP], y[k : k + HOP])
    return y


def offline(x: F32, factor: float, shape: str = "symmetric", on: str = "envelope") -> F32:
    return vtln.offline(x, warp.offline(vtln.GRID, shape, warp.parameter(shape, factor, FORMANT)), on)


@pytest.mark.parametrize("on", vtln.ON)
@pytest.mark.parametrize("shape", warp.NAMES)
def test_streamed_equals_offline_after_the_latency(shape: str, on: str) -> None:
    x = voice(1.0)
    for direction, factor in ((1, 1.12), (-1, 1 / 1.12)):
        stage = prepared(warp=shape, amount=0.12, direction=direction, on=on)
        wanted = offline(x, factor, shape, on)
        np.testing.assert_allclose(run(stage, x)[stage.latency :], wanted[: -stage.latency], atol=1e-5)


@pytest.mark.parametrize("on", vtln.ON)
def test_latency_is_true(on: str) -> None:
    x, stage = noise(50 * HOP), prepared(on=on)
    vtln.aim(stage._state, vtln.GRID)  # no parameter can ask for it: nothing moves
    vtln.settle(stage._state)
    np.testing.assert_allclose(run(stage, x)[stage.latency :], x[: -stage.latency], atol=1e-5)


@pytest.mark.parametrize(("on", "most"), [("envelope", 2), ("spectrum", 60)])  # samples: moved harmonics disperse a click
@pytest.mark.parametrize("direction", [-1, 1])
def test_a_click_stays_where_it_is(on: str, most: int, direction: int) -> None:
    x, stage = np.zeros(20 * HOP, np.float32), prepared(on=on, direction=direction)
    x[1234] = 1.0
    assert abs(int(np.abs(run(stage, x)).argmax()) - 1234 - stage.latency) <= most


def test_voices_are_drawn_in_both_directions_and_not_near_the_speaker() -> None:
    voices = [prepared().voice for _ in range(60)]
    assert len({v["amount"] for v in voices}) == 60
    assert all(0.18 <= v["amount"] <= 0.28 for v in voices)
    assert {v["direction"] > 0 for v in voices} == {True, False}
    assert prepared(amount=0.2, direction=1).voice == {"amount": 0.2, "direction": 1}
    assert 0.3 <= prepared(amount=(0.3, 0.35)).voice["amount"] <= 0.35


def test_equal_entropy_equal_voice() -> None:
    stage, other = prepared(), prepared()
    stage.new_voice(bytes(range(16)))
    first = dict(stage.voice)
    other.new_voice(bytes(range(16)))
    assert other.voice == first
    stage.new_voice(bytes(16))
    assert stage.voice != first


def test_a_clone_has_the_parameters_and_a_voice_of_its_own() -> None:
    stage = prepared(amount=(0.2, 0.3), on="spectrum", warp="power")
    other = stage.clone()
    other.prepare()
    assert other.values == stage.values
    assert other.voice != stage.voice


@pytest.mark.parametrize("amount", [0, 0.05, -0.2, 1.0, float("nan"), (0.0, 0.3), (0.3, 0.2), "much"])
def test_the_speakers_own_voice_is_refused(amount: Any) -> None:
    with pytest.raises(ValueError, match="amount="):
        Vtln(amount=amount)
    stage = prepared()
    before = dict(stage.voice)
    with pytest.raises(ValueError, match="amount="):
        stage.amount = amount
    assert stage.voice == before


def test_a_saved_voice_out_of_range_is_refused() -> None:
    stage = prepared()
    saved, before = stage.save(), dict(stage.voice)
    for voice_saved in ({}, {"amount": 0.0, "direction": 1.0}, {"amount": 0.2}):
        saved["voice"] = voice_saved
        with pytest.raises(ValueError, match=r"amount=|direction="):
            stage.restore(saved)
    assert stage.voice == before


def test_wrong_names_are_refused() -> None:
    with pytest.raises(ValueError, match="symmetric, asymmetric"):
        Vtln(warp="cubic")
    with pytest.raises(ValueError, match="envelope, spectrum"):
        Vtln(on="harmonics")


@pytest.mark.parametrize("shape", warp.NAMES)
def test_every_voice_allowed_moves_formants(shape: str) -> None:
    low, high = Vtln.amount.low, Vtln.amount.high
    for amount in (low, high):
        for direction in (-1, 1):
            stage = prepared(warp=shape, amount=amount, direction=direction)
            moved = np.asarray(stage._state[0].moved, float) * np.pi / 256
            assert np.all(np.diff(moved) > 0)
            factor = float(np.interp(FORMANT, vtln.GRID, moved)) / FORMANT
            assert max(factor, 1 / factor) > 1 + low - 1e-3
            assert (factor > 1) == (direction > 0)


def test_reset_is_fresh() -> None:
    x, stage = voice(1.0), prepared()
    first = run(stage, x)
    run(stage, noise(x.size))
    stage.reset()
    np.testing.assert_array_equal(run(stage, x), first)


def test_saved_and_restored() -> None:
    x, stage, other = voice(1.0), prepared(amount=(0.2, 0.3), on="spectrum", warp="bilinear"), prepared()
    other.restore(json.loads(json.dumps(stage.save())))
    other.reset()
    np.testing.assert_array_equal(run(other, x), run(stage, x))
    assert other.amount == (0.2, 0.3)


def test_a_change_glides_and_is_there_after_two_hops() -> None:
    x, stage = voice(1.0), prepared(amount=0.2, direction=1)
    y = np.empty_like(x)
    for k in range(0, x.size, HOP):
        if k == 50 * HOP:
            stage.amount, stage.direction = 0.3, -1
        stage.step(x[k : k + HOP], y[k : k + HOP])
    y = y[stage.latency :]
    # frames that begin before a change or end after it reach 240 samples to each side
    np.testing.assert_allclose(y[: 50 * HOP - 240], offline(x, 1.2)[: 50 * HOP - 240], atol=1e-5)
    np.testing.assert_allclose(y[52 * HOP :], offline(x, 1 / 1.3)[52 * HOP : y.size], atol=1e-5)


def test_a_change_does_not_click() -> None:
    x = tone(16000, 440)
    stage, y = prepared(amount=0.2, direction=1), np.empty(16000, np.float32)
    for k in range(0, x.size, HOP):
        if k % (8 * HOP) == 0:
            stage.direction = -stage.direction
            stage.on = vtln.ON[k // (16 * HOP) % 2]
        stage.step(x[k : k + HOP], y[k : k + HOP])
    step = np.abs(np.diff(y))
    joins = np.arange(vtln.HOP - 1, step.size, vtln.HOP)
    assert step[joins].max() <= 1.5 * np.percentile(np.delete(step, joins), 99.9)


def test_changes_from_another_thread() -> None:
    x, stage = voice(2.0), prepared()

    def change() -> None:
        for k in range(100):
            stage.amount = 0.1 + 0.2 * (k % 2)

    thread = threading.Thread(target=change)
    thread.start()
    y = run(stage, x)
    thread.join()
    assert np.isfinite(y).all()
    assert np.abs(y).max() <= 2 * np.abs(x).max()
    run(stage, noise(2 * HOP))
    np.testing.assert_allclose(stage._state[0].moved, stage._state[0].moved_target, atol=1e-4)


def test_step_and_reset_allocate_nothing() -> None:
    stage, x, y = prepared(), noise(HOP), np.empty(HOP, np.float32)
    stage.step(x, y)
    stage.reset()

    def run_on() -> None:
        for _ in range(5000):
            stage.step(x, y)

    assert net_growth(run_on) <= 256
    tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    stage.reset()
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert peak < 1000  # views and numbers, no array


def test_real_speech_is_changed_and_keeps_its_level(shared: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    with (shared / "speech" / "manifest.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == "dev"]
    by_speaker = {(row["source"], row["speaker"]): row for row in rows}
    assert len(by_speaker) > 40
    like: dict[str, list[float]] = {on: [] for on in vtln.ON}
    for row in by_speaker.values():
        x, rate = soundfile.read(shared / "speech" / row["path"], dtype="float32")
        assert rate == 16000
        x = x[: min(x.size, 6 * rate) // HOP * HOP]
        for on in vtln.ON:
            for direction in (-1, 1):
                y = run(prepared(amount=0.18, direction=direction, on=on), x)[vtln.LATENCY :]
                level = np.linalg.norm(y) / np.linalg.norm(x)
                assert abs(20 * np.log10(level)) < 3, row["path"]
                best = np.abs(correlate(y, np.pad(x, 800), "valid", "fft")).max()
                like[on].append(best / np.linalg.norm(x) / np.linalg.norm(y))
    assert np.median(like["envelope"]) < 0.85
    assert max(like["envelope"]) < 0.99
    assert max(like["spectrum"]) < 0.4

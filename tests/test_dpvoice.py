"""The neural anonymizer around its networks: graphs of a few nodes take their place, so that what comes out is known."""

from __future__ import annotations

import gc
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pytest
import tinygraphs
from onnx import numpy_helper
from signals import noise, partitions, tone, voice
from stages import run
from test_graphs import resident
from test_mechanism import hold_to, interval
from velavox import DpVoice, Engine
from velavox.engine import dpvoice
from velavox.engine.accountant import Calibration, eer_floor
from velavox.engine.batch import anonymize_folder
from velavox.engine.card import Format
from velavox.engine.dummy import DummyCard
from velavox.engine.failure import FileFailure
from velavox.engine.files import anonymize_file
from velavox.engine.graphs import GraphError
from velavox.engine.ledger import Ledger, OverBudgetError
from velavox.engine.live import Live
from velavox.engine.plan import PlanError
from velavox.kernels.jit import F32, F64
from velavox.models_onnx import manifest
from wavs import pcm16, wav

MODES = {"balanced": 1160, "low": 520}  # samples of delay
every_mode = pytest.mark.parametrize("mode", MODES)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the graphs are."""
    made = tmp_path / "graphs"
    made.mkdir()
    tinygraphs.chain(made)
    monkeypatch.setattr(dpvoice, "FOLDER", made)
    monkeypatch.setattr(manifest, "_loaded", WeakValueDictionary())  # of other tests
    return made


def write(path: Path, x: F32) -> Path:
    """At 16 kHz, shape (n,) or (n, channels)."""
    path.write_bytes(wav(pcm16(x), channels=x[0].size))
    return path


def prepared(**values: Any) -> DpVoice:
    stage = DpVoice(**values)
    stage.prepare()
    return stage


def through(x: F32, sizes: list[int] | None = None, **values: Any) -> F32:
    engine = Engine(DpVoice(**values), sample_rate=16_000, seed=1)
    cuts = list(np.cumsum(sizes)[:-1]) if sizes else []
    out = [engine.process(block) for block in np.split(x, cuts)] + [engine.flush()]
    assert engine.stats.muted == 0
    return np.concatenate(out)[engine.latency :]


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


# What goes wrong


@pytest.mark.parametrize("fault", ["nan", "raise"])
def test_a_fault_of_a_network_is_silence_and_over_when_it_is_over(folder: Path, fault: str) -> None:
    tinygraphs.chain(folder, fault)
    x = noise(32_000, 0.03)
    x[12_800:13_440] *= 30  # 40 ms
    engine = Engine(DpVoice(), sample_rate=16_000)
    y = engine.process(x)[319:]
    assert set(engine.stats.causes) == {"error"}
    assert engine.stats.muted in (1, 2)  # energy that is NaN is taken into account two frames later
    assert (y[13_120:13_440] == 0).all()
    assert np.std(y[25_600:]) > 0.005


def test_a_stage_whose_network_fails_leaves_silence_not_the_input(folder: Path) -> None:
    tinygraphs.chain(folder, "raise")
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


def damage(folder: Path, name: str, how: str) -> None:
    path = folder / f"{name}.onnx"
    graph = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "cut short":
        path.write_bytes(graph[:-7])
    elif how == "altered":
        path.write_bytes(graph[:-7] + bytes(7))
    else:  # whole, listed, and of another kind
        tinygraphs.save(tinygraphs.moving_sum(), folder, name)


@pytest.mark.parametrize("how", ["missing", "cut short", "altered", "foreign"])
@pytest.mark.parametrize("name", NAMES)
def test_graphs_that_are_not_ours_are_refused_in_a_line(folder: Path, name: str, how: str) -> None:
    damage(folder, name, how)
    with pytest.raises(GraphError, match=rf"^graph {name}: [^\n]+; install velavox again$"):
        Engine(DpVoice(), sample_rate=16_000)


def test_without_a_manifest_nothing_is_loaded(folder: Path) -> None:
    (folder / manifest.FILE).unlink()
    with pytest.raises(GraphError, match=r"manifest.json: missing"):
        prepared()


# The voice


def test_every_session_and_channel_has_a_voice_of_its_own() -> None:
    engines = [Engine(DpVoice(), sample_rate=16_000, channels=2) for _ in range(3)]
    vectors = np.array([list(lane.stages[0].voice.values()) for engine in engines for lane in engine._lanes])
    alike = vectors @ vectors.T / 16
    assert np.allclose(np.diag(alike), 1, atol=1e-5)
    assert alike[np.triu_indices(6, 1)].max() < 0.97
    before = vectors[0]
    engines[0].new_voice()
    assert before @ list(engines[0].stages[0].voice.values()) / 16 < 0.97


def test_every_file_has_a_voice_of_its_own(tmp_path: Path) -> None:
    source = write(tmp_path / "a.wav", voice(1.0))
    stage = DpVoice()
    sounds = []
    for k in range(2):
        anonymize_file(source, tmp_path / f"{k}.wav", stage.clone())
        sounds.append((tmp_path / f"{k}.wav").read_bytes())
    assert sounds[0] != sounds[1]


def test_every_process_has_a_voice_of_its_own() -> None:
    code = "from velavox import DpVoice; stage = DpVoice(); stage.new_voice(); print(stage.voice)"
    found = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout for _ in range(2)}
    assert len(found) == 2
    assert "" not in found


def test_a_seed_repeats_and_says_that_no_bound_holds() -> None:
    speaker = np.eye(256)[0]
    first, second = (Engine(DpVoice(enroll=speaker), sample_rate=16_000, channels=2, seed=5) for _ in range(2))
    assert first.save()["lanes"] == second.save()["lanes"]
    assert first.stages[0].voice != first._lanes[1].stages[0].voice
    assert "no bound holds" in first.stages[0].promise
    other = Engine(DpVoice(enroll=np.eye(256)[1]), sample_rate=16_000, seed=5)
    assert np.dot(list(first.stages[0].voice.values()), list(other.stages[0].voice.values())) / 16 < 0.97


def test_it_says_what_it_spent() -> None:
    assert "mu 0" in prepared().promise
    assert "mu 2 for this session" in prepared(enroll=np.eye(256)[0], calibration="paper").promise
    restored = prepared()
    restored.restore(prepared().save())
    assert (restored.release, restored.promise) == (None, "")


def ends() -> tuple[F32, F32, F64]:
    """Two embeddings that the shipped graph projects to opposite ends of its ball, and the line between them."""
    import onnx

    graph = onnx.load_from_string((Path(manifest.__file__).parent / "noise.onnx").read_bytes()).graph
    c = {x.name: numpy_helper.to_array(x) for x in graph.initializer}
    line = np.random.default_rng(3).normal(size=16)
    line /= np.linalg.norm(line)
    apart = 2 * float(c["radius"]) * line @ np.linalg.pinv(c["projection"])
    return (c["mean"] + apart).astype(np.float32), (c["mean"] - apart).astype(np.float32), line


def attack(calibration: Calibration, claimed: float, releases: int = 2500) -> float:
    """The best attacker on voices of two speakers as far apart as can be: the mu proven. AssertionError if it is more than
    `claimed`, or if fewer errors are made than that allows."""
    *speakers, line = ends()
    scores: list[F64] = []
    for speaker in speakers:
        stage = DpVoice(enroll=speaker, calibration=calibration)
        found = []
        for _ in range(releases):
            stage.new_voice()
            found.append(list(stage.voice.values()) @ line)
        scores.append(np.array(found))
    errors = int((scores[0] <= 0).sum() + (scores[1] > 0).sum())
    assert interval(errors, 2 * releases)[1] >= eer_floor(claimed), "fewer errors than allowed"
    levels = np.quantile(scores[0], [0.1, 0.3, 0.5, 0.7, 0.9])
    return hold_to(claimed, scores[0], scores[1], np.concatenate([levels, -levels, [0]]))


def test_the_best_attacker_on_voices_stays_within_mu() -> None:
    assert 0.7 < attack("sound", claimed=1) <= 1


def test_the_same_attack_catches_the_papers_calibration() -> None:
    with pytest.raises(AssertionError, match=r"fewer errors|TPR of"):
        attack("paper", claimed=1)


def test_the_ledger_counts_before_the_voice_is_there(tmp_path: Path) -> None:
    file = tmp_path / "ledger.json"
    values: dict[str, Any] = {"enroll": np.eye(256)[0], "ledger": str(file), "speaker": "ada", "budget": 1.5}
    stage = prepared(**values)
    stage.new_voice()
    assert Ledger(file).total("ada").total == pytest.approx(math.sqrt(2))
    before = stage.voice
    with pytest.raises(OverBudgetError, match=r"past the budget of 1.5"):
        stage.new_voice()
    assert stage.voice == before
    with pytest.raises(ValueError, match="ledger: with a seed"):
        Engine(DpVoice(**values), sample_rate=16_000, seed=1)
    prepared(**values | {"enroll": None})  # tells nothing: no account
    assert Ledger(file).total("ada").releases == 2


@pytest.mark.parametrize("enroll", [np.eye(256)[3], "recording", "sound"], ids=["embedding", "path", "sound"])
def test_the_embedding_is_never_saved(tmp_path: Path, enroll: Any) -> None:
    if isinstance(enroll, str):
        enroll = write(tmp_path / "ada.wav", voice(3.0)) if enroll == "recording" else voice(3.0)
    stage = prepared(enroll=enroll, mu=100.0)
    saved = json.loads(json.dumps(stage.save()))
    assert saved.keys() == {"version", "method", "values", "voice"}
    assert stage.release is not None
    assert list(saved["voice"].values()) == stage.release.vector.tolist()
    assert all(isinstance(value, (str, float)) for value in saved["values"].values())
    other = stage.clone()
    other.prepare()
    assert np.dot(list(stage.voice.values()), list(other.voice.values())) / 16 > 0.9  # at this mu nothing is hidden


@pytest.mark.parametrize(
    ("voice", "what"),
    [
        ({}, "16 numbers"),
        ({f"private{i}": 0.0 for i in range(16)}, "norm 4"),
        ({f"p{i}": 1.0 for i in range(16)}, "16 numbers"),
    ],
)
def test_voices_that_no_draw_gives_are_refused(voice: dict[str, float], what: str) -> None:
    stage = prepared()
    with pytest.raises(ValueError, match=what):
        stage.restore({**stage.save(), "voice": voice})


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


# Files


def test_a_recording_enrols_itself_each_channel_for_its_own(tmp_path: Path) -> None:
    low, high = voice(3.0, 90), voice(3.0, 220, seed=4)
    write(tmp_path / "two.wav", np.stack([low, high], 1))
    write(tmp_path / "silent.wav", np.zeros(32_000, np.float32))
    heard = [Engine(DpVoice(enroll="self", mu=100.0), sample_rate=16_000, channels=2, recording=tmp_path / "two.wav")._lanes]
    for lanes in heard:
        voices = [np.array(list(lane.stages[0].voice.values())) for lane in lanes]
        for x, found in zip((low, high), voices, strict=True):
            alone = np.array(list(prepared(enroll=x, mu=100.0).voice.values()))
            assert alone @ found / 16 > 0.98
    report = anonymize_file(tmp_path / "two.wav", tmp_path / "out.wav", DpVoice(enroll="self"))
    assert (report.frames, report.muted) == (48_000, 0)
    with pytest.raises(FileFailure, match=r"less than 0.5 s of speech"):
        anonymize_file(tmp_path / "silent.wav", tmp_path / "out2.wav", DpVoice(enroll="self"))
    assert not (tmp_path / "out2.wav").exists()


def test_files_of_a_speaker_that_enrol_themselves_cannot_share_a_voice(tmp_path: Path) -> None:
    write(tmp_path / "a.wav", voice(2.0))
    with pytest.raises(PlanError, match="enroll=self gives every file a voice of its own"):
        anonymize_folder(tmp_path, tmp_path / "out", "dp", settings={"enroll": "self"}, voices="per-speaker")


def test_a_file_fails_in_a_line_where_graph_or_budget_does(tmp_path: Path, folder: Path) -> None:
    source, out = write(tmp_path / "a.wav", voice(2.0)), tmp_path / "out.wav"
    stage = DpVoice(enroll=np.eye(256)[0], ledger=tmp_path / "ledger.json", budget=0.5, mode="low")
    with pytest.raises(FileFailure, match=r"past the budget of 0.5: give a smaller mu"):
        anonymize_file(source, out, stage)
    damage(folder, "decoder", "altered")
    with pytest.raises(FileFailure, match=r"graph decoder: file damaged[^\n]*: install velavox again"):
        anonymize_file(source, out, DpVoice())
    assert not out.exists()


def test_a_device_that_comes_back_costs_no_release(tmp_path: Path) -> None:
    """At another rate `Live` makes another engine, which goes on with the voice that was there."""
    file = tmp_path / "ledger.json"
    stage = DpVoice(enroll=np.eye(256)[0], ledger=file)
    live = Live(stage, card=DummyCard())
    first = live._engine_for(Format(16_000, 16_000, 160, 160, 1, 1, True))
    second = live._engine_for(Format(48_000, 48_000, 480, 480, 1, 1, True))
    assert second is not first
    assert second.stages[0].voice == first.stages[0].voice
    assert Ledger(file).total("speaker").releases == 1

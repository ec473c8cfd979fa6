"""The step graphs of encoder and decoder: step by step what the network says at once, nothing from later, in either kind."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from velavox.engine.content.phones import STATES
from velavox.engine.graphs import Model, Stream
from velavox.kernels import channel
from velavox.kernels.jit import F32
from velavox.models_onnx import manifest
from velavox.models_onnx.training import checkpoint, export_decoder, export_encoder, publish, student
from velavox.models_onnx.training import decoder as decoders
from velavox.models_onnx.training import encoder as encoders
from velavox.models_onnx.training.corpora import write_index
from velavox.models_onnx.training.decoder import CLASSES, Decoder
from velavox.models_onnx.training.errors import TrainingError
from velavox.models_onnx.training.journal import Journal
from velavox.models_onnx.training.smoke import clips
from velavox.models_onnx.training.student import BANDS, LATE, PAIR, SOON, Shape, Student
from velavox.models_onnx.training.whiten import DIMENSIONS

torch.set_num_threads(1)

SHAPE = Shape(width=48, hidden=64, taps=4, dilations=(1, 2, 3))
FRAMES = 120
LATES = [LATE, SOON]

Sound = dict[str, F32]


@cache
def listening() -> Student:
    torch.manual_seed(0)
    made = Student(SHAPE).eval()
    made.scale.copy_(torch.rand(BANDS) + 0.5)
    for head in (made.states, made.phones, made.pitch):
        head.weight.data *= 8  # as sure as a trained one
    made.pitch.bias.data[::81] += 6  # of "unvoiced"
    return made


@cache
def speaking(late: int) -> Decoder:
    torch.manual_seed(1)
    made = Decoder(decoders.Shape(late, width=40, hidden=48, taps=4, dilations=(1, 2, 3), voice=8)).eval()
    made.film.weight.data.normal_(0, 0.3)
    made.traits.weight.data.normal_(0, 0.2)
    made.traits.bias.data[0] = 5.0
    return made


def features(seed: int = 0) -> F32:
    return (2 * np.random.default_rng(seed).normal(size=(FRAMES, BANDS)) + 1).astype(np.float32)


def sound(seed: int = 0) -> Sound:
    """What an encoder gets."""
    mel = features(seed)
    return {"mel": mel, "mean": channel.offline(mel)}


def heard(late: int, seed: int = 0) -> Sound:
    """What a decoder gets: content of three classes a frame, prosody, and a voice that stays."""
    random = np.random.default_rng(seed)
    content = np.zeros((FRAMES, CLASSES[late]), np.float32)
    content[np.arange(FRAMES)[:, None], random.integers(0, CLASSES[late], (FRAMES, 3))] = random.uniform(0, 1, (FRAMES, 3))
    voice = np.tile(np.random.default_rng(9).normal(size=(1, DIMENSIONS)), (FRAMES // PAIR, 1)).repeat(PAIR, 0)
    return {
        "content": content,
        "prosody": random.normal(size=(FRAMES, 3)).astype(np.float32),
        "voice": voice.astype(np.float32),
    }


def stepped(stream: Stream, given: Sound) -> Sound:
    """All frames of `given` through a stream, a pair a step."""
    found: dict[str, list[F32]] = {name: [] for name in stream.outputs}
    for start in range(0, FRAMES, PAIR):
        for name, x in given.items():
            stream.inputs[name][0] = x[start] if name == "voice" else x[start : start + PAIR]
        stream.step()
        for name, y in stream.outputs.items():
            found[name].append(y[0].copy())
    return {name: np.concatenate(parts) for name, parts in found.items()}


def listener(int8: bool = False) -> Stream:
    return Stream(Model(export_encoder.graph(listening(), int8=int8).SerializeToString(), "encoder"))


def speaker(late: int, int8: bool = False) -> Stream:
    return Stream(Model(export_decoder.graph(speaking(late), int8=int8).SerializeToString(), "decoder"))


def spoken_at_once(late: int, given: Sound) -> Sound:
    net = speaking(late)
    content, prosody, voice = (torch.from_numpy(given[name])[None] for name in ("content", "prosody", "voice"))
    with torch.no_grad():
        said, _ = net(content, prosody, voice[:, 0], net.fresh(1))
    return {"f0": array(said.f0()), "envelope": array(said.envelope), "noise": array(said.noise.sigmoid())}


def heard_at_once(mel: F32) -> Sound:
    with torch.no_grad():
        said = encoders.encode(listening(), torch.from_numpy(mel)[None])
    return {name: array(x) for name, x in said._asdict().items()}


def array(x: Tensor) -> F32:
    return np.asarray(x[0].numpy())


def test_the_encoder_says_step_by_step_what_it_says_at_once() -> None:
    expected, found = heard_at_once(features()), stepped(listener(), sound())
    assert expected.keys() == found.keys()
    for name, x in expected.items():
        np.testing.assert_allclose(found[name], x, atol=1e-4, err_msg=name)
    assert np.ptp(expected["pitch"]) > 1
    assert np.ptp(expected["voicing"]) > 0.2


@pytest.mark.parametrize("late", LATES)
def test_a_decoder_says_step_by_step_what_it_says_at_once(late: int) -> None:
    given = heard(late)
    expected, found = spoken_at_once(late, given), stepped(speaker(late), given)
    assert expected.keys() == found.keys()
    for name, x in expected.items():
        np.testing.assert_allclose(found[name], x, rtol=1e-5, atol=1e-4, err_msg=name)
    assert 0.1 < np.mean(expected["f0"] > 0) < 0.9


@pytest.mark.parametrize("int8", [False, True])
def test_what_comes_later_changes_nothing_earlier(int8: bool) -> None:
    cut = FRAMES // 2
    for stream, one, other in (
        (listener(int8), sound(), sound(5)),
        (speaker(LATE, int8), heard(LATE), heard(LATE, 5)),
    ):
        mixed = {name: np.concatenate((x[:cut], other[name][cut:])) for name, x in one.items()}
        first = stepped(stream, one)
        stream.reset()
        for name, y in stepped(stream, mixed).items():
            assert np.array_equal(y[:cut], first[name][:cut]), name
            assert not np.array_equal(y[cut:], first[name][cut:]), name


@pytest.mark.parametrize("int8", [False, True])
def test_a_stream_after_reset_is_as_fresh(int8: bool) -> None:
    stream, given = speaker(SOON, int8), heard(SOON)
    first = stepped(stream, given)
    stepped(stream, heard(SOON, 3))
    stream.reset()
    again, fresh = stepped(stream, given), stepped(speaker(SOON, int8), given)
    for name, y in first.items():
        assert np.array_equal(again[name], y)
        assert np.array_equal(fresh[name], y)


def test_no_more_than_three_classes_of_each_kind_in_eight_levels() -> None:
    content = stepped(listener(), sound())["content"]
    for kind in np.split(content, [STATES], axis=1):
        assert (kind > 0).sum(1).max() == 3
        assert np.allclose(kind * 7, np.rint(kind * 7), atol=1e-5)
        assert kind.sum(1).max() <= 1 + 3 / 14 + 1e-6


def test_int8_says_nearly_the_same() -> None:
    given = heard(LATE)
    exact, rough = stepped(listener(), sound()), stepped(listener(True), sound())
    assert np.array_equal(exact["energy"], rough["energy"])  # never in int8
    assert np.mean(exact["content"].argmax(1) == rough["content"].argmax(1)) > 0.9
    assert np.abs(exact["voicing"] - rough["voicing"]).mean() < 0.02
    plain, coarse = stepped(speaker(LATE), given), stepped(speaker(LATE, True), given)
    assert np.abs(plain["envelope"] - coarse["envelope"]).max() < 0.2
    assert np.abs(plain["noise"] - coarse["noise"]).max() < 0.05


def test_int8_is_a_quarter_of_the_size_and_one_node_a_layer(tmp_path: Path) -> None:
    graphs = {int8: export_encoder.graph(listening(), int8=int8) for int8 in (False, True)}
    sizes = {int8: sum(len(c.raw_data) for c in made.graph.initializer if len(c.dims) == 2) for int8, made in graphs.items()}
    assert sizes[True] < 0.5 * sizes[False]
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    options.log_severity_level = 4
    onnxruntime.InferenceSession(graphs[True].SerializeToString(), options)
    import onnx

    kinds = [node.op_type for node in onnx.load(tmp_path / "optimized.onnx").graph.node]
    layers = 2 * len(SHAPE.dilations) + 2
    assert kinds.count("DynamicQuantizeMatMul") == layers
    assert "MatMulInteger" not in kinds


def test_seven_bits_never_overflow_what_old_machines_add_up() -> None:
    """Their instruction adds two products of 8 bits to 16 bits, and stops at the largest number."""
    made = export_encoder.graph(listening(), int8=True).graph
    weights = [np.frombuffer(c.raw_data, np.int8) for c in made.initializer if c.data_type == 3]
    assert len(weights) == 2 * len(SHAPE.dilations) + 2
    assert max(int(np.abs(w).max()) for w in weights) == 63
    assert 2 * 63 * 255 < 2**15


def test_checkpoints_become_graphs_with_entries(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "student.pt", listening(), step=7)
    export_encoder.export_encoder(tmp_path / "student.pt", tmp_path, "nothing")
    for late in LATES:
        checkpoint.save(tmp_path / "decoder.pt", speaking(late), step=8)
        export_decoder.export_decoder(tmp_path / "decoder.pt", tmp_path, "nothing")
    entries = manifest.read(tmp_path)
    assert list(entries) == ["decoder", "decoder_low", "encoder"]
    for name, entry in entries.items():
        assert (entry.sample_rate, entry.hop) == (16_000, 320)
        assert entry.look_ahead == 160 * (SOON if name == "decoder_low" else LATE)
        Stream(manifest.load(name, tmp_path))
    before = (tmp_path / "encoder.onnx").read_bytes()
    export_encoder.export_encoder(tmp_path / "student.pt", tmp_path, "nothing")
    assert (tmp_path / "encoder.onnx").read_bytes() == before


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A working folder with checkpoints, untrained."""
    for folder in ("student", "decoder", "decoder_low"):
        (tmp_path / folder).mkdir()
    write_index(tmp_path / "index.csv", clips())
    checkpoint.save(tmp_path / "student" / "best.pt", listening(), step=7)
    for late, name in export_decoder.NAMES.items():
        checkpoint.save(tmp_path / name / "best.pt", speaking(late), step=8)
    return tmp_path


NAMES = ["encoder", "decoder", "decoder_low"]


def test_all_of_a_folder_is_exported_and_checked(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    into = work / "graphs"
    into.mkdir()
    publish.publish(work, into, NAMES, None, Journal(work))
    told = (work / "log.txt").read_text()
    assert list(manifest.read(into)) == sorted(NAMES)
    assert told.count("step by step within") == 3
    assert told.splitlines()[-1].endswith("MB in all")
    assert manifest.read(into)["encoder"].source.endswith("step 7, on clips")
    monkeypatch.setattr(publish, "LARGEST", 1e5)
    with pytest.raises(TrainingError, match=r"graphs of [0-9.]+ MB together"):
        publish.check(into)


def test_a_graph_that_is_not_the_networks_is_not_let_through(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = export_decoder.graph(speaking(LATE), int8=False)
    monkeypatch.setattr(export_decoder, "graph", lambda decoder, *, int8: made)
    speaking(LATE).entry.bias.data += 0.1
    checkpoint.save(work / "decoder" / "best.pt", speaking(LATE), step=9)
    speaking(LATE).entry.bias.data -= 0.1
    with pytest.raises(TrainingError, match="decoder: its step graph differs from the network"):
        publish.publish(work, work, ["decoder"], None, Journal(work))


def test_an_encoder_that_int8_changes_is_not_let_through(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "MOST_OFF", 0.0)
    with pytest.raises(TrainingError, match="in int8 its content is"):
        publish.publish(work, work, ["encoder"], None, Journal(work))


@pytest.mark.parametrize(("name", "what"), [("speaker", "give --resemblyzer"), ("voice", "give one of speaker, noise")])
def test_what_cannot_be_exported_is_refused(work: Path, name: str, what: str) -> None:
    with pytest.raises(TrainingError, match=what):
        publish.publish(work, work, [name], None, Journal(work))


def test_pitch_is_a_mean_near_the_likeliest_class() -> None:
    """Two peaks an octave apart: the value is the larger one's, not between them."""
    from velavox.models_onnx.training.pitch import PITCHES, STEP

    octave = round(np.log(2) / STEP)
    logits = torch.full((1, 3, 1 + PITCHES), -9.0)
    logits[0, :, 20], logits[0, :, 20 + octave] = 5.0, 4.9
    logits[0, 1, 21] = 5.0  # half-way to the next
    logits[0, 2, 0] = 20.0  # unvoiced: the pitch is there all the same
    outputs = student.Outputs(torch.zeros(1, 3, 4), torch.zeros(1, 3, 4), logits)
    said = encoders.encoded(outputs, torch.zeros(1, 3, BANDS))
    expected = encoders.log_hertz()[20] + STEP * torch.tensor([0, 0.5, 0])
    assert torch.allclose(said.pitch[0], expected.float(), atol=1e-3)
    assert said.voicing[0, 0] > 0.99
    assert said.voicing[0, 2] < 0.01
    assert torch.allclose(said.energy, torch.zeros(1, 3))
    assert all(b > a for a, b in pairwise(encoders.log_hertz()[1:].tolist()))

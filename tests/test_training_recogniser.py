"""The recogniser's network, what it is asked for, its training, its step graph, and what is counted in transcripts."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from needs import lacking
from torch import Tensor
from trainingdata import pack
from velavox.engine.content import phones
from velavox.engine.content.phones import IGNORED, NUMBER, PHONES, STATES
from velavox.engine.failure import Unusable
from velavox.engine.graphs import Model, Stream
from velavox.models_onnx import manifest
from velavox.models_onnx.training import checkpoint, loop, publish, recogniser_export, recogniser_phonotactics
from velavox.models_onnx.training.batches import Batch, Sampler
from velavox.models_onnx.training.corpora import write_index
from velavox.models_onnx.training.errors import TrainingError
from velavox.models_onnx.training.journal import Journal
from velavox.models_onnx.training.loop import Plan
from velavox.models_onnx.training.packs import Pack
from velavox.models_onnx.training.recogniser import BANDS, CHUNK, LATE, PAST, ROW, UNITS, Outputs, Recogniser, Shape, load
from velavox.models_onnx.training.recogniser_fit import fit, loss_of
from velavox.models_onnx.training.recogniser_score import Read, found_words, greedy, phone_errors, told
from velavox.models_onnx.training.recogniser_units import asked, spoken
from velavox.models_onnx.training.smoke import clips

torch.set_num_threads(1)

SHAPE = Shape(width=24, channels=4)


@cache
def made() -> Recogniser:
    torch.manual_seed(0)
    made = Recogniser(SHAPE).eval()
    made.scale.copy_(torch.rand(BANDS) + 0.5)
    made.units.weight.data *= 8  # as sure as a trained one
    return made


def speech(frames: int, batch: int = 2) -> Tensor:
    return torch.randn(batch, frames, BANDS, generator=torch.Generator().manual_seed(1))


def said(mel: Tensor) -> Tensor:
    with torch.no_grad():
        return made()(mel, made().fresh(len(mel)))[0].units  # type: ignore[no-any-return]


@pytest.mark.parametrize("rows", [1, 3, 10])
def test_step_by_step_is_as_at_once(rows: int) -> None:
    mel, memory, parts = speech(120), made().fresh(2), []
    with torch.no_grad():
        for start in range(0, 120, ROW * rows):
            outputs, memory = made()(mel[:, start : start + ROW * rows], memory)
            parts.append(outputs.units)
    assert torch.allclose(torch.cat(parts, 1), said(mel), atol=1e-5)


def test_a_row_hears_its_chunk_and_what_was_before_it_alone() -> None:
    """Equation 5: of seven frames comes a row; the four that follow change nothing in it."""
    mel = speech(80)
    whole = said(mel)
    assert whole.shape == (2, 20, UNITS)
    assert (CHUNK - 3) // 2 + 1 == 3 == PAST
    for row in (0, 7, 18):
        other = mel.clone()
        other[:, ROW * (row + 1) :] = 1e3
        assert torch.allclose(said(other)[:, : row + 1], whole[:, : row + 1], atol=1e-5)
        assert not torch.allclose(said(other)[:, row + 1], whole[:, row + 1])
        other = mel.clone()
        other[:, ROW * row + ROW - CHUNK if row else 0] += 1
        assert not torch.allclose(said(other)[:, row], whole[:, row])


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "r.pt", made(), step=3)
    loaded, saved = load(tmp_path / "r.pt")
    assert saved["step"] == 3
    with torch.no_grad():
        assert torch.equal(loaded(speech(40), loaded.fresh(2))[0].units, said(speech(40)))


def states_of(*named: tuple[str, int]) -> np.ndarray:
    """States of phones with so many frames each."""
    found: list[int] = []
    for phone, frames in named:
        found += [phones.state(NUMBER[phone], 3 * n // frames) for n in range(frames)]
    return np.array(found, np.uint8)


def test_phones_are_those_of_the_states() -> None:
    found = spoken(states_of(("SIL", 5), ("B", 6), ("AA", 9), ("AA", 6), ("SIL", 4), ("T", 3)))
    assert [PHONES[n] for n in found.phone] == ["B", "AA", "AA", "T"]
    assert found.start.tolist() == [5, 11, 20, 30]
    assert found.end.tolist() == [11, 20, 26, 33]
    assert len(spoken(np.full(9, IGNORED, np.uint8)).phone) == 0


def test_a_phone_may_be_said_while_it_is_heard_and_a_little_later() -> None:
    state = states_of(("SIL", 8), ("B", 6), ("SIL", 26), ("AA", 8))
    wanted, allowed = asked(state)
    assert [PHONES[n] for n in wanted] == ["B"], "of the other there is no end"
    assert allowed.shape == (12, UNITS)
    assert allowed[:, 0].all()
    rows = np.flatnonzero(allowed[:, NUMBER["B"]])
    heard = ROW * rows + ROW - 1  # the newest frame of each
    assert heard.min() in range(8, 8 + 2 + ROW)
    assert heard.max() in range(14 + LATE - ROW, 14 + LATE)
    assert not allowed[:, NUMBER["AA"]].any()


def batch_of(state: np.ndarray) -> Batch:
    frames = torch.from_numpy(state.astype(np.int64))[None]
    return Batch(torch.zeros(1, frames.shape[1], BANDS), frames, torch.full_like(frames, IGNORED))


def outputs_saying(rows: dict[int, str], count: int, state: np.ndarray) -> Any:
    """Of one who is sure of these phones in these rows, and knows all states in time."""
    units, states = torch.zeros(1, count, UNITS), torch.zeros(1, count, STATES)
    for row in range(count):
        units[0, row, NUMBER[rows[row]] if row in rows else 0] = 30.0
        states[0, row, int(state[max(0, ROW * row + ROW - 1 - LATE)])] = 30.0
    return Outputs(units, states)


def test_the_loss_is_least_for_who_says_each_phone_once_and_in_time() -> None:
    state = states_of(("SIL", 12), ("B", 8), ("AA", 12), ("SIL", 32))
    batch = batch_of(state)
    assert loss_of(outputs_saying({5: "B", 8: "AA"}, 16, state), batch) < 0.02
    for rows in ({}, {5: "B"}, {8: "B", 5: "AA"}, {5: "B", 8: "AE"}, {5: "B", 8: "AA", 10: "T"}):
        assert loss_of(outputs_saying(rows, 16, state), batch) > 5
    for rows in ({1: "B", 8: "AA"}, {5: "B", 14: "AA"}):  # right, and not when it is said
        assert loss_of(outputs_saying(rows, 16, state), batch) > 5
    moved = outputs_saying({5: "B", 8: "AA"}, 16, np.roll(state, -LATE))
    assert loss_of(moved, batch) > 1


def test_phones_faster_than_rows_have_a_finite_loss() -> None:
    state = states_of(*[(phone, 3) for phone in ("B", "AA", "T", "S", "T", "AH", "N", "D")] * 3, ("SIL", 40))
    assert math.isfinite(loss_of(outputs_saying({}, len(state) // ROW, state), batch_of(state[: len(state) // ROW * ROW])))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pack, Pack]:
    folder = tmp_path_factory.mktemp("packs")
    return pack(folder / "train", [160] * 6, states=13), pack(folder / "dev", [80, 60], seed=1, states=13)


def run(folder: Path, data: tuple[Pack, Pack], plan: Plan) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    fit(folder, plan, SHAPE, Sampler([(1.0, [data[0]])], 48, 4, seed=0), [("dev", data[1])], Journal(folder))
    return load(folder / "last.pt")[1]


def test_it_learns_phones_of_rows_that_it_has_not_heard(tmp_path: Path, data: tuple[Pack, Pack]) -> None:
    run(tmp_path, data, Plan(150, rate=2e-2, validate_every=50))
    best, saved = load(tmp_path / "best.pt")
    errors = phone_errors(best, data[1])
    assert errors.phones > 10
    assert errors.rate < 0.5
    assert -errors.rate == pytest.approx(saved["dev"], abs=1e-6)


def test_a_longer_plan_goes_on_where_a_shorter_one_ended(
    tmp_path: Path, data: tuple[Pack, Pack], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "_FALL", 1e-9)  # the rate does not fall: then both are one training
    longer = run(tmp_path / "whole", data, Plan(6))
    run(tmp_path / "parts", data, Plan(3))
    assert all(
        torch.equal(value, longer["weights"][name]) for name, value in run(tmp_path / "parts", data, Plan(6))["weights"].items()
    )


def test_repetitions_are_one_phone_and_blanks_none() -> None:
    logits = torch.nn.functional.one_hot(torch.tensor([0, 3, 3, 0, 3, 5, 5, 0]), UNITS)
    assert greedy(logits) == [3, 3, 5]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    write_index(tmp_path / "index.csv", clips())
    (tmp_path / "recogniser").mkdir()
    checkpoint.save(tmp_path / "recogniser" / "best.pt", made(), step=7)
    (tmp_path / "labels").mkdir()
    row = '{"utterance": "%s", "segments": [["SIL", 0, 1, 2, 3], ["B", 3, 4, 5, 6], ["AA", 6, 7, 8, 9]]}\n'
    (tmp_path / "labels" / "index.jsonl").write_text("".join(row % u.utterance for u in clips()))
    return tmp_path


def test_the_step_graph_is_the_network(work: Path) -> None:
    """On three clips, in float32 to 1e-4; `publish` holds the shipped one to it, too."""
    publish.publish(work, work, ["recogniser", "phonotactics"], None, Journal(work))
    assert "recogniser: step by step within" in (work / "log.txt").read_text()
    entry = manifest.read(work)["recogniser"]
    assert (entry.hop, entry.look_ahead, entry.licence) == (640, LATE * 160, "Apache-2.0")
    assert entry.source.endswith("step 7, on clips")


def test_another_graph_is_not_let_through(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = recogniser_export.graph

    def wrong(net: Recogniser, *, int8: bool) -> Any:
        moved = load(work / "recogniser" / "best.pt")[0]
        moved.units.bias.data[0] += 0.1
        return right(moved, int8=int8)

    monkeypatch.setattr(recogniser_export, "graph", wrong)
    with pytest.raises(TrainingError, match="recogniser: its step graph differs"):
        publish.publish(work, work, ["recogniser"], None, Journal(work))


def test_one_that_int8_changes_is_not_let_through(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "MOST_MOVED", 0.0)
    with pytest.raises(TrainingError, match="in int8 its likelihoods are"):
        publish.publish(work, work, ["recogniser"], None, Journal(work))


def test_the_step_graph_goes_on_where_it_was_and_forgets_at_a_reset() -> None:
    graph = recogniser_export.graph(made(), int8=False).SerializeToString()
    stream = Stream(Model(graph, "recogniser"))
    mel = speech(16, 1)[0].numpy()

    def stepped() -> np.ndarray:
        found = []
        for start in range(0, 16, ROW):
            stream.inputs["mel"][0], stream.inputs["mean"][0] = mel[start : start + ROW], 0
            stream.step()
            found.append(stream.outputs["likely"][0].copy())
        return np.stack(found)

    first = stepped()
    np.testing.assert_allclose(first, said(torch.from_numpy(mel)[None])[0].log_softmax(-1).numpy(), atol=1e-4)
    assert not np.allclose(stepped(), first)
    stream.reset()
    np.testing.assert_array_equal(stepped(), first)


def test_phonotactics_are_probabilities_that_know_what_they_have_counted() -> None:
    spoken = [[3, 4, 5], [3, 4, 6], [3, 4, 5]]
    table = recogniser_phonotactics.fitted(spoken)
    np.testing.assert_allclose(table.sum(-1), 1)
    assert (table > 0).all()
    assert table[3, 4, 5] > table[3, 4, 6] > table[3, 4, 7]
    assert table[0, 0, 3] > 0.5
    assert table[4, 6, recogniser_phonotactics.EDGE] > 0.3
    assert recogniser_phonotactics.perplexity(table, spoken) < 3 < recogniser_phonotactics.perplexity(table, [[9, 8, 7]])


def test_the_graph_of_phonotactics_is_the_table() -> None:
    table = recogniser_phonotactics.fitted([[3, 4, 5], [7, 7, 1]])
    loaded = Model(recogniser_phonotactics.graph(table).SerializeToString(), "phonotactics")
    history = np.array([[0, 0], [3, 4], [51, 7]])
    likely = loaded.run({"history": history})["likely"]
    np.testing.assert_allclose(likely, np.log(table[history[:, 0], history[:, 1]]), rtol=1e-3, atol=1e-3)


def test_rates_are_told_with_their_interval() -> None:
    assert told([Read("a", 10, 4, 2), Read("b", 30, 8, 6)]) == (
        "PER 0.200 [0.200, 0.200], of the likeliest path 0.300; 40 phones, 2 speakers"
    )


def test_words_that_detectors_find_are_counted() -> None:
    """Whether the recording says it or not: in the clip of this reader is "assume" said."""
    clip = next(u for u in clips() if u.utterance == "27-123349-0009")
    recordings = [replace(clip, transcript=word) for word in ("assume", "california", "assume")]
    try:
        found = found_words(recordings, ["stream"], "en")
    except Unusable as error:
        lacking(str(error))
    assert found == "stream finds 2 of 3, and 1 that are not said"

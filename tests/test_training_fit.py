"""The student's training: what its loss asks for, that it learns, and that a stopped run goes on as if it had not been."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from trainingdata import pack
from velavox.engine.content import phones
from velavox.engine.content.phones import IGNORED, STATES
from velavox.models_onnx.training import loop, pitch
from velavox.models_onnx.training.batches import Batch, Sampler
from velavox.models_onnx.training.fit import fit, loss_of
from velavox.models_onnx.training.journal import Journal
from velavox.models_onnx.training.loop import Plan
from velavox.models_onnx.training.packs import Pack
from velavox.models_onnx.training.student import BANDS, LATE, SOON, Outputs, Shape, load

torch.set_num_threads(1)

SHAPE = Shape(width=16, hidden=24, taps=4, dilations=(1, 1), dropout=0.2)


class StoppedError(Exception):
    pass


class Stopping(Sampler):
    """Stops before a step."""

    stop = -1

    def __call__(self, number: int) -> Batch:
        if number == self.stop:
            raise StoppedError
        return super().__call__(number)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pack, Pack]:
    folder = tmp_path_factory.mktemp("packs")
    return pack(folder / "train", [120] * 6, states=13), pack(folder / "dev", [80, 60], seed=1, states=13)


def run(folder: Path, data: tuple[Pack, Pack], plan: Plan, stop: int = -1) -> dict[str, Any]:
    """The last checkpoint of a training in `folder`, maybe stopped before a step."""
    sampler = Stopping([(1.0, [data[0]])], 32, 4, seed=0)
    sampler.stop = stop
    folder.mkdir(exist_ok=True)
    try:
        fit(folder, plan, SHAPE, sampler, [("dev", data[1])], Journal(folder))
    except StoppedError:
        assert stop >= 0
    return load(folder / "last.pt")[1]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return torch.equal(one, other) if isinstance(one, torch.Tensor) else bool(one == other)


def test_a_resumed_run_ends_as_one_that_was_not_stopped(
    tmp_path: Path, data: tuple[Pack, Pack], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit: weights, averages, the optimizer's state, and the best one on the way."""
    monkeypatch.setattr(loop, "_SAVE_EVERY", 0.0)
    plan = Plan(8, validate_every=3)
    whole = run(tmp_path / "whole", data, plan)
    assert run(tmp_path / "stopped", data, plan, stop=5)["step"] == 5
    assert same(run(tmp_path / "stopped", data, plan), whole)
    assert same(*(load(tmp_path / name / "best.pt")[1] for name in ("stopped", "whole")))


def test_it_learns(tmp_path: Path, data: tuple[Pack, Pack]) -> None:
    """Spectra of states that it has heard, in rows that it has not; the best one is kept."""
    run(tmp_path, data, Plan(200, rate=2e-2, validate_every=50))
    lines = (tmp_path / "log.txt").read_text()
    losses = [float(loss) for loss in re.findall(r"loss ([\d.]+)", lines)]
    assert losses[-1] < 0.5 * losses[0]
    best = load(tmp_path / "best.pt")[1]["dev"]
    assert best > 0.6
    assert best == pytest.approx(max(float(found) for found in re.findall(r"dev late ([\d.]+)", lines)), abs=1e-3)


def test_the_normalization_is_of_what_is_heard(tmp_path: Path, data: tuple[Pack, Pack]) -> None:
    weights = run(tmp_path, data, Plan(1))["weights"]
    sampler = Sampler([(1.0, [data[0]])], 32, 40, seed=5)
    features = sampler(0).features.flatten(0, 1) * weights["scale"]
    assert features.std(0).log().abs().max() < 0.4


def perfect(batch: Batch) -> Outputs:
    """Logits of one who knows all, as late as it may say so."""
    frames = batch.state.shape[1]
    of_state = torch.from_numpy(phones.phone_of_state())
    outputs = [torch.zeros(len(batch.state), frames, n) for n in (STATES, len(phones.PHONES), 1 + pitch.PITCHES)]
    known = batch.state.clamp(max=STATES - 1)
    for logits, target, delay in zip(outputs, (known, of_state[known], batch.pitch % IGNORED), (LATE, SOON, SOON), strict=True):
        logits[:, delay:].scatter_(-1, target[:, : frames - delay, None], 30.0)
    return Outputs(*outputs)


def batch_of(state: torch.Tensor, tone: torch.Tensor) -> Batch:
    return Batch(torch.zeros(*state.shape, BANDS), state, tone)


def test_the_loss_is_least_for_who_is_right_in_time() -> None:
    random = torch.Generator().manual_seed(0)
    batch = batch_of(torch.randint(STATES, (2, 40), generator=random), torch.zeros(2, 40, dtype=torch.int64))
    outputs = perfect(batch)
    assert loss_of(outputs, batch) < 1e-3
    for late in (-1, 1):
        for head in range(3):
            moved = Outputs(*(o.roll(late, 1) if i == head else o for i, o in enumerate(outputs)))
            if head < 2:  # all is unvoiced
                assert loss_of(moved, batch) > 5


def test_the_loss_of_pitch_counts_neighbours_and_not_unvoiced() -> None:
    """Ln-likelihoods weighted .1 .2 .4 .2 .1 over the classes around the target, the lowest of which is class 1."""
    state = torch.full((1, 10), IGNORED)
    state[0, 0] = 0
    logits = torch.randn(1, 10, 1 + pitch.PITCHES, generator=torch.Generator().manual_seed(0))
    logs = logits.double().log_softmax(-1)[0]
    for tone, classes in (
        (40, (38, 39, 40, 41, 42)),
        (1, (1, 1, 1, 2, 3)),
        (pitch.PITCHES, (78, 79, 80, 80, 80)),
        (0, (0,) * 5),
    ):
        batch = batch_of(state, torch.full((1, 10), pitch.IGNORED))
        batch.pitch[0, 3] = tone
        outputs = Outputs(perfect(batch).states, perfect(batch).phones, logits)
        weights = (0.1, 0.2, 0.4, 0.2, 0.1)
        expected = -sum(w * logs[3 + SOON, c].item() for w, c in zip(weights, classes, strict=True))
        assert loss_of(outputs, batch).item() == pytest.approx(0.3 * expected, abs=1e-3)


def test_unknown_frames_cost_nothing() -> None:
    random = torch.Generator().manual_seed(0)
    batch = batch_of(torch.randint(STATES, (1, 40), generator=random), torch.randint(81, (1, 40), generator=random))
    outputs = Outputs(*(torch.randn(o.shape, generator=random) for o in perfect(batch)))
    batch.state[0, 20:], batch.pitch[0, 20:] = IGNORED, pitch.IGNORED
    other = Outputs(*(o.clone() for o in outputs))
    other.states[0, 20 + LATE :] += torch.randn(STATES)
    other.phones[0, 20 + SOON :] += torch.randn(len(phones.PHONES))
    other.pitch[0, 20 + SOON :] += torch.randn(1 + pitch.PITCHES)
    assert loss_of(other, batch) == loss_of(outputs, batch)

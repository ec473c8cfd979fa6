"""The loop that trains: a stopped run goes on as if it had not been, more steps go on from before the rate fell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from velavox.models_onnx.training import loop
from velavox.models_onnx.training.journal import Journal
from velavox.models_onnx.training.loop import Plan, Task, rate_at, train

torch.set_num_threads(1)

PLAN = Plan(12, validate_every=5)


class StoppedError(Exception):
    pass


def save(path: Path, network: nn.Module, /, **more: Any) -> None:
    torch.save({"weights": network.state_dict(), **more}, path)


def load(path: Path) -> tuple[nn.Module, dict[str, Any]]:
    network, saved = begin(), torch.load(path, weights_only=True)
    network.load_state_dict(saved["weights"])
    return network, saved


def begin() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 6))


def off(network: nn.Module, step: int) -> Tensor:
    """From what a step's number says, with dropout."""
    x = torch.randn(16, 6, generator=torch.Generator().manual_seed(step))
    return ((network(x) - x) ** 2).mean()  # type: ignore[no-any-return]


def scored(network: nn.Module) -> tuple[float, str]:
    score = -off(network, -1).item()
    return score, f"score {score:.3f}"


Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Trains in the folder `name`, maybe stopped before step `stop`; returns the last checkpoint, if there is one."""

    def run(
        name: str,
        plan: Plan,
        stop: int | None = None,
        save_every: float = 180.0,
        loss: Callable[[nn.Module, int], Tensor] = off,
        scores: Iterable[float] = (),
    ) -> dict[str, Any]:
        monkeypatch.setattr(loop, "_SAVE_EVERY", save_every)
        given = iter(scores)

        def stopping(network: nn.Module, step: int) -> Tensor:
            if step == stop:
                raise StoppedError
            return loss(network, step)

        def score(network: nn.Module) -> tuple[float, str]:
            return (next(given), "given") if scores else scored(network)

        try:
            train(tmp_path / name, plan, Task("tiny", begin, save, load, stopping, score), Journal(tmp_path / name))
        except StoppedError:
            assert stop is not None
        last = tmp_path / name / "last.pt"
        return load(last)[1] if last.exists() else {}

    return run


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return torch.equal(one, other) if isinstance(one, Tensor) else bool(one == other)


def starts(folder: Path) -> list[int]:
    """The steps that the runs in `folder` began from."""
    return [int(step) for step in re.findall(r"from step (\d+) to", (folder / "log.txt").read_text())]


@pytest.mark.parametrize("stop", [1, 7, 9, 11])
def test_a_resumed_run_ends_as_one_that_was_not_stopped(run: Run, tmp_path: Path, stop: int) -> None:
    """To the last bit: weights, averages, the optimizer's state, and the best one on the way."""
    whole = run("whole", PLAN)
    assert run("stopped", PLAN, stop, save_every=0.0)["step"] == stop
    assert same(run("stopped", PLAN), whole)
    assert starts(tmp_path / "stopped") == [0, stop]
    for file in ("best.pt", "plateau.pt"):
        assert same(*(load(tmp_path / name / file)[1] for name in ("stopped", "whole")))


def test_what_was_not_saved_is_done_again(run: Run, tmp_path: Path) -> None:
    whole = run("whole", PLAN)
    assert run("stopped", PLAN, 7) == {}
    assert same(run("stopped", PLAN), whole)
    assert starts(tmp_path / "stopped") == [0, 0]


def test_the_first_weights_are_the_seeds(run: Run) -> None:
    torch.manual_seed(123)
    one = run("one", Plan(1, seed=1))
    torch.manual_seed(321)
    assert same(run("again", Plan(1, seed=1)), one)
    assert not same(run("other", Plan(1, seed=2)), one)


def test_a_finished_run_stays_as_it_is(run: Run) -> None:
    assert same(run("a", PLAN), run("a", PLAN))


def test_more_steps_go_on_from_before_the_rate_fell(run: Run, tmp_path: Path) -> None:
    """As if so many had been asked for at first: nine of twelve steps are at the same rates in both plans."""
    more = replace(PLAN, steps=24)
    run("longer", PLAN)
    assert load(tmp_path / "longer" / "plateau.pt")[1]["step"] == 9
    longer = run("longer", more)
    assert starts(tmp_path / "longer") == [0, 9]
    assert same(longer, run("at once", more))


def test_more_steps_go_on_from_the_last_while_the_rate_has_not_fallen(run: Run, tmp_path: Path) -> None:
    run("a", PLAN, 8, save_every=0.0)
    run("a", replace(PLAN, steps=24))
    assert starts(tmp_path / "a") == [0, 8]


def test_a_plateau_of_another_plan_is_not_gone_back_to(run: Run, tmp_path: Path) -> None:
    """12 steps, then stopped at 20 of 40: 22 are too few for a plateau of their own, that of the first 12 is long past."""
    run("a", PLAN)
    run("a", replace(PLAN, steps=40), 20, save_every=0.0)
    run("a", replace(PLAN, steps=22))
    run("a", replace(PLAN, steps=26))
    assert starts(tmp_path / "a") == [0, 9, 20, 22]


def test_the_best_one_is_only_replaced_by_one_that_is_as_good(run: Run, tmp_path: Path) -> None:
    """Also by a run that goes on from before the best one."""
    best = tmp_path / "a" / "best.pt"
    run("a", PLAN, scores=[0.3, 0.5, 0.4])
    assert load(best)[1]["step"] == 10
    run("a", replace(PLAN, steps=24), 17, scores=[0.2, 0.45])  # 10, 15
    assert load(best)[1]["step"] == 10
    run("a", replace(PLAN, steps=24), scores=[0.2, 0.45, 0.6, 0.1])  # 10, 15, 20, 24
    assert (load(best)[1]["step"], load(best)[1]["dev"]) == (20, 0.6)


def test_the_best_one_is_of_averaged_weights(run: Run, tmp_path: Path) -> None:
    last = run("a", replace(PLAN, validate_every=12))
    assert same(load(tmp_path / "a" / "best.pt")[1]["weights"], last["average"])
    assert not same(last["weights"], last["average"])


def test_averaged_weights_follow_the_others() -> None:
    one, other = begin(), begin()
    ahead = {name: value.clone() for name, value in other.state_dict().items()}
    before = {name: value.clone() for name, value in one.state_dict().items()}
    loop._follow(one, other, 0.75)
    for name, value in one.state_dict().items():
        assert torch.allclose(value, 0.75 * before[name] + 0.25 * ahead[name], atol=1e-6)
        assert torch.equal(other.state_dict()[name], ahead[name])


def test_it_learns_and_says_so(run: Run, tmp_path: Path) -> None:
    run("a", Plan(900, rate=0.05, decay=0.0, validate_every=300))
    lines = (tmp_path / "a" / "log.txt").read_text()
    assert "tiny: 110 parameters, from step 0 to 900" in lines
    told = re.findall(r"tiny \d+: loss ([\d.]+); score -([\d.]+)", lines)
    losses = [float(loss) for loss, _ in told]
    assert losses == sorted(losses, reverse=True)
    assert [float(score) < 0.5 for _, score in told] == [True] * 3  # who says nothing is off by 1


def test_what_is_not_finite_stops_it_before_it_is_saved(run: Run) -> None:
    before = run("a", PLAN, 4, save_every=0.0)
    with pytest.raises(RuntimeError, match="non-finite"):
        run("a", PLAN, save_every=0.0, loss=lambda network, step: off(network, step) * float("nan"))
    assert same(run("a", PLAN, 4), before)


def test_the_rate_rises_stays_and_falls_to_zero() -> None:
    plan = Plan(4000, rate=0.1)
    rates = [rate_at(step, plan) for step in range(4000)]
    assert rates[:400] == pytest.approx([0.1 * (step + 1) / 400 for step in range(400)])
    assert set(rates[400:3001]) == {0.1}
    assert rates[3000:] == pytest.approx([0.1 * (4000 - step) / 1000 for step in range(3000, 4000)])

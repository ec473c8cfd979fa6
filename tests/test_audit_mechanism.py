"""The audit of the mechanism: the graph that ships, and mechanisms with defects that it has to find."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from velavox.bench.audit.mechanism import SCOPE, audited, farthest, from_json, scores
from velavox.bench.audit.tradeoff import proofs
from velavox.engine.accountant import Calibration
from velavox.engine.dpvoice import arithmetic
from velavox.engine.mechanism import STEPS, Arithmetic, Mechanism, clipped, private, renormalised
from velavox.kernels.jit import F32, F64, I64

K, U = 8, 3.0
SOUND: Arithmetic = partial(private, radius=U)


class Seeded(Mechanism):
    """Whose noise is drawn fast, and is the same in every run."""

    random = np.random.default_rng(0)

    def draw(self) -> I64:
        return np.rint(self.random.standard_normal(K) * self.scale).astype(np.int64)


def mechanism(arithmetic: Arithmetic = SOUND, mu: float = 1.0, calibration: Calibration = "sound") -> Mechanism:
    return Seeded(mu, K, K, arithmetic, calibration)


def lower(mechanism: Mechanism) -> float:
    return max(p.mu for p in proofs(*scores(mechanism, farthest(mechanism), 8000), doubt=1e-3))


def test_the_shipped_mechanism_is_what_it_claims_and_the_papers_is_not() -> None:
    """The noise is the system's: this fails in one run of 1,000."""
    found = audited(1, draws=8000)
    assert found.apart_radii == pytest.approx(2, abs=1e-3)
    assert (found.holds, found.claim, found.sigma_radii) == (True, 1, 2)
    assert 0.6 < found.lower <= 1  # .81 to .88 in 12 runs
    paper = audited(1, "paper", claim=1, draws=8000)
    assert (paper.holds, paper.sigma_radii) == (False, 1)
    assert 1.5 < paper.lower <= 2
    assert "it is not mu 1: the real mu is 1." in paper.verdict


def test_the_claim_is_what_velavox_states_if_none_is_given() -> None:
    assert audited(3, draws=1000).claim == 3
    paper = audited(3, "paper", draws=1000)
    assert (paper.claim, paper.holds) == (6, True)
    assert not audited(3, claim=1, draws=1000).holds


def test_a_claim_that_so_few_releases_cannot_test_is_said_to_be_one() -> None:
    found = audited(20, draws=1000)
    assert found.holds
    assert found.verdict.startswith(f"mu 20 cannot be tested with so few releases, which prove mu {found.most:.1f} at most: ")
    assert 4 < found.most < 6


@pytest.mark.parametrize("calibration", ["sound", "paper"])
def test_all_of_a_mu_shows(calibration: Calibration) -> None:
    assert 0.85 < lower(mechanism(mu=2, calibration=calibration)) / (2 if calibration == "sound" else 4) <= 1


def not_clipped(x: F64, noise: I64) -> F32:
    """What is outside of the ball stays there."""
    return renormalised(np.rint(x * (STEPS / U)).astype(np.int64) + noise)


def sparing(x: F64, noise: I64) -> F32:
    """Noise in half of the dimensions, twice as much."""
    return private(x, np.where(np.arange(K) < K // 2, 2 * noise, 0), U)


def halved(x: F64, noise: I64) -> F32:
    return private(x, noise // 2, U)


def often_without(x: F64, noise: I64) -> F32:
    """No noise in one of eight releases."""
    return private(x, noise * bool(noise[0] % 8), U)


@pytest.mark.parametrize("defect", [not_clipped, sparing, halved, often_without])
def test_defects_are_found(defect: Arithmetic) -> None:
    assert lower(mechanism()) <= 1
    assert lower(mechanism(defect)) > 1


def test_the_two_embeddings_are_opposite_and_as_far_apart_as_can_be() -> None:
    for radius in (0.01, 1.0, 1000.0):
        pair = farthest(mechanism(partial(private, radius=radius)))
        assert pair.apart_radii == pytest.approx(2, abs=1e-3)
        ends = [clipped(x, radius) / STEPS for x in (pair.one, pair.other)]
        assert np.allclose(ends[0], -ends[1])
        assert np.allclose(ends[0], pair.line, atol=1e-3)


def test_the_distance_is_measured_not_assumed() -> None:
    assert farthest(mechanism(lambda x, noise: private(x / 1e6, noise, U))).apart_radii == pytest.approx(2 / U, rel=1e-3)
    assert farthest(mechanism(not_clipped)).apart_radii > 100


def test_the_shipped_graph_projects_them_to_opposite_ends() -> None:
    """As its own mean, projection and radius say."""
    onnx, helper = pytest.importorskip("onnx"), pytest.importorskip("onnx.numpy_helper")
    from importlib.resources import files

    graph = onnx.load_from_string((files("velavox.models_onnx") / "noise.onnx").read_bytes()).graph
    constant = {x.name: helper.to_array(x) for x in graph.initializer}
    pair = farthest(Mechanism(1.0, 256, 16, arithmetic()))
    for embedding, sign in ((pair.one, 1), (pair.other, -1)):
        projected = (embedding - constant["mean"]) @ constant["projection"]
        assert np.linalg.norm(projected) > float(constant["radius"])
        assert np.allclose(projected / np.linalg.norm(projected), sign * pair.line, atol=1e-3)


def test_the_result_goes_through_json_and_says_what_it_cannot_see() -> None:
    found = audited(1, draws=1000)
    value = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert from_json(value) == found
    assert (value["lower"], value["holds"], value["scope"]) == (found.lower, True, list(SCOPE))
    assert set(found.made) >= {"velavox", "onnxruntime", "opendp", "noise.onnx"}
    others: list[Any] = [[], {}, value | {"format": "velavox audit 1"}]
    for wrong in others:
        with pytest.raises(ValueError, match="is no audit of the mechanism"):
            from_json(wrong)
    text = found.as_text()
    assert all(len(line) <= 120 for line in text.splitlines())
    assert "does not prove the claim" in " ".join(text.split())


@pytest.mark.parametrize("wrong", [{"draws": 999}, {"draws": 10**8}, {"mu": math.nan}], ids=str)
def test_what_is_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^\w+=\S+: give "):
        audited(**{"mu": 1.0, **wrong})


def test_progress_is_told_to_the_end() -> None:
    told: list[tuple[float, int]] = []
    audited(1, draws=1000, told=lambda done, total: told.append((done, total)))
    assert told[-1] == (1000, 1000)

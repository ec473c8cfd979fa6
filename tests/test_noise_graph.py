"""noise.onnx: its arithmetic is the mechanism's to the last bit, and the best attacker on it stays within mu."""

from __future__ import annotations

import math
from functools import cache
from importlib import resources

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from test_mechanism import CHANCE, draws
from velavox.bench.audit.tradeoff import proven
from velavox.engine.accountant import Calibration
from velavox.engine.graphs import Model
from velavox.engine.mechanism import STEPS, clipped, private
from velavox.kernels.jit import F32, F64, I64
from velavox.models_onnx import manifest
from velavox.models_onnx.training import noise
from velavox.models_onnx.training.whiten import Projection

pytestmark = pytest.mark.nojit


def release(model: Model, embedding: F32, steps: I64) -> F32:
    return model.run({"embedding": embedding, "noise": steps})["private"]


@cache
def made() -> onnx.ModelProto:
    """The shipped graph."""
    return onnx.load_from_string((resources.files("velavox.models_onnx") / "noise.onnx").read_bytes())


@cache
def constants() -> dict[str, F64]:
    return {c.name: numpy_helper.to_array(c) for c in made().graph.initializer}


@cache
def shipped() -> tuple[Model, Projection, float]:
    c = constants()
    project = Projection(c["mean"].astype(np.float32), c["projection"].astype(np.float32), 0)
    return manifest.load("noise"), project, float(c["radius"])


def random_rows(count: int, size: int, k: int, seed: int = 0) -> tuple[F32, I64]:
    random = np.random.default_rng(seed)
    x = random.normal(size=(count, size)) * 10 ** random.uniform(-6, 6, (count, 1))
    steps = np.rint(random.normal(size=(count, k)) * 10 ** random.uniform(0, 6.5, (count, 1)))
    return x.astype(np.float32), steps.astype(np.int64)


def same_bits(a: F32, b: F32) -> bool:
    return np.array_equal(a.view(np.uint32), b.view(np.uint32))


@pytest.mark.parametrize(("k", "radius"), [(1, 1.0), (2, 4.0), (16, 4.0), (16, 0.37), (64, 1e3)])
def test_the_arithmetic_is_the_mechanisms_bit_for_bit(k: int, radius: float) -> None:
    """With a projection that changes nothing: embeddings are then what the mechanism is given."""
    plain = Projection(np.zeros(k, np.float32), np.eye(k, dtype=np.float32), 1)
    model = Model(noise.graph(plain, radius).SerializeToString(), "noise")
    x, steps = random_rows(30_000, k, k)
    assert same_bits(release(model, x, steps), private(x.astype(np.float64), steps, radius))


def test_the_shipped_graph_is_what_the_code_makes() -> None:
    _, project, radius = shipped()
    assert list(noise.graph(project, radius).graph.node) == list(made().graph.node)


def test_the_shipped_graph_projects_and_does_the_same() -> None:
    model, project, radius = shipped()
    x, steps = random_rows(10_000, *project.matrix.shape)
    x += project.mean
    assert same_bits(release(model, x, steps), private(project(x), steps, radius))
    row = slice(7, 8)
    assert same_bits(release(model, x[row], steps[row]), release(model, x, steps)[row])


def test_the_shipped_graph_has_the_mechanisms_grid_and_range() -> None:
    c = constants()
    assert c["steps"] == STEPS
    assert c["norm"] == math.sqrt(c["projection"].shape[1])
    x, steps = random_rows(1000, *c["projection"].shape)
    assert np.allclose(np.linalg.norm(release(shipped()[0], x, steps + 1), axis=1), c["norm"], rtol=1e-6)


def test_whatever_goes_in_moves_the_released_vector_no_more_than_the_radius_does() -> None:
    """Infinite and undefined embeddings too. What is added to noise N has norm STEPS at most, so the angle's sine is at most
    STEPS / |N|."""
    model, project, _ = shipped()
    size, k = project.matrix.shape
    x, _ = random_rows(400, size, k)
    x[::4, 5] = np.nan
    x[1::4, :3] = np.inf, -np.inf, 3e38
    x[2::4, 0] = 3e38
    steps = np.full((400, k), 2**18)
    found = release(model, x, steps).astype(np.float64)
    across = found - found.mean(1, keepdims=True)  # to the noise, which is the same in each dimension
    sine = np.linalg.norm(across, axis=1) / math.sqrt(k)
    assert np.allclose(np.linalg.norm(found, axis=1), math.sqrt(k), rtol=1e-6)
    assert 0.5 < sine.max() / (STEPS / np.linalg.norm(steps[0])) < 1.001


def test_no_enrolment_is_a_row_of_zeros() -> None:
    model, project, radius = shipped()
    size, k = project.matrix.shape
    _, steps = random_rows(100, size, k)
    nobody = np.zeros((100, size), np.float32)
    assert same_bits(release(model, nobody, steps), private(np.zeros((100, k)), steps, radius))
    assert np.abs(clipped(project(nobody[0]), radius)).max() > 0  # so that the rule is needed


def attack(calibration: Calibration, releases: int = 4000) -> float:
    """Two embeddings that are projected to opposite ends of the ball, told apart by the released vector: the mu proven."""
    model, project, radius = shipped()
    k = project.matrix.shape[1]
    direction = np.random.default_rng(3).normal(size=(k,))
    end: F64 = direction * (radius / float(np.linalg.norm(direction)))
    apart = 2 * end @ np.linalg.pinv(project.matrix.astype(np.float64))
    scores: list[F64] = []
    for sign, steps in zip((1, -1), np.split(draws(calibration, k, 2 * releases), 2), strict=True):
        embedding = (project.mean + sign * apart).astype(np.float32)
        assert np.abs(clipped(project(embedding), radius) - sign * end / radius * STEPS).max() <= 2
        scores.append(release(model, np.tile(embedding, (releases, 1)), steps) @ end / radius)
    return float(proven(scores[0], scores[1], np.linspace(-2, 2, 9), 2 * CHANCE).max())


def test_the_best_attacker_on_the_graph_stays_within_mu() -> None:
    assert 0.75 < attack("sound") <= 1


def test_the_same_attack_on_the_graph_catches_the_papers_calibration() -> None:
    assert 1.5 < attack("paper") <= 2

"""The speaker mechanism: attacked as well as can be, its noise, its grid, and what it refuses.

The noise is the system's, so no run is like another: what is judged by chance here fails once in a million runs.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaincc, log_ndtr, ndtri, ndtri_exp
from velavox.bench.audit.binomial import clopper_pearson
from velavox.bench.audit.tradeoff import proven
from velavox.engine.accountant import Calibration, eer_floor, trade_off
from velavox.engine.mechanism import STEPS, Mechanism, Release, clipped, private, renormalised
from velavox.kernels.jit import F32, F64, I64

pytestmark = pytest.mark.nojit

K, U = 16, 4.0
CHANCE = 1e-6


def mechanism(mu: float = 1.0, k: int = K, calibration: Calibration = "sound") -> Mechanism:
    return Mechanism(mu, k, k, partial(private, radius=U), calibration)


def draws(calibration: Calibration, k: int, releases: int, mu: float = 1.0) -> I64:
    """Noise of so many releases: (releases, k)."""
    made = mechanism(mu, 512, calibration)
    return np.concatenate([made.draw() for _ in range(math.ceil(releases * k / 512))])[: releases * k].reshape(-1, k)


def attack(calibration: Calibration, releases: int = 12_000) -> tuple[float, float, float]:
    """Opposite embeddings of norm U, likelihood ratio as score: the mu proven by the sum, that proven by the released vector,
    and the largest error rate that the errors leave room for."""
    x = np.array([0.6, -0.8]) * U
    noise = draws(calibration, 2, 2 * releases)
    line = clipped(x, U) / STEPS  # the likelihood ratio grows along it
    assert np.abs(clipped(-x, U) + clipped(x, U)).max() == 0
    halves = list(zip((1, -1), np.split(noise, 2), strict=True))
    sums = [(clipped(sign * x, U) + half) @ line for sign, half in halves]
    vectors = [private(sign * x, half, U) @ line for sign, half in halves]
    levels = -STEPS - mechanism(1, 2, calibration).scale * ndtri([0.5, 0.3, 0.1, 1e-2, 1e-3])
    errors = int((sums[0] <= 0).sum() + (sums[1] > 0).sum())
    return (
        proven(sums[0], sums[1], np.append(levels, 0.0), 2 * CHANCE).max(),
        proven(vectors[0], vectors[1], np.linspace(-1.3, 1.3, 14), 2 * CHANCE).max(),
        float(clopper_pearson(errors, 2 * releases, 2 * CHANCE)[1]),
    )


def test_the_best_attacker_on_opposite_embeddings_stays_within_mu() -> None:
    by_sum, by_vector, errors = attack("sound")
    assert 0.8 < by_sum <= 1  # within mu, and no more noise than that
    assert 0.75 < by_vector <= 1  # the attack on what is released is a good one too
    assert errors >= eer_floor(1)


def test_the_same_attack_catches_the_papers_calibration_which_has_twice_the_mu() -> None:
    by_sum, by_vector, errors = attack("paper")
    assert 1.8 < by_sum <= 2
    assert 1.5 < by_vector <= 2
    assert eer_floor(2) <= errors < eer_floor(1)


@pytest.mark.parametrize("scale", [0.6, 1.0, 2.0, 5.0, 20.0, 163.8])
def test_a_discrete_gaussian_is_as_good_as_a_continuous_one_of_an_eighth_less_variance(scale: float) -> None:
    """Exactly, at every threshold t up to 8 sigma: with z(t) = -Phi^-1(P[n >= t]), a shift by one step moves z by 1/sigma at
    most. (Below 0 it is the mirror image, and between -0.5 and 0.5 the step from z(0) to z(1) = -z(0).)"""
    n = np.arange(0, math.ceil(30 * scale) + 20, dtype=np.float64)
    tails = np.cumsum(np.exp(-(n * n) / (2 * scale**2))[::-1])[::-1]
    total = 2 * tails[0] - 1
    thresholds = slice(1, math.ceil(8 * scale) + 4)
    z = -ndtri_exp(np.log(tails[thresholds] / total))
    moves = np.append(np.diff(z), 2 * z[0])
    assert moves.max() <= 1 / math.sqrt(scale**2 - 1 / 8)
    assert moves.max() > 1 / scale  # so that something has to be added
    assert np.allclose(log_ndtr(-z), np.log(tails[thresholds] / total))


def test_the_noise_is_a_discrete_gaussian() -> None:
    scale = mechanism(100, calibration="paper").scale  # the smallest that is offered
    assert scale == pytest.approx(STEPS / 100, rel=1e-5)
    noise = draws("paper", 1, 20_480, mu=100)[:, 0]
    steps = np.arange(-2000, 2001)
    chances = np.exp(-(steps**2) / (2 * scale**2))
    chances /= chances.sum()
    bins = np.searchsorted(np.cumsum(chances), np.linspace(0.01, 0.99, 50)) - 2000
    expected = np.add.reduceat(chances, np.append(0, bins + 2000)) * len(noise)
    found = np.bincount(np.searchsorted(bins, noise, side="right"), minlength=len(bins) + 1)
    assert chi_square(found, expected) > CHANCE
    assert noise.var() == pytest.approx(scale**2, rel=5 * math.sqrt(2 / len(noise)))
    assert abs(noise.mean()) < 5 * scale / math.sqrt(len(noise))


def chi_square(found: Any, expected: Any) -> float:
    """The chance of a fit as bad as this."""
    return float(gammaincc((len(found) - 1) / 2, (((found - expected) ** 2) / expected).sum() / 2))


def test_low_bits_tell_nothing() -> None:
    """Of floating-point noise they tell much: x + noise ends in zeros, where it is small, the more the larger x is."""
    for x in (0.0, 1.0, U / 3, U):
        noisy = clipped(np.array([x]), U) + draws("sound", 1, 4096)
        found = np.bincount(noisy[:, 0] % 16, minlength=16)
        assert chi_square(found, np.full(16, len(noisy) / 16)) > CHANCE


def test_what_rounds_to_the_same_step_is_released_as_the_same_bits() -> None:
    random = np.random.default_rng(0)
    x = np.rint(random.uniform(-1, 1, (500, K)) * 2000) * U / STEPS  # on the grid, in the ball
    nudge = x + random.uniform(-0.4, 0.4, x.shape) * U / STEPS
    noise = np.rint(random.standard_normal(x.shape) * 30_000).astype(np.int64)
    assert np.array_equal(private(x, noise, U), private(nudge, noise, U))


def awkward() -> list[F64]:
    random = np.random.default_rng(1)
    one_hot = np.eye(K)[3]
    triple = np.zeros(K)
    triple[:2] = 3.0, 4.0  # clips to whole numbers
    return [
        *(random.standard_normal((400, K)) * 10.0 ** random.uniform(-8, 8, (400, 1))),
        np.zeros(K),
        *(one_hot * scale for scale in (U, -U, U * (1 + 1e-15), 1e308, 5e-324)),
        *(triple * scale for scale in (U / 5, 1e5, 1e-5)),
        np.full(K, 1.7e308),
        np.full(K, U / math.sqrt(K)),
    ]


@pytest.mark.parametrize("radius", [U, 1.0, 0.37, 1e-6, 1e6])
def test_clipped_norms_are_at_most_the_radius_exactly(radius: float) -> None:
    for x in awkward():
        x = x * min(1.0, radius / U) if np.abs(x).max() > 1e300 else x * (radius / U)
        steps = clipped(x, radius)
        assert sum(int(s) ** 2 for s in steps) <= STEPS**2
        grid, top = radius / STEPS, float(np.abs(x).max())
        norm = float(np.linalg.norm(x / top)) if top else 0.0  # in tops, since the sum of squares may overflow
        if top == 0 or norm <= radius / top:
            assert np.abs(steps * grid - x).max() <= grid * 0.5000001
        else:  # on the sphere, but for rounding and for cutting off
            assert np.abs(steps * grid - x / top / norm * radius).max() <= 2 * grid


def test_a_vector_on_the_sphere_stays_there() -> None:
    assert np.array_equal(clipped(np.array([0.0, -U]), U), [0, -STEPS])
    assert np.array_equal(clipped(np.array([30.0, 40.0]) * U, U), [int(0.6 * STEPS), int(0.8 * STEPS)])


def test_the_released_norm_is_the_decoders() -> None:
    for x in awkward():
        vector = mechanism().release(x).vector
        assert vector.dtype == np.float32
        assert vector.shape == (K,)
        assert np.linalg.norm(vector) == pytest.approx(math.sqrt(K), rel=1e-6)
    assert np.array_equal(renormalised(np.zeros(K, np.int64)), np.zeros(K))
    largest = np.full(512, 2**26 + STEPS)
    assert np.allclose(renormalised(largest), 1)


def test_batches_are_rows() -> None:
    x = np.array([row for row in awkward() if np.abs(row).max() < 1e300])
    noise = np.random.default_rng(2).integers(-(2**20), 2**20, x.shape)
    assert np.array_equal(private(x, noise, U), np.array([private(a, n, U) for a, n in zip(x, noise, strict=True)]))


def test_every_release_has_noise_of_its_own() -> None:
    x = np.full(K, U / math.sqrt(K))
    one = mechanism()
    vectors = np.array([one.release(x).vector for _ in range(8)] + [mechanism().release(x).vector for _ in range(8)])
    alike = vectors @ vectors.T / K
    assert alike[np.triu_indices(16, 1)].max() < 0.97


def test_processes_and_their_children_have_noise_of_their_own() -> None:
    code = """
import os
from velavox.engine.mechanism import Mechanism
draw = Mechanism(1, 4, 4, None).draw
before = draw()
if hasattr(os, "fork") and os.fork() == 0:
    print(*draw(), flush=True)
    os._exit(0)
elif hasattr(os, "fork"):
    os.wait()
print(*before)
print(*draw())
"""
    found = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in range(2)]
    lines = "".join(found).splitlines()
    assert len(set(lines)) == len(lines) == (6 if hasattr(os, "fork") else 4)


ENTROPY = b"any sixteen bytes"


def seeded(x: Any, entropy: bytes = ENTROPY, mu: float = 1.0) -> F32:
    return mechanism(mu).release(x, entropy).vector


def test_a_seed_repeats_and_another_does_not() -> None:
    x = np.arange(K) / K
    assert np.array_equal(seeded(x), seeded(x))
    assert np.array_equal(seeded(None), seeded(None))
    for other in (seeded(x, b"another source's 16"), seeded(x, ENTROPY + b"\0")):
        assert seeded(x) @ other / K < 0.97


def test_one_seed_for_two_speakers_or_for_two_mu_does_not_give_the_same_noise() -> None:
    x = np.arange(K) / K
    near = x.copy()
    near[0] += U / STEPS  # the very next step: with the same noise the two would be alike to 1e-9
    assert seeded(x) @ seeded(near) / K < 0.97
    assert seeded(x) @ seeded(x, mu=1.0000001) / K < 0.97


def test_seeded_noise_has_the_right_scale_too() -> None:
    made = mechanism(100, 512)
    sums = [made.release(None, i.to_bytes(16, "big")) for i in range(20)]
    values = np.concatenate([s.vector for s in sums])
    assert values.var() == pytest.approx(1, rel=0.1)
    near = [made.release(np.eye(512)[0] * U, i.to_bytes(16, "big")).vector[0] for i in range(300)]
    # one coordinate of U among 512 of noise with sigma = U/50: U sqrt(512)/sqrt(U^2 + 512 sigma^2)
    assert np.mean(near) == pytest.approx(math.sqrt(512) / math.sqrt(1 + 512 / 50**2), rel=0.01)


def release(x: Any = (1.0,) * K, entropy: bytes | None = None, mu: float = 0.5, calibration: Calibration = "sound") -> Release:
    return mechanism(mu, K, calibration).release(x, entropy)


def test_a_release_says_what_it_spent() -> None:
    assert (release().mu, release(calibration="paper").mu) == (0.5, 1.0)
    assert "EER below 0.4013" in str(release())
    assert "EER below 0.3085" in str(release(calibration="paper"))
    for entropy in (None, ENTROPY):
        without = release(None, entropy)
        assert (without.mu, without.enrolled) == (0, False)
        assert "depends on nothing of the speaker" in str(without)
    void = release(entropy=ENTROPY)
    assert (void.mu, void.seeded, void.enrolled) == (None, True, True)
    assert "no bound holds" in str(void)
    assert (release(np.zeros(K)).mu, release(np.zeros(K)).seeded) == (0.5, False)  # a speaker's embedding, though of norm 0


def test_a_release_shows_no_numbers_of_the_voice_and_cannot_be_changed() -> None:
    one = release()
    assert "vector" not in repr(one)
    with pytest.raises(ValueError, match="read-only"):
        one.vector[0] = 1


def test_without_enrolment_every_direction_is_alike() -> None:
    vectors = renormalised(draws("sound", 4, 5000))
    assert np.linalg.norm(vectors.mean(0)) < 5 * math.sqrt(4 / 5000)
    assert np.allclose(vectors.T @ vectors / 5000, np.eye(4), atol=5 * math.sqrt(2 / 5000))


@pytest.mark.parametrize(
    "embedding",
    [
        np.full(K, np.nan),
        np.array([123.456] * (K - 1) + [np.nan]),
        np.array([123.456] * (K - 1) + [-np.inf]),
        np.full(K, np.longdouble("123.456e4000")),
        np.full(K - 1, 123.456),
        np.full((1, K), 123.456),
        np.full(K, 123.456 + 1j),
        np.array(["123.456"] * K),
        [[123.456], [123.456, 1]],
        "123.456",
        123.456,
        [],
    ],
    ids=lambda e: str(getattr(e, "dtype", type(e).__name__)) + str(np.shape(e) if hasattr(e, "shape") else ""),
)
def test_bad_embeddings_are_refused_and_not_repeated(embedding: Any) -> None:
    for entropy in (None, ENTROPY):
        with pytest.raises(ValueError, match=r"^embedding[^\n]+; ?give|^embedding[^\n]+: give") as caught:
            mechanism().release(embedding, entropy)
        assert "123" not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_other_dtypes_are_the_same_embedding() -> None:
    x = np.arange(K)
    expected = seeded(x.astype(np.float64))
    for dtype in (np.float16, np.float32, np.int16, np.uint8, np.longdouble):
        assert np.array_equal(seeded(x.astype(dtype)), expected)
    assert np.array_equal(seeded(list(range(K))), expected)
    assert np.array_equal(seeded(np.repeat(x, 2)[::2]), expected)


@pytest.mark.parametrize(
    "wrong",
    [
        {"mu": 0.0},
        {"mu": -1.0},
        {"mu": math.nan},
        {"mu": math.inf},
        {"mu": 101.0},
        {"mu": 0.001},
        {"dimensions": 0},
        {"dimensions": 513},
        {"calibration": "loud"},
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused_in_a_line(wrong: dict[str, Any]) -> None:
    ((name, _),) = wrong.items()
    with pytest.raises(ValueError, match=rf"^{name}=\S+: give [^\n]+$"):
        Mechanism(**{"mu": 1.0, "size": K, "dimensions": K, "arithmetic": partial(private, radius=U), **wrong})


def test_too_little_entropy_is_refused() -> None:
    with pytest.raises(ValueError, match="entropy of 15 bytes: give 16 or more"):
        release(entropy=bytes(15))


CALIBRATIONS: dict[Calibration, int] = {"sound": 2, "paper": 1}  # radii that two embeddings are taken to be apart


@pytest.mark.parametrize("mu", [0.01, 0.3, 1.0, 100.0])
def test_the_scale_of_the_noise(mu: float) -> None:
    for calibration, sensitivity in CALIBRATIONS.items():
        steps = sensitivity * STEPS / mu
        assert mechanism(mu, calibration=calibration).scale ** 2 - 1 / 8 == pytest.approx(steps**2, rel=1e-12)
    assert trade_off(0.5, mu) == pytest.approx(0.5 * math.erfc(mu / math.sqrt(2)))

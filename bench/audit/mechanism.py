"""The claim of the speaker mechanism, tested from outside: many releases for two speakers as far apart as can be.

Two embeddings that come out of projection and clipping at opposite ends of the ball are released over and over, by the noise
graph that ships and with noise from the system's entropy. What a release gives is a direction; its cosine with the line between
the two grows with the likelihood ratio, so no attacker on one release is better than this score. At a cosine of 0 the scale,
which a release does not give, makes no difference: there the mechanism shows all of its mu.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from textwrap import wrap
from typing import Any

import numpy as np

from ... import __version__
from ...engine.accountant import Calibration, noise_scale, spent
from ...engine.mechanism import STEPS, Arithmetic, Mechanism
from ...kernels.jit import F64
from ...models_onnx import manifest
from .codec import made, plain
from .tradeoff import Point, Proof, curve, most, proofs

FORMAT = "velavox mechanism audit 1"
DRAWS = 20_000
FEWEST, MOST = 1000, 10**7
DOUBT = 1e-3  # that a sound mechanism is called false
SCOPE = (
    "It bounds mu from below. That a claim stands shows that this attacker, with so many releases, proves no more; it does not "
    "prove the claim, which the design of the mechanism does.",
    "It looks at one pair of embeddings, 2 U apart, and at one release at a time. Noise that two releases share is not seen, "
    "nor are defects that show with other embeddings alone.",
    "The score is the best one on directions of a Gaussian. What leaks by the last digits of the numbers, by timing or by the "
    "state of the generator is not seen, nor is what happens less than once in as many releases.",
    "It looks at the speaker channel alone. Timing, pitch, accent and words reach the output by another way, and tell of the "
    "speaker too: `velavox audit speech` attacks the whole voice.",
)
_FAR = 1e6  # norm of an embedding that is clipped whatever its direction, and against which the graph's mean is nothing


@dataclass(frozen=True)
class Pair:
    """Two embeddings (size,), and the direction (k,), of norm 1, from the second to the first as the graph projects them."""

    one: F64
    other: F64
    line: F64
    apart_radii: float  # distance after projection and clipping, in U


@dataclass(frozen=True)
class MechanismAudit:
    mu: float  # asked for
    calibration: Calibration
    claim: float  # the mu that it is sold as
    sigma_radii: float  # in U
    dimensions: int
    apart_radii: float
    draws: int  # releases of each of the two
    doubt: float  # the chance that `lower` is too high
    proofs: tuple[Proof, ...]
    curve: tuple[Point, ...]
    scope: tuple[str, ...]
    made: dict[str, Any]

    @property
    def lower(self) -> float:
        """The real mu is this or more."""
        return max(proof.mu for proof in self.proofs)

    @property
    def most(self) -> float:
        """No more could be proven with so many releases, whatever the mechanism."""
        return most(self.draws, self.doubt)

    @property
    def holds(self) -> bool:
        """Nothing speaks against the claim."""
        return self.lower <= self.claim

    @property
    def verdict(self) -> str:
        sure = f"the real mu is {self.lower:.3f} or more, with {1 - self.doubt:.1%} confidence"
        if self.claim >= self.most:
            return f"mu {self.claim:g} cannot be tested with so few releases, which prove mu {self.most:.1f} at most: {sure}"
        if self.holds:
            return f"nothing speaks against mu {self.claim:g}: {sure}"
        return f"it is not mu {self.claim:g}: {sure}"

    def as_text(self) -> str:
        """For a terminal of 120 columns."""
        rows = [["threshold", "FPR", "at most", "TPR", "at least", "mu at least"]]
        for proof in self.proofs:
            shares = (proof.fpr.value, proof.fpr.high, proof.tpr.value, proof.tpr.low)
            rows.append([proof.chosen, *(f"{share:.5f}" for share in shares), f"{proof.mu:.3f}"])
        lines = [
            f"mu {self.mu:g}, calibration {self.calibration}: sigma = {self.sigma_radii:.4g} U in each of {self.dimensions} "
            f"dimensions; claimed: mu {self.claim:g}",
            f"{self.draws} releases of each of two embeddings, {self.apart_radii:.4g} U apart once projected and clipped",
            "",
            *("  " + "".join(f"{cell:>12}" for cell in row) for row in rows),
            "",
            self.verdict,
            "",
        ]
        for text in self.scope:
            lines += wrap(text, 118, initial_indent="- ", subsequent_indent="  ")
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "velavox": __version__,
            "lower": self.lower,
            "most": self.most,
            "holds": self.holds,
            **plain(self),
        }


def from_json(value: Any) -> MechanismAudit:
    """What `as_json` gave. ValueError, in a line, for anything else."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise ValueError(f"is no audit of the mechanism, which says {FORMAT!r}; give what `velavox audit mechanism` wrote")
    return made(MechanismAudit, value)


def audited(
    mu: float,
    calibration: Calibration = "sound",
    claim: float | None = None,
    draws: int = DRAWS,
    told: Callable[[float, int], None] = lambda done, total: None,
) -> MechanismAudit:
    """Of the mechanism that ships, 0.6 ms a release. `claim`: None for the mu that velavox itself states.

    `told`: is called with how many releases are done, of how many. ValueError for what is out of range, GraphError.
    """
    from ...engine.dpvoice import DIMENSIONS, arithmetic
    from ...engine.embedding import SIZE

    if not FEWEST <= draws <= MOST:
        raise ValueError(f"draws={draws!r}: give {FEWEST} to {MOST}")
    mechanism = Mechanism(mu, SIZE, DIMENSIONS, arithmetic(), calibration)
    pair = farthest(mechanism)
    mine, theirs = scores(mechanism, pair, draws, told)
    return MechanismAudit(
        mu=mu,
        calibration=calibration,
        claim=spent(mu, calibration) if claim is None else claim,
        sigma_radii=noise_scale(mu, 1.0, calibration),
        dimensions=DIMENSIONS,
        apart_radii=pair.apart_radii,
        draws=draws,
        doubt=DOUBT,
        proofs=proofs(mine, theirs, DOUBT),
        curve=curve(mine, theirs),
        scope=SCOPE,
        made=_made(),
    )


def farthest(mechanism: Mechanism, seed: int = 0) -> Pair:
    """Embeddings that `mechanism`'s arithmetic brings to opposite ends of its ball, found by what it gives, not by what is in
    it: of an embedding far out only the direction is left. It has 2 dimensions or more."""
    random = np.random.default_rng(seed)
    x = random.standard_normal(mechanism.size)
    x *= _FAR / np.linalg.norm(x)
    ends = [_end(mechanism.arithmetic, sign * x, mechanism.dimensions, random) for sign in (1, -1)]
    apart = ends[0] - ends[1]
    distance = float(np.linalg.norm(apart))
    return Pair(x, -x, apart / distance, distance)


def scores(
    mechanism: Mechanism, pair: Pair, draws: int, told: Callable[[float, int], None] = lambda done, total: None
) -> tuple[F64, F64]:
    """Of so many releases of each embedding, (draws,) twice: cosines with the line between them."""
    found = np.empty((2, draws))
    for i in range(draws):
        for of, embedding in zip(found, (pair.one, pair.other), strict=True):
            of[i] = mechanism.release(embedding).vector @ pair.line
        told(i + 1, draws)
    mine, theirs = found / math.sqrt(mechanism.dimensions)
    return mine, theirs


def _end(arithmetic: Arithmetic, x: F64, k: int, random: np.random.Generator) -> F64:
    """Where `x` comes to before noise is added, shape (k,), in U. Its length shows beside a known vector across it."""
    direction = arithmetic(x, np.zeros(k, np.int64)).astype(np.float64)
    direction /= np.linalg.norm(direction)
    across = random.standard_normal(k)
    across -= (across @ direction) * direction
    across *= STEPS / np.linalg.norm(across)
    both = arithmetic(x, np.rint(across).astype(np.int64)).astype(np.float64)
    return direction * ((both @ direction) / (both @ across) * STEPS)


def _made() -> dict[str, Any]:
    graph = manifest.read(files(manifest.__package__))["noise"]
    return {
        "velavox": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "onnxruntime", "opendp")},
        "noise.onnx": graph.sha256,
        "noise": "from the system's entropy: not repeatable",
    }

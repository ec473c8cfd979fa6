"""The Gaussian speaker mechanism: an embedding goes in, a private vector comes out that shows at most mu of who it was.

Clip to norm U, add Gaussian noise, scale to the norm that the decoder expects. All of it happens on a grid of step
U / 2^14, in whole numbers, since floating-point noise shows its addend in the low bits (I. Mironov, "On significance of the
least significant bits for differential privacy", CCS 2012).

- Sensitivity. The embedding is rounded to the grid first and clipped there, towards zero: whatever came in, a vector of whole
  numbers of norm at most R = 2^14 goes on. Two of them are at most 2 R apart, exactly; rounding adds nothing.
- Noise. Each coordinate gets a discrete Gaussian (C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential
  privacy", NeurIPS 2020), which OpenDP draws exactly, from a cryptographic generator that the system's entropy seeds. With
  parameter s it hides a shift by a whole number no worse than a continuous Gaussian of variance s^2 - 1/8 (in truth about
  1/12, from s = 0.6 up; `test_mechanism` goes through every threshold). Coordinates compose as `accountant.composed` says,
  so s^2 = (2 R / mu)^2 + 1/8 is mu-GDP to the last digit.
- One release a session: what is made of the private vector later costs nothing more, a second release does.

The bound speaks of this vector alone: not of timing, pitch, accent and words, which reach the output by another way.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .accountant import Calibration, eer_floor, noise_scale, spent

if TYPE_CHECKING:
    from ..kernels.jit import F32, F64, I64

STEPS = 2**14  # R: the norm of a clipped embedding, in steps of the grid
LOWEST_MU, HIGHEST_MU = 0.01, 100.0  # at 0.01 the EER floor is 0.498, at 100 nothing is hidden; noise of 164 to 3.3e6 steps
MOST_DIMENSIONS = 512
_LEAST_ENTROPY = 16  # bytes


def clipped(x: F64, radius: float) -> I64:
    """Embeddings (..., k), finite float64, onto the grid and into the ball: whole numbers, of norm `STEPS` at most.

    The norm holds exactly: in float64 the product below is off by 3 * 2^-53 of itself at most, so the squared norm, a whole
    number, stays below STEPS^2 + 1.
    """
    top: F64 = np.maximum(np.abs(x).max(-1, keepdims=True), radius)  # first, so that no square overflows
    steps: I64 = np.rint(x * (STEPS / top)).astype(np.int64)
    norm: F64 = np.sqrt((steps * steps).sum(-1, keepdims=True).astype(np.float64))
    return (steps * (STEPS / np.maximum(norm, STEPS))).astype(np.int64)  # a cast goes towards zero


def renormalised(steps: I64) -> F32:
    """Vectors (..., k) of whole numbers, scaled to norm sqrt(k); a vector of zeros stays one."""
    norm: F64 = np.sqrt(np.maximum((steps * steps).sum(-1, keepdims=True), 1).astype(np.float64))
    return (steps * (math.sqrt(steps.shape[-1]) / norm)).astype(np.float32)


def private(x: F64, noise: I64, radius: float) -> F32:
    """The whole arithmetic of a release, as `noise.onnx` has it, bit for bit: sums are of whole numbers, in any order.

    x: projected embeddings (..., k), finite float64. noise: (..., k), steps of the grid, below 2^26. Returns (..., k) of norm
    sqrt(k).
    """
    return renormalised(clipped(x, radius) + noise)


Arithmetic = Callable[["F64", "I64"], "F32"]


@dataclass(frozen=True, eq=False)
class Release:
    """One private vector, and what it told of the speaker."""

    vector: F32 = field(repr=False)  # S', shape (k,), norm sqrt(k), read-only: all that the decoder gets of the speaker
    mu: float | None  # spent; 0: it depends on nothing of the speaker; None: no bound holds
    calibration: Calibration
    enrolled: bool  # an embedding went in, else a constant
    seeded: bool  # the noise can be drawn again by who knows the seed

    def __str__(self) -> str:
        if not self.enrolled:
            return "no enrolment: the speaker channel depends on nothing of the speaker (mu 0)"
        if self.mu is None:
            return "noise from a seed: no bound holds, since who knows the seed can take the noise off"
        floor = f"no attacker on the speaker channel has an EER below {eer_floor(self.mu):.4g}"
        return f"mu {self.mu:g} for this session (calibration {self.calibration}): {floor}"


@dataclass(frozen=True)
class Mechanism:
    """What stays the same over releases. ValueError, in one line, for what is out of range.

    Args:
        mu: how well speakers may be told apart, 0.01 to 100: 1 leaves the best attacker an EER of 0.31.
        size: numbers of an embedding.
        dimensions: k, numbers of a private vector, 1 to 512.
        arithmetic: an embedding (size,) float64 and noise (k,), in steps of the grid, to the private vector: `private`, after
            whatever projection; `noise.onnx` does both. It gets zeros where no enrolment is, and has to give then what
            depends on the noise alone.
        calibration: "sound" has mu; "paper" has half the noise, and spends 2 mu.
    """

    mu: float
    size: int
    dimensions: int
    arithmetic: Arithmetic = field(repr=False)
    calibration: Calibration = "sound"

    def __post_init__(self) -> None:
        check_mu(self.mu)
        if not 1 <= self.dimensions <= MOST_DIMENSIONS:
            raise ValueError(f"dimensions={self.dimensions!r}: give 1 to {MOST_DIMENSIONS}")
        if self.calibration not in ("sound", "paper"):
            raise ValueError(f"calibration={self.calibration!r}: give sound or paper")

    @property
    def spends(self) -> float:
        """The mu of one release of an embedding: what a ledger is told before it."""
        return spent(self.mu, self.calibration)

    @property
    def scale(self) -> float:
        """The parameter of the discrete Gaussian, in steps of the grid."""
        return math.sqrt(noise_scale(self.mu, STEPS, self.calibration) ** 2 + 1 / 8)

    def release(self, embedding: npt.ArrayLike | None, entropy: bytes | None = None) -> Release:
        """Make a private vector, with noise of its own: 0.4 ms for 16 dimensions.

        Args:
            embedding: shape (size,), finite, of any norm; None where no enrolment is: a constant then takes its place.
            entropy: 16 bytes or more that replace the system's, which makes the release repeatable and voids the bound. The
                noise also depends on the embedding: one seed for two speakers does not give their difference away.

        Raises:
            ValueError: the embedding has another shape or is not finite. No message tells more of it.
        """
        x = np.zeros(self.size) if embedding is None else checked(embedding, self.size)
        noise = self.draw() if entropy is None else self._seeded(entropy, x)
        vector = self.arithmetic(x, noise)
        vector.flags.writeable = False
        mu = 0.0 if embedding is None else None if entropy is not None else self.spends
        return Release(vector, mu, self.calibration, enrolled=embedding is not None, seeded=entropy is not None)

    def draw(self) -> I64:
        """Noise for one release, shape (k,), in steps of the grid, from the system's entropy. To be used once."""
        # The modules, not `opendp.prelude`: 0.05 s of import instead of 1.2.
        from opendp.domains import atom_domain, vector_domain
        from opendp.measurements import make_gaussian
        from opendp.metrics import l2_distance
        from opendp.mod import enable_features

        enable_features("contrib")
        gaussian = make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), self.scale)
        return np.array(gaussian([0] * self.dimensions), np.int64)

    def _seeded(self, entropy: bytes, x: F64) -> I64:
        """Noise for repeatable runs; that it is drawn in floating point does no more harm, since no bound holds."""
        if len(entropy) < _LEAST_ENTROPY:
            raise ValueError(f"entropy of {len(entropy)} bytes: give {_LEAST_ENTROPY} or more, or None for the system's")
        scale = self.scale
        seed = hashlib.sha256(b"velavox noise" + repr(scale).encode() + x.tobytes() + entropy).digest()
        random = np.random.Generator(np.random.PCG64DXSM(int.from_bytes(seed, "little")))
        return np.rint(random.standard_normal(self.dimensions) * scale).astype(np.int64)


def checked(embedding: npt.ArrayLike, size: int) -> F64:
    """`embedding` as finite float64 of shape (size,); ValueError if it is anything else."""
    x: npt.NDArray[Any] | None
    try:
        x = np.asarray(embedding)
    except ValueError:  # a ragged list
        x = None
    if x is None or x.dtype.kind not in "fiu" or x.shape != (size,):
        found = "no array" if x is None else f"shape {x.shape}, {x.dtype}"
        raise ValueError(f"embedding of {found}: give real numbers, shape ({size},)")
    with np.errstate(over="ignore"):  # of wider floats, which become infinite
        x = x.astype(np.float64)
    if not np.isfinite(x).all():
        raise ValueError("embedding: holds NaN or infinity; give another recording for the enrolment")
    return x


def check_mu(mu: float) -> None:
    """ValueError for a mu that the mechanism does not offer."""
    if not LOWEST_MU <= mu <= HIGHEST_MU:
        raise ValueError(f"mu={mu!r}: give {LOWEST_MU:g} to {HIGHEST_MU:g}")

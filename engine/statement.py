"""What the speaker mechanism promises, exactly, and what it does not speak of: as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from ..models_onnx.measured import content_leak
from .accountant import Calibration, eer_floor, eps_at, eps_hat, largest_tpr, noise_scale, over_sessions, spent
from .mechanism import STEPS, check_mu

FPRS = (1e-2, 1e-3, 1e-4)
DELTAS = (1e-3, 1e-5, 1e-6, 1e-9)
MOST_SESSIONS = 10**6

SCOPE = (
    "The bound speaks of the speaker embedding alone. Timing, pitch, accent and words reach the output by another way, and "
    "tell of the speaker too: published EERs of whole systems lie below the floor where mu is 0.5 or less.",
    "It holds for any two speakers, against any attacker, who may know both embeddings and everything else but the noise.",
    "A session is one private vector, for as long as the voice stays the same. A new voice of the same speaker is another one.",
    "Without enrolment a constant takes the embedding's place: the speaker channel then depends on nothing of the speaker, "
    "over any number of sessions (mu 0).",
    "A seed voids the bound: who knows it can take the noise off.",
    f"The noise is an exact discrete Gaussian on a grid of U/{STEPS}, drawn by OpenDP from the system's entropy. Embeddings "
    "are rounded to the grid before they are clipped, so that rounding adds nothing to the sensitivity.",
)


@dataclass(frozen=True)
class Statement:
    """Of releases asked for with `mu` and `calibration`. ValueError, in one line, for what is out of range."""

    mu: float
    calibration: Calibration = "sound"
    sessions: int = 1

    def __post_init__(self) -> None:
        check_mu(self.mu)
        if not 1 <= self.sessions <= MOST_SESSIONS:
            raise ValueError(f"sessions={self.sessions!r}: give 1 to {MOST_SESSIONS}")

    def as_json(self) -> dict[str, Any]:
        """Plain numbers; lengths in radii, multiples of U, the norm that embeddings are clipped to."""
        return {
            "mu": self.mu,
            "calibration": self.calibration,
            "sensitivity_radii": 2.0,
            "sigma_radii": noise_scale(self.mu, 1.0, self.calibration),
            "grid_radii": 1 / STEPS,
            "after": [self._after(n) for n in sorted({1, self.sessions})],
            "scope": list(SCOPE),
            "content_leak": {mode: vars(leak) for mode, leak in content_leak().items()},
        }

    def as_text(self) -> str:
        """For a terminal of 120 columns."""
        value = self.as_json()
        lines = [
            f"mu {self.mu:g}, calibration {self.calibration}: Gaussian noise on the speaker embedding, drawn once a session",
            "",
            "  U            the norm that embeddings are clipped to",
            "  sensitivity  2 U, the largest distance of two clipped embeddings",
            f"  sigma        {value['sigma_radii']:.6g} U, in each dimension",
        ]
        if self.calibration == "paper":
            lines += ["  mu           twice what was asked for: sigma = U/mu, as in the paper, takes U for the sensitivity"]
        columns = [dict(_cells(after)) for after in value["after"]]
        lines += ["", *(f"  {row:32}" + "".join(f"{c[row]:>12}" for c in columns) for row in columns[0]), ""]
        for text in (*value["scope"], *_measured()):
            lines += wrap(text, 118, initial_indent="- ", subsequent_indent="  ")
        return "\n".join(lines)

    def _after(self, sessions: int) -> dict[str, Any]:
        """What so many sessions have spent, and what the best attacker on the speaker channel makes of it."""
        mu = over_sessions(spent(self.mu, self.calibration), sessions)
        return {
            "sessions": sessions,
            "mu": mu,
            "eer_floor": eer_floor(mu),
            "largest_tpr": [{"fpr": fpr, "tpr": largest_tpr(fpr, mu)} for fpr in FPRS],
            "eps_delta": [{"eps": eps_at(delta, mu), "delta": delta} for delta in DELTAS],
            "eps_hat": [{"fpr": fpr, "eps_hat": eps_hat(fpr, mu)} for fpr in FPRS],
        }


def _measured() -> Iterator[str]:
    """What the neural voice lets through beside the private vector, where it is known of the graphs that are there."""
    leaks = content_leak()
    if leaks:
        rates = ", ".join(f"{leak.eer:.1%} ({leak.low:.1%} to {leak.high:.1%}) in mode {mode}" for mode, leak in leaks.items())
        yield (
            "Measured, not proven: an attacker on all that velavox's own decoder gets but the private vector has an EER of "
            f"{rates}; of {next(iter(leaks.values())).speakers} speakers, 95 % intervals. A stronger one may do better."
        )


def _cells(after: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "after sessions", f"{after['sessions']}"
    yield "mu", f"{after['mu']:.4g}"
    yield "EER, at least", f"{after['eer_floor']:.4g}"
    for point in after["largest_tpr"]:
        yield f"TPR at FPR {point['fpr']:g}, at most", f"{point['tpr']:.4g}"
    for point in after["eps_delta"]:
        yield f"eps at delta {point['delta']:g}", f"{point['eps']:.4g}"
    for point in after["eps_hat"]:
        yield f"eps-hat at FPR {point['fpr']:g}, at most", f"{point['eps_hat']:.4g}"

"""What an attacker's scores are kept in: trials, each of a voice against a claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from ..kernels.jit import F64, I64

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Trials:
    """How alike the attacker finds each voice and what is claimed of it, and whether the claim is true.

    ValueError if lengths differ, or somebody is claimed and nobody spoke.
    """

    values: F64  # shape (n,), higher: more alike
    same: Flags  # shape (n,), the claim is true: of the claimed speaker, or of the class that an attribute attacker claims
    speakers: Sequence[str] | None = None  # who spoke: the unit of intervals; None: the trial is
    claimed: Sequence[str] | None = None  # the speaker who is claimed; None where a class is
    tests: Sequence[str] | None = None  # of which recording (or recordings pooled) each trial is

    def __post_init__(self) -> None:
        columns = self.values, self.same, self.speakers, self.claimed, self.tests
        lengths = {len(column) for column in columns if column is not None}
        if len(lengths) != 1:
            raise ValueError(f"columns of {', '.join(map(str, sorted(lengths)))} trials: give them one length")
        if self.claimed is not None and self.speakers is None:
            raise ValueError("who is claimed is known, who spoke is not: give both, or neither")

    @classmethod
    def between(cls, values: F64, speakers: Sequence[str], claimed: Sequence[str], tests: Sequence[str] | None = None) -> Self:
        """Of speakers against claimed speakers: the claim is true where they are one."""
        return cls(values, np.equal(speakers, claimed), speakers, claimed, tests)

    @property
    def true(self) -> F64:
        """Scores of true claims."""
        return self.values[self.same]

    @property
    def false(self) -> F64:
        """Scores of false claims."""
        return self.values[~self.same]

    def rows(self, wanted: I64 | Flags) -> Trials:
        """The trials of these numbers, or where this is true."""
        numbers = np.flatnonzero(wanted) if wanted.dtype == np.bool_ else wanted
        columns = self.speakers, self.claimed, self.tests
        names = (None if column is None else [column[i] for i in numbers] for column in columns)
        return Trials(self.values[numbers], self.same[numbers], *names)

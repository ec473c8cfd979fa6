"""What an attacker's scores are kept in: trials, each of a voice against a claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self, overload

import numpy as np
import numpy.typing as npt

from ..kernels.jit import F64, I64

Flags = npt.NDArray[np.bool_]


class Names(Sequence[str]):
    """A column of names in the room of numbers: millions of trials are of few speakers."""

    def __init__(self, numbers: npt.NDArray[np.integer], names: Sequence[str]) -> None:
        self.numbers, self.names = numbers, names

    @classmethod
    def of(cls, column: Sequence[str]) -> Names:
        """The same names; their numbers are in the order of the alphabet, if it is not such a column already."""
        if isinstance(column, Names):
            return column
        names, numbers = np.unique(np.asarray(column, np.str_), return_inverse=True)
        return cls(numbers.astype(np.int32), [str(name) for name in names])

    def numbered(self, names: Sequence[str]) -> I64:
        """Of each entry, the place of its name among other `names`; -1 if it is not there."""
        places = {name: place for place, name in enumerate(names)}
        place = np.array([places.get(name, -1) for name in self.names], np.int64)
        return np.asarray(place[self.numbers])

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[str]:
        return (self.names[number] for number in self.numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Names: ...
    def __getitem__(self, index: int | slice) -> str | Names:
        return Names(self.numbers[index], self.names) if isinstance(index, slice) else self.names[self.numbers[index]]

    def present(self) -> list[str]:
        """Each name that an entry has, once."""
        return [self.names[number] for number in np.unique(self.numbers)]


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
        columns = (None if column is None else Names.of(column) for column in (self.speakers, self.claimed, self.tests))
        kept = (None if column is None else Names(column.numbers[numbers], column.names) for column in columns)
        return Trials(self.values[numbers], self.same[numbers], *kept)

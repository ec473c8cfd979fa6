"""How many phones the recogniser gets wrong, of speakers that it has not heard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from ...bench.recognition import edits
from .packs import Pack, Row
from .recogniser import ROW, Recogniser
from .recogniser_units import spoken
from .student import features

_BATCH = 16
_TAIL = 20  # frames after a recording's end, in which its last phones are said


@dataclass(frozen=True)
class PhoneErrors:
    """Edits between the phones spoken and those recognised, silence left out."""

    edits: int
    phones: int

    def __add__(self, other: PhoneErrors) -> PhoneErrors:
        return PhoneErrors(self.edits + other.edits, self.phones + other.phones)

    @property
    def rate(self) -> float:
        """From 0; insertions can lift it above 1. NaN if nothing was spoken."""
        return self.edits / self.phones if self.phones else float("nan")

    def __str__(self) -> str:
        return f"PER {self.rate:.3f}"


def phone_errors(recogniser: Recogniser, pack: Pack, source: str = "", most: int | None = None) -> PhoneErrors:
    """Of the likeliest path, over rows of `pack` whose speaker's name begins with `source`; over `most`, evenly spread."""
    total = PhoneErrors(0, 0)
    for row, units in heard(recogniser, pack, source, most):
        wanted = spoken(pack.state[row.start : row.start + row.frames]).phone.tolist()
        total += PhoneErrors(edits(wanted, greedy(units)), len(wanted))
    return total


def greedy(units: torch.Tensor) -> list[int]:
    """The phones of the likeliest class of each row, (rows, UNITS): what repeats is one, blanks are none."""
    best = torch.unique_consecutive(units.argmax(-1))
    return best[best > 0].tolist()  # type: ignore[no-any-return]


def heard(recogniser: Recogniser, pack: Pack, source: str = "", most: int | None = None) -> Iterator[tuple[Row, torch.Tensor]]:
    """Each row that `phone_errors` scores, with the logits of its units, (rows, UNITS)."""
    rows = [r for r in pack.rows if r.speaker.startswith(source)]
    rows = sorted(rows[:: max(1, len(rows) // most)] if most else rows, key=lambda r: r.frames)
    for start in range(0, len(rows), _BATCH):
        chosen = rows[start : start + _BATCH]
        longest = -(-(chosen[-1].frames + _TAIL) // ROW) * ROW
        mel = np.zeros((len(chosen), longest, pack.mel.shape[1]), np.float32)
        for b, row in enumerate(chosen):
            mel[b, : row.frames] = features(pack.mel[row.start : row.start + row.frames].astype(np.float32))
        with torch.no_grad():
            outputs, _ = recogniser(torch.from_numpy(mel), recogniser.fresh(len(chosen)))
        for row, units in zip(chosen, outputs.units, strict=True):
            yield row, units[: -(-(row.frames + _TAIL) // ROW)]

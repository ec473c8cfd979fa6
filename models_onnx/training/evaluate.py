"""How often the student is right, on the speech frames of speakers that it has not heard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from ...engine.content import phones
from . import pitch
from .packs import Pack, Row
from .student import LATE, PAIR, SOON, Outputs, Student, features

_CLOSE = 0.066  # of an F0 that counts as right
_BATCH = 16


@dataclass(frozen=True)
class Scores:
    """Parts from 0 to 1."""

    late: float  # phones right, by the sums of their states, at LATE frames of look-ahead
    soon: float  # phones right at SOON
    late_top3: float
    voicing: float  # frames right
    pitch: float  # of those voiced and found voiced

    def __str__(self) -> str:
        phones = f"late {self.late:.3f} (top 3 {self.late_top3:.3f}) soon {self.soon:.3f}"
        return f"{phones} voicing {self.voicing:.3f} F0 {self.pitch:.3f}"


def accuracy(student: Student, pack: Pack, source: str = "", most: int | None = None) -> Scores:
    """Scores over the rows of `pack` whose speaker's name begins with `source`; over `most` of them, evenly spread."""
    of_state = torch.from_numpy(phones.phone_of_state())
    right = np.zeros(5)
    count = np.zeros(5)
    for rows, outputs in run(student, pack, source, most):
        for b, row in enumerate(rows):
            span = slice(row.start, row.start + row.frames)
            state = torch.from_numpy(pack.state[span].astype(np.int64))
            speech = (state != phones.IGNORED) & (state != 0)
            phone = of_state[state.clamp(max=phones.STATES - 1)]
            n = row.frames - row.frames % PAIR
            late = _by_phone(outputs.states[b, LATE:n], of_state)
            at = speech[: n - LATE]
            wanted = phone[: n - LATE][at]
            best = late[at].topk(3).indices
            right[0] += (best[:, 0] == wanted).sum().item()
            right[2] += (best == wanted[:, None]).any(1).sum().item()
            count[[0, 2]] += len(wanted)
            at, wanted = speech[: n - SOON], phone[: n - SOON]
            right[1] += (outputs.phones[b, SOON:n].argmax(-1) == wanted)[at].sum().item()
            count[1] += at.sum().item()
            tone, heard = torch.from_numpy(pack.pitch[span].astype(np.int64))[: n - SOON], outputs.pitch[b, SOON:n].argmax(-1)
            known = tone != pitch.IGNORED
            right[3] += ((tone > 0) == (heard > 0))[known].sum().item()
            count[3] += known.sum().item()
            both = known & (tone > 0) & (heard > 0)
            right[4] += ((tone - heard).abs() * pitch.STEP < np.log1p(_CLOSE))[both].sum().item()
            count[4] += both.sum().item()
    late_right, soon, top3, voicing, close = (right / np.maximum(count, 1)).tolist()
    return Scores(late_right, soon, top3, voicing, close)


def run(student: Student, pack: Pack, source: str = "", most: int | None = None) -> Iterator[tuple[list[Row], Outputs]]:
    """Outputs for the rows that `accuracy` scores, in batches of similar length; frames past a row's end are padding."""
    rows = [r for r in pack.rows if r.speaker.startswith(source)]
    rows = sorted(rows[:: max(1, len(rows) // most)] if most else rows, key=lambda r: r.frames)
    for start in range(0, len(rows), _BATCH):
        chosen = rows[start : start + _BATCH]
        longest = chosen[-1].frames // PAIR * PAIR + PAIR
        heard = np.zeros((len(chosen), longest, pack.mel.shape[1]), np.float32)
        for b, row in enumerate(chosen):
            heard[b, : row.frames] = features(pack.mel[row.start : row.start + row.frames].astype(np.float32))
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            outputs, _ = student(torch.from_numpy(heard), student.fresh(len(chosen)))
        yield chosen, Outputs(*(o.float() for o in outputs))


def _by_phone(states: torch.Tensor, of_state: torch.Tensor) -> torch.Tensor:
    """Probabilities of phones from logits of states, (frames, states) -> (frames, phones)."""
    total = torch.zeros(len(states), len(phones.PHONES))
    return total.index_add(1, of_state, states.softmax(-1))

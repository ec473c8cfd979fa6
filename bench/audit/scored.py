"""From how alike recordings are to trials: of each speaker who can be claimed, a number of enrolments, pooled.

average   mean similarity to the enrolment utterances
maximum   the largest of them: the worst case

relaxed   every trial against every speaker of its corpus
strict    only where the text does not tell: trials whose text both the claimed speaker and somebody else say in theirs

same, cross   enrolments of the trial's own channel, or of others only
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...kernels.jit import F32, F64
from ..attackers import corpus, normed
from ..selection import LEAST_SPEAKERS
from ..trials import Flags, Trials
from .recordings import Recording

RELAXED, STRICT = "relaxed", "strict"
AVERAGE, MAXIMUM = "average", "maximum"
ALL, SAME, CROSS = "all", "same", "cross"

Likeness = npt.NDArray[np.float32]  # (candidates, enrolments, trials): higher is more alike, NaN where two are not compared


@dataclass(frozen=True)
class Cell:
    """One question to the scores."""

    enrolment: int  # utterances
    pooling: str
    channel: str = ALL
    form: str = RELAXED


@dataclass(frozen=True)
class Scored:
    """The answer. `trials` is None where there are too few."""

    trials: Trials | None
    speakers: int  # who are claimed
    notes: tuple[str, ...]


def cosine(enrolled: F64, trials: F64) -> F64:
    """Of vectors, shape (n, d) and (m, d): shape (n, m)."""
    return normed(enrolled) @ normed(trials).T


class Scorer:
    """Enrolments and trials, and who may be compared with whom."""

    def __init__(
        self,
        enrol: Sequence[Recording],
        trial: Sequence[Recording],
        across: bool = False,
        pairs: frozenset[tuple[str, str]] | None = None,
    ) -> None:
        """`enrol`: of each speaker in the order of use; `across`: corpora, too, are compared; `pairs`: (claimed speaker,
        utterance), where no others are."""
        self._enrol, self._trial = tuple(enrol), tuple(trial)
        self._rows: dict[str, list[int]] = defaultdict(list)
        for i, recording in enumerate(enrol):
            self._rows[recording.speaker].append(i)
        self._across, self._pairs = across, pairs
        self._spoke = np.array([r.speaker for r in trial])
        self._corpus = np.array([corpus(r.speaker) for r in trial])
        self._channel = np.array([r.channel for r in trial])
        self._enrolled_channel = np.array([r.channel for r in enrol])
        self._text = np.array([told(r.text) for r in trial])
        self._allowed = {name: self._near(name) for name in self._rows}  # trials that may be held against each speaker
        self._told = {name: self._repeated(name) for name in self._rows}  # and those where the text does not tell

    def cells(self, lengths: Sequence[int]) -> list[Cell]:
        """What can be asked: channels apart where more than one tells anything, strict where texts come again."""
        kinds = [ALL]
        theirs = {name: set(self._enrolled_channel[rows]) for name, rows in self._rows.items()}
        mine = [(channel, theirs.get(name, set())) for name, channel in zip(self._spoke, self._channel, strict=True)]
        if any(channel in those for channel, those in mine) and any(those - {channel} for channel, those in mine):
            kinds += [SAME, CROSS]
        forms = [RELAXED, STRICT] if any(told.any() for told in self._told.values()) else [RELAXED]
        longest = max(map(len, self._rows.values()))
        return [
            Cell(length, pooling, kind, form)
            for form in forms
            for kind in kinds
            for length in lengths
            if length <= longest
            for pooling in (AVERAGE, MAXIMUM)
        ]

    def __call__(self, cell: Cell, likeness: Likeness) -> Scored:
        """The trials of `cell`."""
        values: list[F32] = []
        columns: list[npt.NDArray[np.intp]] = []
        claimed: list[str] = []
        for name in sorted(self._rows):
            allowed = self._allowed[name] if cell.form == RELAXED else self._told[name]
            for rows, wanted in self._channels(name, cell.channel):
                found, scores = _pooled(likeness, rows, np.flatnonzero(allowed & wanted), cell)
                values.append(scores)
                columns.append(found)
                claimed += [name] * len(found)
        row = np.concatenate(columns)
        enough = sorted(set(claimed))
        lacking = len(enough) < len(self._rows)
        notes = (f"{len(enough)} of {len(self._rows)} speakers have {cell.enrolment} enrolments for it",) if lacking else ()
        if len(enough) < LEAST_SPEAKERS:
            return Scored(None, len(enough), notes)
        made = Trials(
            np.concatenate(values).astype(np.float64),
            np.equal(self._spoke[row], claimed),
            self._spoke[row].tolist(),
            claimed,
            [self._trial[i].utterance for i in row],
        )
        both = made.same.any() and not made.same.all()
        return Scored(made if both else None, len(enough), notes)

    def _near(self, name: str) -> Flags:
        near = np.ones(len(self._trial), bool) if self._across else self._corpus == corpus(name)
        if self._pairs is not None:
            near &= np.array([(name, r.utterance) in self._pairs for r in self._trial])
        return near

    def _repeated(self, name: str) -> Flags:
        """Trials whose text this speaker says in his own trials, and somebody else in one that may be held against him."""
        own, near = self._spoke == name, self._allowed[name]
        shared = (set(self._text[own & near]) & set(self._text[~own & near])) - {""}
        return np.asarray(np.isin(self._text, list(shared)) & near)

    def _channels(self, name: str, kind: str) -> list[tuple[list[int], Flags]]:
        """Enrolments of a speaker, and the trials that they are for."""
        rows = self._rows[name]
        if kind == ALL:
            return [(rows, np.ones(len(self._trial), bool))]
        return [
            ([i for i in rows if (self._enrolled_channel[i] == channel) == (kind == SAME)], np.equal(self._channel, channel))
            for channel in sorted(set(self._channel))
        ]


def told(text: str) -> str:
    """A text as it is compared: letters and digits only, small."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


def _pooled(
    likeness: Likeness, rows: Sequence[int], columns: npt.NDArray[np.intp], cell: Cell
) -> tuple[npt.NDArray[np.intp], F32]:
    """Which of these trials are compared with the speaker of these enrolments, and the scores; none if he has too few."""
    part = likeness[:, rows][:, :, columns]
    compared = np.asarray(~np.isnan(part).any(0))  # (enrolments, trials): one has no vector, or the attacker has learnt from it
    usable = np.flatnonzero(compared.any(0))
    whole = np.flatnonzero(compared[:, usable].all(1))[: cell.enrolment]
    if len(whole) < cell.enrolment or not len(usable):
        return columns[:0], np.zeros(0, np.float32)
    part = part[:, whole][:, :, usable]
    scores = part.mean(1) if cell.pooling == AVERAGE else part.max(1)
    return columns[usable], scores.max(0)

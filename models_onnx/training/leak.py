"""How well the content channel alone tells speakers apart, batch by batch in torch; `bench/leak.py` says how it is attacked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...bench.attackers import Voices, learnt
from ...bench.bootstrap import Figure
from ...bench.eer import figure
from ...bench.leak import statistics as of_channel
from ...kernels.jit import F64
from .content import channel
from .evaluate import run
from .packs import Pack
from .student import Student


@dataclass(frozen=True)
class Statistics:
    """Utterances of one pack: names, speakers, and a row of numbers each."""

    utterances: list[str]
    speakers: list[str]
    values: F64

    def of(self, wanted: Iterable[int]) -> Voices:
        """The utterances of these numbers."""
        rows = list(wanted)
        return Voices(self.values[rows], [self.speakers[i] for i in rows])


def statistics(student: Student, pack: Pack, source: str = "") -> Statistics:
    """Of the frames in which the channel says speech."""
    names: list[str] = []
    speakers: list[str] = []
    values: list[F64] = []
    for rows, outputs in run(student, pack, source):
        content = channel(outputs)
        for b, row in enumerate(rows):
            found = of_channel(content[b, : row.frames].numpy())
            if found is not None:
                values.append(found)
                names.append(row.utterance)
                speakers.append(row.speaker)
    return Statistics(names, speakers, np.array(values))


def attack(known: Statistics, unknown: Statistics, enrolled: frozenset[str]) -> Figure:
    """Equal error rate, 0 to 1, of the attacker who has learnt from `known`, for the speakers of `unknown`.

    enrolled: names of utterances that enrol their speaker; the others are trials against every speaker of the same corpus.
    """
    enrols = [name in enrolled for name in unknown.utterances]
    everyone = known.of(range(len(known.speakers)))
    return figure(learnt(everyone, unknown.of(np.flatnonzero(enrols)), unknown.of(np.flatnonzero(np.logical_not(enrols)))))

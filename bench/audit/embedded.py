"""What encoders make of recordings: vectors cached by content, computed on all cores.

First every file is looked at, whole: whether it can be read, its rate, its length, how much of it is speech. Nothing is
embedded before all have been. Vectors are kept by the samples at 16 kHz they were made of, so a file's name and container do
not matter, and what `velavox.bench.anonymizers` has found out counts here as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...engine.embedding import spoken as speech_of
from ...engine.failure import FileFailure, Unusable
from ...engine.heard import RATE, hear
from ...engine.workers import Died
from ...kernels.jit import F32, F64
from ..condition import Condition, Spoken, code
from ..encoders import Encoder
from ..judged import file_of, vector
from ..remembered import Remembered, digest
from . import inverted
from .work import Job, Told, done

_DIED = "its process died, out of memory, most likely"


@dataclass(frozen=True)
class Sound:
    """One file, looked at."""

    path: Path
    digest: str = ""  # of its samples at 16 kHz
    seconds: float = 0.0
    speech: float = 0.0  # seconds without pauses
    rate: int = 0  # Hz
    channels: int = 0
    not_finite: int = 0  # samples
    warnings: tuple[str, ...] = ()
    trouble: str = ""  # why it cannot be read

    def samples(self) -> F32:
        """Mono, at 16 kHz."""
        return hear(self.path).samples


@dataclass(frozen=True)
class Take:
    """An utterance to be anonymized: its file, the name of the output, and the key of the voice."""

    path: Path
    key: str
    voice: str


@dataclass(frozen=True)
class _Look:
    path: Path

    def __call__(self) -> Sound:
        try:
            heard = hear(self.path)
        except FileFailure as failure:
            return Sound(self.path, trouble=str(failure))
        x = heard.samples
        speech = len(speech_of(x)) / RATE
        where = digest(x), len(x) / RATE, speech, heard.rate, heard.channels, heard.not_finite, heard.warnings
        return Sound(self.path, *where)


@dataclass(frozen=True)
class _Speak:
    spoken: Spoken
    take: Take

    def __call__(self) -> Sound:
        path = self.spoken.path(self.take.key)
        try:
            if not path.exists():
                self.spoken(hear(self.take.path).samples, self.take.key, self.take.voice)
        except Exception as error:  # a method that fails on one recording is told, and the others go on
            return Sound(path, trouble=f"{self.spoken.condition} fails: {type(error).__name__}: {error}")
        return _Look(path)()


@dataclass(frozen=True)
class _Embed:
    path: Path
    encoders: tuple[str, ...]

    def __call__(self) -> dict[str, list[float] | None]:
        x = hear(self.path).samples
        return {encoder: vector(encoder, x) for encoder in self.encoders}


@dataclass(frozen=True)
class _Undo:
    path: Path
    condition: Condition
    encoders: tuple[str, ...]

    def __call__(self) -> dict[str, list[list[float] | None]]:
        x = hear(self.path).samples
        candidates = [undoing(x) for undoing in inverted.undoings(self.condition)]
        return {encoder: [vector(encoder, y) for y in candidates] for encoder in self.encoders}


class Embedded:
    """Vectors of recordings by several encoders; NaN where one of them finds too little speech."""

    def __init__(self, folder: Path, encoders: Sequence[str], processes: int, told: Told) -> None:
        """`folder` keeps them; `encoders` are names of `encoders.ENCODERS`."""
        self._folder, self.encoders = folder, tuple(encoders)
        self._processes, self._told = processes, told
        self._known = {encoder: Remembered(folder / file_of(encoder)) for encoder in encoders}

    def sounds(self, paths: Sequence[Path]) -> list[Sound]:
        """What the files are."""
        return self._sounds([_Look(path) for path in paths], paths)

    def speak(self, spoken: Spoken, takes: Sequence[Take]) -> list[Sound]:
        """The same of what is made of them, kept in the folder of `spoken`."""
        return self._sounds([_Speak(spoken, take) for take in takes], [spoken.path(take.key) for take in takes])

    def vectors(self, sounds: Sequence[Sound]) -> dict[str, F64]:
        """By encoder, shape (n, d)."""
        todo = {s.digest: s for s in sounds if any(s.digest not in known for known in self._known.values())}
        lacking = [tuple(e for e in self.encoders if s.digest not in self._known[e]) for s in todo.values()]
        jobs = [_Embed(s.path, encoders) for s, encoders in zip(todo.values(), lacking, strict=True)]
        self._find(jobs, list(todo.values()), self._known, {s.digest: s.digest for s in sounds})
        return {e: _table([known[s.digest] for s in sounds]) for e, known in self._known.items()}

    def undone(self, sounds: Sequence[Sound], condition: Condition) -> dict[str, F64]:
        """By encoder, shape (candidates, n, d): of each candidate that `inverted` has for speech that `condition` made."""
        version = hashlib.sha256(code().encode() + Path(inverted.__file__).read_bytes()).hexdigest()[:8]
        known = {e: Remembered(self._folder / f"undone-{version}-{file_of(e)}") for e in self.encoders}
        keys = {s.digest: f"{s.digest} {condition}" for s in sounds}
        todo = {s.digest: s for s in sounds if any(keys[s.digest] not in kept for kept in known.values())}
        jobs = [_Undo(s.path, condition, self.encoders) for s in todo.values()]
        self._find(jobs, list(todo.values()), known, keys)
        found = {e: [kept[keys[s.digest]] for s in sounds] for e, kept in known.items()}
        return {e: np.stack([_table([row[i] for row in rows]) for i in range(len(rows[0]))]) for e, rows in found.items()}

    def by(self, encoder: Encoder, key: str, sounds: Sequence[Sound]) -> F64:
        """Of an encoder that was made here, in this process; `key` names its weights."""
        known = Remembered(self._folder / f"adapted-{key}.jsonl")
        for number, sound in enumerate(sounds):
            self._told(number, len(sounds))
            if sound.digest not in known:
                try:
                    known[sound.digest] = [round(float(v), 6) for v in encoder(sound.samples())]
                except ValueError:
                    known[sound.digest] = None
        self._told(len(sounds), len(sounds))
        return _table([known[sound.digest] for sound in sounds])

    def _sounds(self, jobs: Sequence[Job[Sound]], paths: Sequence[Path]) -> list[Sound]:
        found = [Sound(path, trouble=_DIED) for path in paths]
        for number, result in done(jobs, self._processes, self._told):
            if not isinstance(result, Died):
                found[number] = result
        return found

    def _find(
        self,
        jobs: Sequence[Job[dict[str, Any]]],
        sounds: Sequence[Sound],
        known: Mapping[str, Remembered],
        keys: Mapping[str, str],
    ) -> None:
        """Do a job for each of `sounds`. Each result is kept as it comes: what is interrupted goes on from there."""
        for number, result in done(jobs, self._processes, self._told):
            if isinstance(result, Died):
                raise Unusable(f"{sounds[number].path}: {_DIED}; run again with --jobs 1, what is done counts")
            for encoder, found in result.items():
                known[encoder][keys[sounds[number].digest]] = found


def _table(rows: Sequence[Sequence[float] | None]) -> F64:
    """Rows of numbers, NaN for each that is None. ValueError if all are."""
    width = next((len(row) for row in rows if row is not None), 0)
    if not width:
        raise ValueError("no recording has enough speech: check that the folders hold speech, and its level")
    return np.array([[np.nan] * width if row is None else row for row in rows], np.float64)

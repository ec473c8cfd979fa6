"""What of speech is kept, beside who spoke: words, sound, melody, level and length; and how far its spectrum went.

PESQ is not here: it compares with the original as a telephone network's output with its input, and takes another voice for
distortion (and has no wheels). STOI compares the envelopes of third-octave bands in time, which an anonymizer that keeps the
timing need not change; it is given where the package pystoi is installed, and means nothing for a method that speaks anew.
DNSMOS needs no original.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from scipy.spatial.distance import pdist

from ...engine.embedding import spoken
from ...engine.stage import RATE
from ...kernels import fbank
from ...kernels.jit import F32, F64
from ..attackers import corpus
from ..bootstrap import Figure, ratio
from ..judged import Judges
from ..measure import level_change
from ..recognition import errors
from .prosody import prosody

# What each figure says; WER and CER are from 0, correlations, agreement and STOI up to 1.
MEANING = {
    "wer": "words wrong, by Whisper base",
    "cer": "letters wrong, by Whisper base",
    "dnsmos": "overall quality without a reference, 1 to 5 (P.835)",
    "f0_correlation": "of ln F0 with the original's, where both are voiced",
    "voicing_agreement": "part of the frames voiced in both or in neither",
    "stoi": "intelligibility as envelopes of bands compared with the original's; of methods that speak anew it says nothing",
    "duration_kept": "length over the original's",
    "level_change_db": "level over the original's, dB",
    "fbank_distance": "Euclidean distance of mean log mel energies from the original's",
    "fbank_between_speakers": "the same between originals of two speakers: the yardstick",
    "fbank_within_speaker": "the same between two originals of one speaker",
}
_MELS = 80
_LEAST = 50  # frames of speech for a mean spectrum


@dataclass(frozen=True)
class Pair:
    """An utterance before and after, mono at 16 kHz, read when it is its turn; its transcript, or ""."""

    speaker: str  # as "corpus:name"
    language: str
    transcript: str
    original: Callable[[], F32]
    anonymized: Callable[[], F32]


@dataclass(frozen=True)
class Utility:
    figures: dict[str, Figure]  # by the names of MEANING; a speaker counts by what he said
    counts: dict[str, int]  # utterances that each figure could not be had of
    notes: tuple[str, ...] = ()


@dataclass
class _Rows:
    """For each figure (speaker, numerator, denominator) of each utterance."""

    of: dict[str, list[tuple[str, float, float]]] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, speaker: str, above: float, below: float = 1.0) -> None:
        if np.isfinite(above):
            self.of.setdefault(name, []).append((speaker, above, below))
        else:
            self.lost[name] += 1


def utility(pairs: Sequence[Pair], judges: Judges | None = None, seed: int = 0) -> Utility:
    """All figures that can be had; of words and DNSMOS with `judges` only (extra `audit`)."""
    rows = _Rows()
    spectra: list[tuple[str, F64]] = []
    for pair in pairs:
        x, y = pair.original(), pair.anonymized()
        if not len(x) or not len(y):
            rows.lost["sound"] += 1
            continue
        _kept(rows, pair.speaker, x, y)
        before, after = _spectrum(x), _spectrum(y)
        if before is None or after is None:
            rows.lost["fbank_distance"] += 1
        else:
            rows.add("fbank_distance", pair.speaker, float(np.linalg.norm(after - before)))
            spectra.append((pair.speaker, before))
        if judges is not None:
            _judged(rows, pair, y, judges)
    figures = {name: ratio(rows.of[name], seed) for name in MEANING if name in rows.of}
    notes = [f"{count} utterances without {name}" for name, count in sorted(rows.lost.items())]
    return Utility({**figures, **_yardsticks(spectra)}, dict(rows.lost), tuple(notes))


def _kept(rows: _Rows, speaker: str, x: F32, y: F32) -> None:
    melody = prosody(x, y)
    rows.add("f0_correlation", speaker, melody.correlation)
    rows.add("voicing_agreement", speaker, melody.agreeing, melody.frames)
    rows.add("duration_kept", speaker, len(y), len(x))
    rows.add("level_change_db", speaker, level_change(x, y) if min(np.std(x), np.std(y)) > 1e-9 else float("nan"))
    stoi = _stoi()
    if stoi is not None:
        rows.add("stoi", speaker, stoi(x, y))


def _judged(rows: _Rows, pair: Pair, y: F32, judges: Judges) -> None:
    rows.add("dnsmos", pair.speaker, judges.dnsmos(y))
    if pair.transcript:
        found = errors(pair.transcript, judges.words(y, pair.language), pair.language)
        if found.words:  # a transcript may be marks alone
            rows.add("wer", pair.speaker, found.word_edits, found.words)
            rows.add("cer", pair.speaker, found.letter_edits, found.letters)


def _spectrum(x: F32) -> F64 | None:
    """Mean log mel energies of the speech, without its pauses and at one level, shape (_MELS,); None: too little of it."""
    frames = fbank.offline(spoken(x), num_mel=_MELS)
    return frames.mean(0, dtype=np.float64) if len(frames) >= _LEAST else None


def _yardsticks(spectra: Sequence[tuple[str, F64]]) -> dict[str, Figure]:
    """Mean distances of originals, over pairs of one corpus; without intervals, for they are the scale and not a finding."""
    if len(spectra) < 2:
        return {}
    names, vectors = np.array([name for name, _ in spectra]), np.array([vector for _, vector in spectra])
    corpora = np.array([corpus(name) for name in names])
    first, second = np.triu_indices(len(names), 1)
    distance = pdist(vectors)
    one, near = names[first] == names[second], corpora[first] == corpora[second]
    kinds = {"fbank_between_speakers": near & ~one, "fbank_within_speaker": one}
    return {name: Figure(float(distance[chosen].mean())) for name, chosen in kinds.items() if chosen.any()}


@cache
def _stoi() -> Callable[[F32, F32], float] | None:
    """The short-time objective intelligibility of the second of two signals; None: pystoi is not installed."""
    try:
        from pystoi import stoi
    except ImportError:
        return None

    def score(x: F32, y: F32) -> float:
        both = min(len(x), len(y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of too little speech, for which it gives 1e-5
            found = float(stoi(x[:both], y[:both], RATE))
        return found if found != 1e-5 else float("nan")

    return score

"""Segments of synthetic Mandarin from the times that the synthesizer gave to its letters.

Measured with pocketsphinx on English, a phone begins 52 ms before its letter does (quartiles 42 and 67 ms), where marks of
stress and gaps between words count as its beginning.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...engine.content.english import Piece
from ...engine.content.kokoro import FRAME
from ...engine.content.kokoro import RATE as KOKORO_RATE
from ...engine.content.phones import SILENCE
from ...kernels.jit import F32
from .align import Segment, in_thirds, read_labels
from .corpora import RATE, Utterance
from .journal import Journal
from .lines import append_to

_LETTER = FRAME * RATE // KOKORO_RATE  # samples of a frame at RATE
_LEAD = 832  # samples
_QUIET = 0.003  # RMS, of speech at 0.05
_HOP = 160


def segments_of(pieces: Sequence[Piece], frames: Sequence[int], samples: F32) -> list[Segment]:
    """Segments of samples at RATE, shape (n,), in which `pieces` are said; frames as of `timed.TimedKokoro.timed`."""
    ends = np.maximum(np.cumsum(frames) * _LETTER - _LEAD, 0)
    spans: list[tuple[str, int, int]] = [(SILENCE, 0, int(ends[0]))]
    letter = 0
    for letters, phone in pieces:
        letter += len(letters)
        end = int(ends[letter])
        if phone or letters in ",.":
            spans.append((phone or SILENCE, spans[-1][2], end))
    spans.append((SILENCE, spans[-1][2], len(samples)))
    return [in_thirds(*span) for span in _pauses_widened(spans, samples)]


def _pauses_widened(spans: list[tuple[str, int, int]], samples: F32) -> list[tuple[str, int, int]]:
    """Phones next to a pause end, or begin, where the sound does: the synthesizer gives pauses to their neighbours."""
    loud = np.sqrt(np.mean(samples[: len(samples) // _HOP * _HOP].reshape(-1, _HOP) ** 2, axis=1)) > _QUIET
    found: list[tuple[str, int, int]] = []
    for k, (phone, start, end) in enumerate(spans):
        heard = np.flatnonzero(loud[start // _HOP : end // _HOP]) * _HOP + start // _HOP * _HOP
        if phone != SILENCE and len(heard):
            if spans[k - 1][0] == SILENCE:
                start = max(start, int(heard[0]))
            if spans[k + 1][0] == SILENCE:
                end = min(end, int(heard[-1]) + _HOP)
        before = found[-1][2] if found else 0
        if phone != SILENCE and start > before:
            found.append((SILENCE, before, start))
        if phone != SILENCE and end > start:
            found.append((phone, start, end))
    return [*found, (SILENCE, found[-1][2], len(samples))]


def label_all(utterances: Sequence[Utterance], path: Path, journal: Journal) -> None:
    """As `align.align_all`, of synthetic utterances, from what is kept beside their audio."""
    known = {utterance for utterance, _ in read_labels(path)}
    missing = [u for u in utterances if u.utterance not in known]
    with append_to(path) as file:
        for u in journal.each(f"durations {path.stem}", missing, len(missing)):
            said = json.loads(Path(u.path).with_suffix(".json").read_text(encoding="utf-8"))
            segments = segments_of(said["pieces"], said["frames"], u.audio())
            file.write(json.dumps({"utterance": u.utterance, "segments": segments}) + "\n")

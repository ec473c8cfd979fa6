"""What the judges said of speech, remembered by its content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..kernels.jit import F32, F64
from . import quality, recognition
from .encoders import ENCODERS
from .remembered import Remembered, digest

# To be raised with what a judge says of the same speech.
_VERSIONS = {"ge2e": 1, "dvector": 1, "words": 2, "dnsmos": 1}


class Judges:
    """All judges, and one file a judge in `folder`, a line for each verdict."""

    def __init__(self, folder: Path) -> None:
        self._known = {judge: Remembered(folder / file_of(judge)) for judge in _VERSIONS}

    def embedding(self, encoder: str, samples: F32) -> F64 | None:
        """By one of `ENCODERS`; None of too little speech."""
        found = self._remember(encoder, "", samples, lambda: vector(encoder, samples))
        return None if found is None else np.asarray(found, np.float64)

    def words(self, samples: F32, language: str) -> str:
        return str(self._remember("words", language, samples, lambda: recognition.heard(samples, language)))

    def dnsmos(self, samples: F32) -> float:
        return float(self._remember("dnsmos", "", samples, lambda: quality.dnsmos(samples)))

    def _remember(self, judge: str, how: str, samples: F32, find: Callable[[], Any]) -> Any:
        key, known = digest(samples, how), self._known[judge]
        if key not in known:
            known[key] = find()
        return known[key]


def file_of(judge: str) -> str:
    """The name of the file of what a judge said; another version begins another one."""
    return f"{judge}-{_VERSIONS[judge]}.jsonl"


def vector(encoder: str, samples: F32) -> list[float] | None:
    """What is remembered of an encoder: six digits of each number; None of too little speech."""
    try:
        return [round(float(x), 6) for x in ENCODERS[encoder](samples)]
    except ValueError:
        return None

"""What the judges said of speech, remembered by its content: an interrupted comparison goes on, a repeated one costs little."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..kernels.jit import F32, F64
from . import quality, recognition
from .encoders import ENCODERS

# To be raised with what a judge says of the same speech.
_VERSIONS = {"ge2e": 1, "dvector": 1, "words": 2, "dnsmos": 1}


class Judges:
    """All judges, and one file a judge in `folder`, a line for each verdict."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._known = {judge: self._read(judge) for judge in _VERSIONS}

    def embedding(self, encoder: str, samples: F32) -> F64 | None:
        """By one of `ENCODERS`; None of too little speech."""
        found = self._remember(encoder, "", samples, lambda: _vector(encoder, samples))
        return None if found is None else np.asarray(found, np.float64)

    def words(self, samples: F32, language: str) -> str:
        return str(self._remember("words", language, samples, lambda: recognition.heard(samples, language)))

    def dnsmos(self, samples: F32) -> float:
        return float(self._remember("dnsmos", "", samples, lambda: quality.dnsmos(samples)))

    def _remember(self, judge: str, how: str, samples: F32, find: Callable[[], Any]) -> Any:
        key = hashlib.sha256(how.encode() + samples.tobytes()).hexdigest()[:32]
        known = self._known[judge]
        if key not in known:
            known[key] = find()
            with self._path(judge).open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, known[key]], ensure_ascii=False) + "\n")
        return known[key]

    def _read(self, judge: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self._path(judge).exists():
            for line in self._path(judge).read_text(encoding="utf-8").split("\n"):
                try:
                    key, value = json.loads(line)
                except ValueError:  # the last line of an interrupted run
                    continue
                found[key] = value
        return found

    def _path(self, judge: str) -> Path:
        return self._folder / f"{judge}-{_VERSIONS[judge]}.jsonl"


def _vector(encoder: str, samples: F32) -> list[float] | None:
    try:
        return [round(float(x), 6) for x in ENCODERS[encoder](samples)]
    except ValueError:
        return None

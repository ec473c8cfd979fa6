"""A method with its settings, as it stands in a comparison, and what it makes of speech."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import soundfile

from ..engine.atomic import atomically
from ..engine.host import Engine
from ..engine.methods import make
from ..engine.stage import RATE, Stage
from ..kernels.jit import F32

ORIGINAL = "original"  # not a method: speech as it is, what all others are compared with


@dataclass(frozen=True)
class Condition:
    """`settings`: names and values as on the command line; enroll=self enrols each utterance with itself."""

    method: str
    settings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Condition:
        """From "mcadams" or "dp:mode=low,mu=2"; ValueError, in a line, for no method, parameter or value."""
        method, _, rest = text.partition(":")
        pairs = [setting.partition("=") for setting in rest.split(",") if setting]
        found = cls(method, tuple((name, value) for name, _, value in pairs))
        if found.anonymizes:
            found._made()
        elif found.settings:
            raise ValueError(f"{text!r}: {ORIGINAL} has no settings")
        return found

    def __str__(self) -> str:
        return self.method + ":" * bool(self.settings) + ",".join(f"{name}={value}" for name, value in self.settings)

    @property
    def anonymizes(self) -> bool:
        return self.method != ORIGINAL

    def stage(self, samples: F32 | None = None) -> Stage:
        """A fresh one for an utterance, shape (n,), at 16 kHz; None: where it does not matter who speaks."""
        stage = self._made()
        if samples is not None and ("enroll", "self") in self.settings:
            stage.set_parameter("enroll", samples)
        return stage

    def speak(self, samples: F32, key: str, seed: int = 0) -> F32:
        """Mono speech at 16 kHz, shape (n,), in a voice that follows from seed and key; the delay is taken out."""
        if not self.anonymizes:
            return samples
        with Engine(self.stage(samples), sample_rate=RATE, on_error="raise", seed=seed, source=key) as engine:
            return np.concatenate([engine.process(samples), engine.flush()])[engine.latency :]

    def _made(self) -> Stage:
        return make(self.method, {name: value for name, value in self.settings if (name, value) != ("enroll", "self")})


class Spoken:
    """What a condition made of utterances, kept as FLAC in a folder of its own, named by it and a digest of seed, code and
    graphs: another version begins another folder."""

    def __init__(self, root: Path, condition: Condition, seed: int = 0) -> None:
        made = json.dumps([str(condition), seed, code()])
        name = "".join(c if c.isalnum() or c in "=.-" else "_" for c in str(condition))
        self.condition, self._seed = condition, seed
        self.folder = root / f"{name}-{hashlib.sha256(made.encode()).hexdigest()[:8]}"

    def path(self, key: str) -> Path:
        """Of the file that what `key` names is kept in."""
        return self.folder / f"{key}.flac"

    def __call__(self, samples: F32, key: str, voice: str = "") -> F32:
        """As `speak`, from the folder if it is there; in the voice of another key if `voice` names one."""
        if not self.condition.anonymizes:
            return samples
        path = self.path(key)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            y = self.condition.speak(samples, voice or key, self._seed)
            with atomically(path) as part:
                soundfile.write(part, y, RATE, format="FLAC", subtype="PCM_16")
        return np.asarray(soundfile.read(path, dtype="float32")[0])


def code() -> str:
    """A digest of all that can change what a method makes of speech."""
    digest = hashlib.sha256()
    for room, kind in (("engine", ".py"), ("kernels", ".py"), ("models_onnx", ".json")):
        for file in sorted(files(f"velavox.{room}").iterdir(), key=lambda f: f.name):
            if file.name.endswith(kind):
                digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()

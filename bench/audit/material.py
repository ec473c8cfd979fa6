"""What is audited: recordings that were checked, who plays which part, and how original and anonymized speech sound to
encoders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from ...kernels.jit import F64
from ..condition import Condition, Spoken
from . import checked
from .embedded import Embedded, Sound, Take
from .findings import Findings
from .protocol import Protocol, plan
from .recordings import Listing, Recording, counterparts

Level = Literal["utterance", "speaker"]
Part = Literal["enrol", "trial", "known"]
BOTH = "both"  # encoders, their vectors joined
_NAME = 60  # letters of an utterance in the name of a file


@dataclass(frozen=True)
class Side:
    """One condition. Rows are those of the protocol's recordings; NaN where one is not there or has too little speech."""

    sounds: Mapping[Part, Sequence[Sound | None]]
    vectors: Mapping[str, Mapping[Part, F64]]  # by encoder and part, shape (n, d)
    findings: Findings = field(default_factory=Findings)
    counts: Mapping[str, int] = field(default_factory=dict)


class Material:
    """The recordings, the protocol, and the originals."""

    def __init__(self, listing: Listing, embedded: Embedded, split: str = "", across: bool = False, seed: int = 0) -> None:
        """Look at all originals and divide them. ValueError, in a line, if that is not possible."""
        self.findings = Findings()
        self.findings.update(listing.findings)
        self.embedded, self.pairs, self.across, self.seed = embedded, listing.pairs, across, seed
        looked = embedded.sounds([r.path for r in listing.recordings])
        self.sounds = {r.utterance: sound for r, sound in zip(listing.recordings, looked, strict=True)}
        usable = checked.originals(listing.recordings, self.sounds, self.findings)
        digests = {r.utterance: self.sounds[r.utterance].digest for r in usable}
        self.protocol: Protocol = plan(usable, digests, self.findings, split, across, seed)
        known = {r.utterance: r for fold in self.protocol.folds for r in fold.known}
        self.parts: dict[Part, tuple[Recording, ...]] = {
            "enrol": self.protocol.enrol,
            "trial": self.protocol.trial,
            "known": tuple(known.values()),
        }
        used = {r.utterance: r for part in self.parts.values() for r in part}
        self.used = tuple(used.values())

    def originals(self) -> Side:
        """As they are."""
        found = Findings()
        short = checked.short([r.utterance for r in self.protocol.trial], self.sounds, found)
        return self._side(lambda part, r: self.sounds[r.utterance], found, {"trials under 2 s of speech": short})

    def folder(self, anonymized: Path) -> Side:
        """What somebody has made of them, in a folder."""
        findings = Findings()
        paths = counterparts(self.used, anonymized, findings)
        looked = dict(zip(paths, self.embedded.sounds(list(paths.values())), strict=True))
        return self._anonymized({name: dict.fromkeys(self.parts, s) for name, s in looked.items()}, findings)

    def made(self, condition: Condition, folder: Path, level: Level) -> Side:
        """What `condition` makes of them, kept in `folder`. At the level of utterances each has a voice of its own. At that of
        speakers all trials of one have one voice, and his enrolments another, which the attacker drew."""
        spoken = Spoken(folder, condition, self.seed)
        jobs = {(part, r.utterance): self._take(part, r, level) for part, rs in self.parts.items() for r in rs}
        takes = {take.key: take for take in jobs.values()}
        looked = dict(zip(takes, self.embedded.speak(spoken, list(takes.values())), strict=True))
        found: dict[str, dict[Part, Sound]] = {}
        for (part, name), take in jobs.items():
            found.setdefault(name, {})[part] = looked[take.key]
        return self._anonymized(found, Findings())

    def _take(self, part: Part, recording: Recording, level: Level) -> Take:
        sound = self.sounds[recording.utterance]
        name = "".join(c if c.isalnum() or c in ".-_" else "_" for c in recording.utterance)[-_NAME:]
        key = f"{name}-{sound.digest[:12]}"
        if level == "utterance" or part == "known":
            return Take(recording.path, key, "")
        return Take(recording.path, f"{part}/{key}", f"{part}:{recording.speaker}")

    def _anonymized(self, found: Mapping[str, Mapping[Part, Sound]], findings: Findings) -> Side:
        usable: dict[Part, set[str]] = {}
        for part, recordings in self.parts.items():
            if recordings:
                after = {r.utterance: found[r.utterance][part] for r in recordings if r.utterance in found}
                usable[part] = checked.anonymized(recordings, self.sounds, after, findings)
        trials = {name: found[name]["trial"] for name in usable["trial"]}
        short = checked.short([r.utterance for r in self.protocol.trial if r.utterance in trials], trials, findings)
        counts = {
            "trials left out": len(self.protocol.trial) - len(usable["trial"]),
            "enrolments left out": len(self.protocol.enrol) - len(usable["enrol"]),
            "trials under 2 s of speech": short,
        }
        return self._side(lambda part, r: found[r.utterance][part] if r.utterance in usable[part] else None, findings, counts)

    def _side(self, sound_of: Callable[[Part, Recording], Sound | None], findings: Findings, counts: Mapping[str, int]) -> Side:
        sounds = {part: [sound_of(part, r) for r in recordings] for part, recordings in self.parts.items()}
        there = [sound for part in sounds.values() for sound in part if sound is not None]
        flat = self.embedded.vectors(there)
        vectors = {encoder: laid_out(sounds, table) for encoder, table in flat.items()}
        if len(vectors) > 1:
            joined: dict[Part, F64] = {p: np.concatenate([v[p] for v in vectors.values()], axis=1) for p in self.parts}
            vectors[BOTH] = joined
        return Side(sounds, vectors, findings, dict(counts))


def laid_out(sounds: Mapping[Part, Sequence[Sound | None]], table: F64) -> dict[Part, F64]:
    """Rows of `table`, which are those of the sounds that are there, one part after the other, as the protocol has them."""
    found: dict[Part, F64] = {}
    start = 0
    for part, its in sounds.items():
        there = np.array([sound is not None for sound in its], bool)
        found[part] = np.full((len(its), table.shape[1]), np.nan)
        found[part][there] = table[start : start + there.sum()]
        start += int(there.sum())
    return found

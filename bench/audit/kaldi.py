"""Recordings of Kaldi's data folders, as the VoicePrivacy Challenge hands them out.

Read are wav.scp, utt2spk and, where they are there, text, spk2gender, enrolls (which of them enrol) and trials (speaker,
utterance, target or nontarget: the pairs that are tried, and no others). A folder without those two enrols if its name says
so, as in libri_dev_enrolls, and is learnt from if its name begins with train.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from ...engine.form import CONTAINERS
from ...engine.sniff import CONVERTED
from .findings import Findings
from .recordings import ENROL, NO_FILE, NO_SPEAKER, OVERLAP, TRAIN, TRIAL, Listing, Recording, corpus_of, language_of

COMMAND = "is made by a command, which is not run: write it as a file"
NO_RECORDING = "in enrolls or trials, but not in wav.scp"


def from_kaldi(folders: Sequence[Path], originals: Path) -> Listing:
    """Recordings of several folders; paths in wav.scp are seen from `originals`. ValueError, in a line, for what is none."""
    findings = Findings()
    found: dict[str, Recording] = {}
    pairs: set[tuple[str, str]] = set()
    listed = False
    for folder in folders:
        speakers, audio = _table(folder, "utt2spk"), _table(folder, "wav.scp")
        if not speakers or not audio:
            raise ValueError(f"{folder}: no wav.scp and utt2spk with lines in them; give a data folder of Kaldi")
        if (folder / "segments").exists():
            raise ValueError(f"{folder}: has segments; write each as a file (Kaldi's extract-segments does), and leave it out")
        corpus = corpus_of(folder.absolute().name)
        texts, genders = _table(folder, "text"), _table(folder, "spk2gender")
        enrolled, trials = _table(folder, "enrolls"), _lines(folder / "trials")
        for utterance, command in audio.items():
            name = f"{folder.name}/{utterance}"
            path = _file(command, originals)
            if path is None or not path.is_file():
                findings.add(COMMAND if path is None else NO_FILE, f"{name} ({command})")
                continue
            if utterance not in speakers:
                findings.add(NO_SPEAKER, name)
                continue
            role = _role(folder, utterance, enrolled, bool(trials))
            before = found.get(utterance)
            if before is not None and {before.role, role} == {ENROL, TRIAL}:
                findings.add(OVERLAP, utterance)
                role = TRIAL
            found[utterance] = Recording(
                utterance=utterance,
                speaker=f"{corpus}:{speakers[utterance]}",
                path=path,
                channel=corpus,
                split=TRAIN if folder.name.startswith(TRAIN) else "",
                role=role or (before.role if before else ""),
                text=texts.get(utterance, ""),
                language=language_of(texts.get(utterance, "")),
                attributes={"gender": g} if (g := genders.get(speakers[utterance], "")) else {},
            )
        for utterance in enrolled.keys() - audio.keys():
            findings.add(NO_RECORDING, f"{folder.name}/{utterance}")
        for line in trials:
            speaker, utterance, *_ = [*line.split(), "", ""]
            if utterance not in audio:
                findings.add(NO_RECORDING, f"{folder.name}/{utterance}")
            listed = True
            pairs.add((f"{corpus}:{speaker}", utterance))
    return Listing(tuple(found.values()), findings, frozenset(pairs) if listed else None)


def _role(folder: Path, utterance: str, enrolled: dict[str, str], tries: bool) -> str:
    if enrolled:
        return ENROL if utterance in enrolled else ""
    return TRIAL if tries else ENROL if ENROL in folder.name else TRIAL if TRIAL in folder.name else ""


def _file(command: str, originals: Path) -> Path | None:
    """The file that wav.scp speaks of, even if a command is to decode it; None where that is not plain."""
    if not command.endswith("|"):
        return originals / command
    known = CONVERTED | set(CONTAINERS)
    words = {word for word in shlex.split(command.rstrip("| ")) if Path(word).suffix.lower() in known}
    # One file read, nothing done to it but decoding: what comes before is a decoder of the VoicePrivacy recipes.
    decodes = command.split()[0] in ("flac", "cat") and "|" not in command[:-1]
    return originals / words.pop() if decodes and len(words) == 1 else None


def _table(folder: Path, name: str) -> dict[str, str]:
    """First word to the rest of each line."""
    return {key: rest.strip() for key, _, rest in (line.partition(" ") for line in _lines(folder / name))}


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8", errors="surrogateescape").replace("\t", " ")
    return [line.strip() for line in text.splitlines() if line.strip()]

"""All steps that need no outside parts, on the three clips of the benches: shows in a minute that they work together."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

import soundfile

from . import recogniser, steps
from .corpora import DEV, TRAIN, Utterance, write_index
from .decoder import Shape as DecoderShape
from .journal import Journal
from .student import LATE, Shape

_SHAPE = Shape(width=64, hidden=128, dilations=(1, 2))
_DECODER = DecoderShape(LATE, width=32, hidden=64, taps=4, dilations=(1, 2), voice=8)
_RECOGNISER = recogniser.Shape(width=32, channels=4)
_STEPS, _DECODER_STEPS, _BATCH = 60, 30, 4


def smoke(work: Path) -> None:
    """Index, align, pack, train, evaluate and export in `work`; one of the three speakers is not trained on."""
    from .publish import publish  # which checks by the clips below

    journal = Journal(work)
    write_index(work / "index.csv", clips())
    steps.align(work, journal)
    steps.pack(work, 1, 1, journal)
    steps.student(work, _STEPS, 1, 1, journal, _SHAPE, _BATCH)
    steps.evaluate(work, journal)
    steps.targets(work, 1, journal)
    steps.decoder(work, LATE, _DECODER_STEPS, 1, 1, journal, _DECODER, _BATCH)
    steps.recogniser(work, _DECODER_STEPS, 1, 1, journal, _RECOGNISER, _BATCH)
    publish(work, work / "graphs", ["encoder", "decoder", "recogniser", "phonotactics"], None, journal)
    steps.score(work, work / "graphs", journal, without=())


def clips() -> list[Utterance]:
    """The clips, with the texts that their README gives."""
    folder = resources.files("velavox.bench.clips")
    rows = re.findall(r"\| `(\S+)\.flac` \| (\d+), \w+ \| (.+) \|", (folder / "README.md").read_text(encoding="utf-8"))
    found = []
    for name, speaker, text in rows:
        path = str(folder / f"{name}.flac")
        seconds = soundfile.info(path).duration
        found.append(Utterance(name, f"clips:{speaker}", "clips", path, seconds, TRAIN, transcript=text))
    return [*found[:-1], replace(found[-1], split=DEV)]

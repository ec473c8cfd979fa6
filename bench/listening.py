"""A folder of recordings, judged: what is understood of them, how clean they sound, how much their voices differ.

python -m velavox.bench.listening FOLDER --texts MANIFEST.csv [--utterances N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ..kernels.jit import F32
from ..models_onnx.training.corpora import Utterance, from_manifest
from .quality import dnsmos
from .recognition import Errors, errors, heard
from .selection import spread
from .variety import Variety, variety

_AUDIO = (".wav", ".flac", ".ogg", ".opus")


@dataclass(frozen=True)
class Verdict:
    """Of so many recordings."""

    recordings: int
    transcribed: int  # those whose words are known
    wer: float  # over all words, 0 to 1; NaN without words
    cer: float
    dnsmos: float  # mean over the recordings
    variety: Variety | None  # None of fewer than two


def judge(recordings: Mapping[str, F32], texts: Mapping[str, tuple[str, str]]) -> Verdict:
    """`recordings`: name to mono speech at 16 kHz, each in a voice of its own; `texts`: name to (words, "en" or "zh").

    Costs 1.3 s of CPU time for an utterance of 6 s, most of it the recogniser's.
    """
    total = Errors(0, 0, 0, 0)
    known = [name for name in recordings if name in texts]
    for name in known:
        said, language = texts[name]
        total += errors(said, heard(recordings[name], language), language)
    scores = [dnsmos(x) for x in recordings.values()]
    voices = variety(list(recordings.values())) if len(recordings) > 1 else None
    return Verdict(len(recordings), len(known), total.wer, total.cer, float(np.mean(scores)), voices)


def read(folder: Path, most: int | None = None) -> dict[str, F32]:
    """The recordings in `folder` by their names without suffix, at 16 kHz; `most` of them, evenly spread."""
    paths = sorted(p for p in folder.iterdir() if p.suffix in _AUDIO)
    if not paths:
        raise FileNotFoundError(f"{folder}: no recordings; give a folder of {', '.join(_AUDIO)} files")
    return {p.stem: _utterance(p).audio() for p in spread(paths, most or len(paths))}


def texts_of(manifest: Path) -> dict[str, tuple[str, str]]:
    """Words and language of the utterances in a manifest that have words, by the utterance's name."""
    return {u.utterance: (u.transcript, u.language) for u in from_manifest(manifest) if u.transcript}


def _utterance(path: Path) -> Utterance:
    return Utterance(path.stem, "", "", str(path), 0.0, "")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m velavox.bench.listening", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("folder", type=Path, help="recordings, each in another voice, named as in the manifest")
    parser.add_argument("--texts", type=Path, metavar="CSV", help="manifest with the columns utterance and transcript")
    parser.add_argument("--utterances", type=int, metavar="N", help="so many of the recordings, evenly spread [all]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    arguments = parser.parse_args()
    try:
        texts = texts_of(arguments.texts) if arguments.texts else {}
        recordings = read(arguments.folder, arguments.utterances)
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    text = json.dumps(asdict(judge(recordings, texts)), indent=2)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n")


if __name__ == "__main__":
    main()

"""The anonymizers side by side, on the same speech of speakers that none of them was made with.

python -m velavox.bench.anonymizers --speech FOLDER --out FOLDER [--methods mcadams vtln dp dp:mode=low]

FOLDER holds a manifest.csv with the columns source, speaker, utterance, path, split (train, dev), role (enrol, trial) and
transcript; several may be given. What was made and judged stays in --out: another run does only what is new.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..engine.graphs import GraphError
from ..engine.host import Engine
from ..engine.methods import METHODS
from ..engine.progress import say
from ..engine.stage import RATE
from ..models_onnx.training.corpora import from_manifest
from . import standings
from .comparison import Result, score
from .condition import ORIGINAL, Condition
from .plain import PlainMcAdams
from .published import PUBLISHED
from .selection import Selection, choose
from .speech import fed, speech
from .timing import Timing, interleave

_BLOCKS = 1000  # of 10 ms, timed of each
_NAME = "anonymizers"


def costs(conditions: Sequence[Condition]) -> dict[str, Timing]:
    """CPU time of 10 ms in the engine at 16 kHz, a few of each in turn; and of McAdams in plain NumPy and librosa."""
    cases = {standings.PLAIN: fed(PlainMcAdams())}
    for condition in conditions:
        if condition.anonymizes:
            engine = Engine(condition.stage(speech()), sample_rate=RATE, seed=0)
            cases[str(condition)] = fed(engine.process, blocks=engine.hop * 100 // RATE)  # else every second call only waits
    return interleave(cases, seconds=0.01, blocks=_BLOCKS)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m velavox.bench.anonymizers", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--speech", type=Path, nargs="+", required=True, metavar="FOLDER", help="with manifest.csv; or a CSV")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="for results, audio and verdicts")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), metavar="M", help=f"{', '.join(METHODS)}; dp:mode=low")
    parser.add_argument("--utterances", type=int, default=40, metavar="N", help="about so many of each corpus [40]")
    parser.add_argument("--voices", type=int, default=50, metavar="N", help="of one recording, to see how they differ [50]")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the voices [0]")
    given = parser.parse_args(arguments)
    try:
        conditions = [Condition.parse(text) for text in (ORIGINAL, *given.methods)]
        manifests = [path / "manifest.csv" if path.is_dir() else path for path in given.speech]
        chosen = choose((u for path in manifests for u in from_manifest(path)), given.utterances)
        given.out.mkdir(parents=True, exist_ok=True)
        timings = costs(conditions)
    except (ValueError, OSError, GraphError) as error:
        sys.exit(str(error))
    made = {"velavox": version("velavox"), "seed": given.seed, "speech": [str(path) for path in given.speech]}
    results: list[Result] = []
    for condition in conditions:
        results.append(score(condition, chosen, given.voices, given.out, given.seed, say))
        _write(given.out, results, timings, chosen, made)
    print((given.out / f"{_NAME}.txt").read_text(encoding="utf-8"), end="")


def _write(
    folder: Path, results: Sequence[Result], timings: Mapping[str, Timing], chosen: Selection, made: Mapping[str, Any]
) -> None:
    """What is known so far: an interrupted comparison has its table too."""
    (folder / f"{_NAME}.txt").write_text(standings.text(results, timings, chosen) + "\n", encoding="utf-8")
    found = {
        "results": [asdict(r) for r in results],
        "cost": {name: asdict(t) for name, t in timings.items()},
        "speech": standings.counts(chosen),
        "published": [asdict(p) for p in PUBLISHED],
        "made": made,
    }
    (folder / f"{_NAME}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

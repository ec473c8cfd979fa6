"""The commands that say how much privacy is left: audit. This one reads scores; each other has its file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import __version__
from .cli_audit_mechanism import mechanism
from .cli_audit_parallel import parallel
from .cli_audit_report import report
from .cli_audit_speech import speech
from .options import STDOUT, JsonSummary, check_json, fail, give_json, put, told
from .usage import Command, Commands, JsonCommand

if TYPE_CHECKING:
    from ..bench.trials import Trials

audit = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Measure what an attacker learns, and what is left of speech.",
)


def scores(
    file: Annotated[
        Path,
        typer.Argument(
            help="A table of trials with columns score (higher: more alike), label (1: same speaker, 0: not) and, where known, "
            "speaker, claimed (a speaker), test (a recording).",
            metavar="FILE",
        ),
    ],
    attacker: Annotated[
        str, typer.Option(help="Who got these scores and what he knew: it is printed beside the figures.", metavar="TEXT")
    ] = "",
    original: Annotated[
        Path | None, typer.Option(help="The same attacker's scores of originals against originals: MMR, WMR.", metavar="FILE")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the draws that give intervals.", metavar="N")] = 0,
    json: JsonSummary = None,
) -> None:
    """All figures of an attacker's scores: EER, low false positive rates, D_sys, Cllr, ZEBRA and more, with intervals.

    \b
    Examples:
      velavox audit scores scores.csv --attacker "semi-informed, ECAPA"
      velavox audit scores scores.csv --original baseline.csv --json figures.json
    """
    with told(ValueError):
        from ..bench.audit.codec import plain
        from ..bench.audit.scoretable import as_text
        from ..bench.audit.summary import are_those, summarise

        check_json(json, [path for path in (file, original) if path is not None])
        trials = _read(file)
        baseline = None if original is None else _read(original)
        if baseline is not None and are_those(trials, baseline):
            fail(
                f"{file}: holds the very scores of {original}, of originals against originals; give those of anonymized speech"
            )
        try:
            found = summarise(trials, seed, baseline)
        except ValueError as error:
            fail(f"{file}: {error}")
        if json != STDOUT:
            put(as_text(found, str(file), attacker))
        named = {"velavox": __version__, "scores": str(file), "original": None if original is None else str(original)}
        give_json(json, {**named, "attacker": attacker or None, "seed": seed, **plain(found)})


def _read(path: Path) -> Trials:
    from ..bench.audit.scorefile import ScoreError, read

    try:
        return read(path)
    except ScoreError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{path}: {error.strerror}; give a table with the columns score,label")


audit.command(cls=JsonCommand, no_args_is_help=True)(scores)
audit.command(cls=JsonCommand, no_args_is_help=True)(mechanism)
audit.command(cls=Command, no_args_is_help=True)(report)
audit.command(cls=Command, no_args_is_help=True)(speech)
audit.command(cls=Command, no_args_is_help=True)(parallel)

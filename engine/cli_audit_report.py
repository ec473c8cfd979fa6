"""The command that puts results of audits into one report: audit report."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from .options import check_result, fail, put, refuse, told
from .progress import say


def report(
    results: Annotated[
        list[Path], typer.Argument(help="What `audit speech` and `audit mechanism --json` wrote.", metavar="RESULT.json")
    ],
    out: Annotated[Path, typer.Option(help="Folder for report.json, report.md and report.html.", metavar="DIR")],
) -> None:
    """Write one report of several audits: all figures, and plots on a page that works offline.

    A method counts once: of several results that hold it, give the one that is meant.

    \b
    Examples:
      velavox audit report audit/result.json mechanism.json --out report
    """
    with told(ValueError):
        from ..bench.audit.document import NAMES, load, write

        for name in NAMES:
            check_result("--out", out / name, made=out)
        try:
            found = load(results)
        except ValueError as error:
            fail(str(error))
        except OSError as error:
            fail(f"{error.filename}: {error.strerror}; give a result of an audit")
        names = [audit.condition for audit in found.audits]
        if twice := {name for name in names if names.count(name) > 1}:
            refuse(f"{min(twice)} is in these results twice, with other figures: give one of the results")
        if not names and not found.mechanisms:
            fail(f"{', '.join(map(str, results))}: no audit is in it; audit something first")
        if find_spec("matplotlib") is None:
            say('warning: no plots: they need matplotlib; pip install ".[plot]" where velavox was cloned to')
        try:
            written = write(out, found.audits, found.mechanisms)
        except OSError as error:
            fail(f"{out}: {error.strerror}; give a folder that can be written")
    for path in written:
        put(str(path))

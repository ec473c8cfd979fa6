"""Who speaks in which file, from a table: a CSV file with the columns `path` and `speaker`, one row a file."""

from __future__ import annotations

import csv
import os
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .plan import Job, PlanError
from .table import open_table


def assign(jobs: Sequence[Job], table: Path) -> list[Job]:
    """The jobs with their speakers from `table`, whose paths are below the input, or as seen from the current folder.

    Raises PlanError when the table cannot be read or a job has no row. Rows of other files are no fault: one table may
    serve several runs.
    """
    speakers = _read(table)
    given = {os.path.abspath(path): speaker for path, speaker in speakers.items()}
    found = [speakers.get(_key(job.name)) or given.get(_key(os.path.abspath(job.source))) for job in jobs]
    missing = [job.name for job, speaker in zip(jobs, found, strict=True) if speaker is None]
    if missing:
        more = f" and {len(missing) - 1} more" if missing[1:] else ""
        raise PlanError(f"{table}: no row for {missing[0]}{more}; give each file a path (below the input) and a speaker")
    return [replace(job, speaker=speaker) for job, speaker in zip(jobs, found, strict=True) if speaker is not None]


def _read(table: Path) -> dict[str, str]:
    speakers: dict[str, str] = {}
    try:
        with open_table(table) as rows:
            if not {"path", "speaker"} <= set(rows.fieldnames or ()):
                raise PlanError(f"{table}: the first line has to name the columns path,speaker")
            for row in rows:
                path, speaker = _key(row["path"] or ""), (row["speaker"] or "").strip()
                if not path or not speaker:
                    raise PlanError(f"{table}, line {rows.line_num}: give both a path and a speaker")
                if speakers.setdefault(path, speaker) != speaker:
                    raise PlanError(f"{table}, line {rows.line_num}: {path} has another speaker above; keep one of the rows")
    except OSError as error:
        raise PlanError(f"{table}: {error.strerror}; give a CSV file with the columns path,speaker") from error
    except csv.Error as error:
        raise PlanError(f"{table}: {error}; give a CSV file with the columns path,speaker") from error
    return speakers


def _key(path: str) -> str:
    """One spelling for a path: Unicode composed, since tables and file systems differ in that, and no leading `./`."""
    return os.path.normpath(unicodedata.normalize("NFC", path)).replace(os.sep, "/") if path else ""

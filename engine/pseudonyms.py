"""Outputs under pseudonyms: names, dates and folders say who spoke, and so does an order that mirrors theirs.

`recording-0007.wav` tells nothing but that there are some. Which is which stands in the mapping, written only where asked.
"""

from __future__ import annotations

import csv
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from .form import CONTAINERS
from .plan import Job, PlanError
from .table import open_table

COLUMNS = ["path", "pseudonym"]
_MOST_DIGITS = 18


def rename(jobs: Sequence[Job], out: Path, mapping: Path | None, resume: bool) -> list[Job]:
    """The jobs with pseudonyms as targets (directly in `out`) and labels, in the pseudonyms' order, which is drawn by lot.

    Numbers go on from the highest one in `out`. With `resume` the names in `mapping` stay, and new files are added. The
    mapping is on disk, readable by its owner alone, before any output is. Raises PlanError for a mapping that would be lost,
    published, or is missing where it is needed; OSError where it cannot be looked at.
    """
    known = _known(out, mapping, resume)
    new = [job for job in jobs if job.name not in known]
    secrets.SystemRandom().shuffle(new)
    there = [path.name for path in out.iterdir()] if out.is_dir() else []  # of another run: never replaced by another recording
    first = 1 + max((_number(p) for p in (*known.values(), *there)), default=0)
    width = max(4, len(str(first + len(new))))
    for n, job in enumerate(new, first):
        known[job.name] = f"recording-{n:0{width}d}"
    renamed = []
    for job in jobs:
        ending = job.target.suffix.lower()  # only a known one: "Jane.Example" has an ending too
        pseudonym = Path(known[job.name]).stem + (ending if ending in CONTAINERS else "")
        known[job.name] = pseudonym
        renamed.append(replace(job, target=out / pseudonym, label=pseudonym))
    if mapping is not None:
        _write(mapping, known)
    return sorted(renamed, key=lambda job: job.label)


def _known(out: Path, mapping: Path | None, resume: bool) -> dict[str, str]:
    if mapping is None:
        if resume:
            raise PlanError("--resume with --rename: needs the --mapping FILE of the first run, which alone knows the names")
        return {}
    if Path(os.path.realpath(mapping)).is_relative_to(os.path.realpath(out)):
        raise PlanError(f"{mapping}: the mapping would lie among the outputs; keep it elsewhere")
    if not mapping.exists():
        return {}
    if not resume:
        raise PlanError(f"{mapping}: exists, and may be all that knows an earlier run's names; give another file, or --resume")
    try:
        with open_table(mapping) as rows:
            pairs = [(row["path"], row["pseudonym"]) for row in rows]
            columns = rows.fieldnames
        known, numbers = dict(pairs), {_number(pseudonym) for _, pseudonym in pairs}
        if columns in (None, COLUMNS) and 0 not in numbers and len(known) == len(numbers) == len(pairs):
            return known
    except (KeyError, TypeError, csv.Error):
        pass
    raise PlanError(f"{mapping}: is not a mapping that --rename wrote; give the file of the first run")


def _number(pseudonym: str) -> int:
    """The 7 of `recording-0007.wav`; 0: not such a name."""
    head, _, number = Path(pseudonym).stem.partition("-")
    ours = head == "recording" and number.isdecimal() and len(number) <= _MOST_DIGITS and Path(pseudonym).name == pseudonym
    return int(number) if ours else 0


def _write(mapping: Path, known: dict[str, str]) -> None:
    whole = mapping.with_name(f".velavox-{secrets.token_hex(8)}.csv")  # short, whatever the name's length
    try:
        mapping.parent.mkdir(parents=True, exist_ok=True)
        private = os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(private, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(COLUMNS)
            rows.writerows(sorted(known.items()))
        os.replace(whole, mapping)
    except OSError as error:
        with suppress(OSError):
            whole.unlink()
        raise PlanError(f"{mapping}: {error.strerror}; give a --mapping FILE that can be written") from error

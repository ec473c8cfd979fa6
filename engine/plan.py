"""From inputs and an output place to jobs: what is read, what is written where, and what is passed over and why.

Nothing is written here, so a plan that cannot be right (`PlanError`) is refused before any file is touched. The rules:

- A folder is walked to its leaves and mirrored; of several inputs each folder keeps its own name below the output.
- Order, names and collisions depend on names alone, so the same input gives the same plan on every machine.
- An output keeps its input's name, to the byte. What has to change its container (M4A to WAV) changes its ending.
  Names that only differ by case or by Unicode form would be one file on other systems: the later one gets a number.
- No output is ever one of the inputs, under whatever name or link, and an output folder inside an input is not walked.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from .failure import FileFailure
from .form import CONTAINERS
from .sniff import CONVERTED, REFUSED, ending

Identity = tuple[int, int]


class PlanError(ValueError):
    """Wrong use, in one line: what, and what to do instead."""


@contextmanager
def refusals_told() -> Iterator[None]:
    """What the system refuses within (a name too long, a folder that is closed) is wrong use, too: OSError to PlanError."""
    try:
        yield
    except OSError as error:
        failure = FileFailure.of(error)
        where = error.filename or "the current folder"  # the one path that is looked up without being named
        raise PlanError(f"{os.fsdecode(where)}: {failure.cause}; {failure.remedy}") from error


@dataclass(frozen=True)
class Job:
    """One file to anonymize."""

    source: Path
    target: Path
    name: str  # path below the input, with "/": the key of its voice
    label: str  # what it is called in messages and reports: `name`, unless names are to be hidden
    speaker: str  # whose voice it is: its folder, unless a table says otherwise


@dataclass(frozen=True)
class Passed:
    """Something found below an input that is no job, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Plan:
    jobs: tuple[Job, ...]
    skipped: tuple[Passed, ...]  # no audio, or hidden: named, no fault
    closed: tuple[Passed, ...]  # folders that could not be opened: a failure, since recordings may lie in them


class _Found(NamedTuple):
    path: Path
    name: str
    ending: str  # of its output


def plan(inputs: Sequence[str | Path], out: str | Path) -> Plan:
    """Jobs for `inputs` (files and folders), mirrored below the folder `out`, or onto `out` for one file and an audio name.

    Raises PlanError when an input is missing, is given as its own output, or `out` cannot be a folder; OSError when it cannot
    be looked at.
    """
    if not os.fspath(out):
        raise PlanError("the output's name is empty; give a folder, which may be .")
    sources = [Path(i) for i in inputs]
    for source in sources:
        if not source.exists():
            raise PlanError(f"{source}: no such file or folder")
    onto = _names_a_file(sources, out)
    root = Path(out).parent if onto else Path(out)
    if root.exists() and not root.is_dir():
        raise PlanError(f"{root}: is a file; give a folder as output")

    found: list[_Found] = []
    skipped: list[Passed] = []
    closed: list[Passed] = []
    place = _identity(root) if root.is_dir() else None
    for source, top in zip(sources, _tops(sources), strict=True):
        if not source.is_dir():
            found.append(_Found(source, top, ending(source) or source.suffix))  # what is named is tried, whatever it is
            continue
        if _identity(source) == place:
            raise PlanError(f"{source}: the output folder is the input folder; give another, the recordings stay as they are")
        _walk(source, top, place, found, skipped, closed)
    targets = [Path(out)] if onto else [root / target for target in _targets(found)]
    jobs = [Job(f.path, t, f.name, f.name, _folder(f.path, f.name)) for f, t in zip(found, targets, strict=True)]
    _refuse_overwriting(jobs)
    return Plan(tuple(jobs), tuple(skipped), tuple(closed))


def numbered(name: PurePosixPath, n: int) -> PurePosixPath:
    """`talk.wav` as `talk (n).wav`."""
    return name.with_name(f"{name.stem} ({n}){name.suffix}")


def fold(name: str) -> str:
    """Equal for two names that some file system takes for one."""
    return unicodedata.normalize("NFC", name.casefold())


def _names_a_file(sources: list[Path], out: str | Path) -> bool:
    one_file = len(sources) == 1 and not sources[0].is_dir()
    if not one_file or Path(out).is_dir() or os.fspath(out).endswith(("/", os.sep)):
        return False
    wanted = Path(out).suffix.lower()
    if wanted in CONVERTED or wanted in REFUSED:
        written = ", ".join(CONTAINERS)
        raise PlanError(f"{out}: sound cannot be written as {wanted}; give a folder, or end the name in {written}")
    return wanted in CONTAINERS


def _tops(sources: list[Path]) -> list[str]:
    """What each input is called below the output: nothing for a folder that comes alone, else its name, made unique."""
    if len(sources) == 1 and sources[0].is_dir():
        return [""]
    taken: set[str] = set()
    tops = []
    for source in sources:
        plain = top = PurePosixPath(Path(os.path.abspath(source)).name)
        n = 1
        while fold(str(top)) in taken:
            n += 1
            top = numbered(plain, n)
        taken.add(fold(str(top)))
        tops.append(str(top))
    return tops


def _walk(
    folder: Path, top: str, place: Identity | None, found: list[_Found], skipped: list[Passed], closed: list[Passed]
) -> None:
    """Sort everything below `folder` into the three lists, in the order of names."""
    # A stack, not recursion: folders may be nested deeper than Python's limit. `above` finds links that lead back up.
    stack: list[tuple[Path, str, frozenset[Identity]]] = [(folder, top, frozenset())]
    while stack:
        path, name, above = stack.pop()
        try:
            reason = _reason(path, above, place, named=path is not folder)
            is_folder = reason is None and path.is_dir()
            entries = sorted(os.listdir(path), reverse=True) if is_folder else []
            output_ending = ending(path) if reason is None and not is_folder else None
        except OSError as error:
            closed.append(Passed(name or str(folder), error.strerror or str(error)))
            continue
        if is_folder:
            inside = above | {_identity(path)}
            stack += [(path / e, f"{name}/{e}" if name else e, inside) for e in entries]
        elif output_ending is not None:
            found.append(_Found(path, name, output_ending))
        else:
            skipped.append(Passed(name, reason or "not audio"))


def _reason(path: Path, above: frozenset[Identity], place: Identity | None, named: bool) -> str | None:
    """Why the walk passes `path` over, or None; `named` is whether its name may say so. OSError when it cannot be looked at."""
    if named and path.name.startswith("."):
        return "macOS resource fork" if path.name.startswith("._") else "hidden"
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return "link to nothing"
    except OSError as error:
        if error.errno == errno.ELOOP:
            return "link that loops"
        raise
    if stat.S_ISDIR(mode):
        here = _identity(path)
        return "output folder" if here == place else "link that loops" if here in above else None
    return None if stat.S_ISREG(mode) else "not a regular file"


def _targets(found: Sequence[_Found]) -> list[str]:
    """The name below the output for each file: its own where it can be, no two alike."""
    wanted = [_wanted(f) for f in found]
    order = sorted(range(len(found)), key=lambda i: (str(wanted[i]) != found[i].name, found[i].name))
    taken = {fold(str(parent)) for w in wanted for parent in w.parents}
    result = [""] * len(found)
    late = []
    for i in order:  # everyone who can have the wished name has it, before anyone is given a number
        if fold(str(wanted[i])) in taken:
            late.append(i)
        else:
            taken.add(fold(str(wanted[i])))
            result[i] = str(wanted[i])
    for i in late:
        whole = PurePosixPath(found[i].name)
        target = plain = wanted[i] if wanted[i] == whole else whole.with_name(whole.name + found[i].ending)
        n = 1
        while fold(str(target)) in taken:
            n += 1
            target = numbered(plain, n)
        taken.add(fold(str(target)))
        result[i] = str(target)
    return result


def _wanted(found: _Found) -> PurePosixPath:
    name = PurePosixPath(found.name)
    if name.suffix == found.ending:
        return name
    return name.with_suffix(found.ending) if name.suffix.lower() in CONVERTED else name.with_name(name.name + found.ending)


def _folder(path: Path, name: str) -> str:
    """The speaker by default: the folder as it is mirrored, or its own name where nothing is mirrored."""
    mirrored = name.rpartition("/")[0]
    return mirrored or Path(os.path.abspath(path)).parent.name


def _refuse_overwriting(jobs: list[Job]) -> None:
    originals = {_identity(job.source): job for job in jobs}
    for job in jobs:
        if job.target.exists() and (other := originals.get(_identity(job.target))):
            raise PlanError(
                f"{job.target}: is the recording {other.name} itself; give another output, recordings stay as they are"
            )


def _identity(path: Path) -> Identity:
    status = path.stat()
    return status.st_dev, status.st_ino

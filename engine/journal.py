"""Which outputs are finished: whole, ours, and made from this very source with these very settings.

An output appears by renaming, so what a killed run leaves is never a half of one; but a file of that name may also be
somebody's copy, or the recording itself. The journal has one line for each output finished: a digest over version,
settings, seed, source and output (path, inode, size and times of both, as they were left). Whatever changes in between, the
digest does not fit and the file is done anew, so every error is on the safe side. It lies in the user's state folder
(private; $XDG_STATE_HOME/velavox or ~/.local/state/velavox), not among the outputs, where it would help to guess sources and
seeds.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from .. import __version__
from .plan import Job

_UNKNOWN = (
    "all was done anew, since what earlier runs have finished is not known here; "
    "set XDG_STATE_HOME, or HOME, to a folder that can be written and stays"
)
_LOST = (
    "what was finished could not all be noted down ({}), so --resume may do some of it anew; "
    "free space in XDG_STATE_HOME, which is ~/.local/state by default"
)


class Journal:
    """The finished outputs below one output folder. Where there is no place to keep it, nothing counts as finished."""

    def __init__(self, out: Path, settings: str, resume: bool) -> None:
        """`settings`: whatever an output depends on beside its source. Without `resume` a new journal begins."""
        self._settings = settings
        self._run = secrets.token_hex(4)
        self._finished: dict[str, str] = {}
        self._file: BinaryIO | None = None
        self.note = ""  # what is to be said of it at the end, one line
        try:
            folder = _state_home() / "velavox/resume"
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = folder / hashlib.sha256(os.fsencode(os.path.realpath(out))).hexdigest()[:32]
            if resume and path.is_file():
                lines = path.read_text(encoding="ascii", errors="replace").splitlines()
                self._finished = dict(line.split() for line in lines if len(line.split()) == 2)
            private = os.open(path, os.O_WRONLY | os.O_CREAT | (os.O_APPEND if resume else os.O_TRUNC), 0o600)
            self._file = open(private, "wb", buffering=0)  # noqa: SIM115
        except (OSError, RuntimeError):
            self.note = _UNKNOWN if resume else ""

    def finished(self, jobs: Sequence[Job]) -> bool:
        """All of `jobs` are finished, by one and the same run: together they have one voice, even where it is drawn."""
        runs = {self._finished.get(self._digest(job, source_state(job))) for job in jobs}
        return len(runs) == 1 and None not in runs

    def add(self, job: Job, state: str) -> None:
        """The output of `job` is in place; `state` is what `source_state` gave before its source was opened."""
        if self._file is not None:
            try:
                self._file.write(f"{self._digest(job, state)} {self._run}\n".encode())
            except OSError as error:  # a full disk, most likely: it costs a later --resume some time, this run nothing
                self.note = _LOST.format((error.strerror or str(error)).lower())
                self.close()

    def close(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def _digest(self, job: Job, state: str) -> str:
        key = json.dumps([__version__, self._settings, state, job.name, job.speaker, _state(job.target)])
        return hashlib.sha256(key.encode()).hexdigest()


def _state_home() -> Path:
    if named := os.environ.get("XDG_STATE_HOME"):
        return Path(named)
    return Path.home().resolve(strict=True) / ".local/state"  # a home that is not there is not to be made


def source_state(job: Job) -> str:
    """Changes whenever another recording, or another version of it, takes the place of the source."""
    return json.dumps(_state(job.source))


def _state(path: Path) -> list[str | int]:
    # Size and modification time do not tell: files that one archive brought are alike in both, and anybody can set the time.
    # Inode and change time do.
    try:
        s = path.stat()
    except OSError:
        return []
    return [os.path.realpath(path), s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns]

"""What each speaker's releases have told in all: a file that adds them up over sessions, processes and days.

Every release of a speaker adds to what can be learnt of them: releases of mu each give mu * sqrt(releases) together. The
ledger counts a release before it happens, so that a crash in between counts one too many, never one too few; whatever is
wrong with the file refuses the release.

The file holds no names: a speaker's key goes through scrypt with a salt of the file's own. So it shows how many speakers
there are and what each has spent, and two ledgers cannot be compared. It does not hide a name from who has the file and
guesses it: each guess takes 9 ms of one core. Nor is it protected from who may write to it: to delete it is to forget. It
is the operator's own book-keeping, readable by its owner alone.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

from .accountant import composed
from .failure import Unusable
from .locked import locked

_FORMAT = "velavox ledger 1"
_SECONDS = 10.0  # to wait for other processes, which take some 10 ms each
_NOTHING = (0.0, 0)  # mu and releases
_SLACK = 1 + 1e-9  # of a budget that is met exactly, for rounding


class LedgerError(Unusable):
    """The ledger cannot count a release, which must not happen then. One line: file, cause, remedy."""


class OverBudgetError(LedgerError):
    """The release would go past the speaker's budget; it was not counted."""


@dataclass(frozen=True)
class Spending:
    """What one speaker has spent."""

    total: float  # mu of all releases together
    releases: int
    budget: float | None

    @property
    def over(self) -> bool:
        return self.budget is not None and self.total > self.budget * _SLACK

    def __str__(self) -> str:
        past = f", past the budget of {self.budget:g}" if self.over else ""
        return f"mu {self.total:.4g} after {self.releases} release{'s' if self.releases != 1 else ''} of this speaker{past}"


class Ledger:
    """The ledger in the file `path`, made by the first `spend`. Any number of processes and threads may use it at once.

    Args:
        budget: the mu that a speaker may spend in all; None: no limit, it is only added up.
        past_budget: "refuse" raises OverBudgetError; "warn" counts the release, and its `Spending` is `over`.
    """

    def __init__(
        self, path: str | os.PathLike[str], budget: float | None = None, past_budget: Literal["refuse", "warn"] = "refuse"
    ) -> None:
        if budget is not None and not 0 < budget < math.inf:
            raise ValueError(f"budget={budget!r}: give a number above 0, or None")
        if past_budget not in ("refuse", "warn"):
            raise ValueError(f"past_budget={past_budget!r}: give refuse or warn")
        self._path = Path(os.path.realpath(path))  # what a link points to is replaced, not the link
        self._budget, self._refuse = budget, past_budget == "refuse"

    def spend(self, key: str, mu: float) -> Spending:
        """Count a release of `mu` for the speaker `key`, on disk when this returns; only then make the release.

        mu: as `accountant.spent` gives it for the calibration. A release from a seed has no bound that could be added up:
            it does not belong in a ledger.

        Raises:
            OverBudgetError: it would go past the budget. LedgerError: it could not be counted. ValueError: no such key or mu.
        """
        if not 0 <= mu < math.inf:
            raise ValueError(f"mu={mu!r}: give a number from 0 up")
        with self._open() as book:
            speaker = _hashed(key, book["salt"])
            total, releases = book["speakers"].get(speaker, _NOTHING)
            after = Spending(composed((total, mu)), releases + 1, self._budget)
            if after.over and self._refuse:
                raise OverBudgetError(
                    f"{self._path}: a release of mu {mu:g} would bring this speaker from {total:.4g} to {after.total:.4g}, "
                    f"past the budget of {self._budget:g}; give a smaller mu, or go without enrolment"
                )
            book["speakers"][speaker] = (after.total, after.releases)
            self._write(book)
        return after

    def total(self, key: str) -> Spending:
        """What the speaker `key` has spent so far; raises as `spend` does."""
        with self._open() as book:
            total, releases = book["speakers"].get(_hashed(key, book["salt"]), _NOTHING)
        return Spending(total, releases, self._budget)

    @contextmanager
    def _open(self) -> Iterator[dict[str, Any]]:
        """The book, for this process alone."""
        try:
            if self._path.exists() and not self._path.is_file():
                self._fail("is no file", "give another")
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with locked(self._beside(".lock"), _SECONDS):
                yield self._read()
        except TimeoutError:
            self._fail(f"the ledger is in use by another program for {_SECONDS:g} s", "end that one, or give another file")
        except OSError as error:
            self._fail(f"the ledger cannot be used: {error.strerror or error}", "give a file that can be read and written")

    def _read(self) -> dict[str, Any]:
        if not self._path.exists():
            return {"format": _FORMAT, "salt": secrets.token_hex(16), "speakers": {}}
        try:
            book = json.loads(self._path.read_bytes())
            if book.pop("sha256") == _digest(book) and book["format"] == _FORMAT:
                return dict(book)
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        self._fail(
            "the ledger is damaged, or no ledger of this version",
            "put back a copy, or give a new file, which forgets what was spent",
        )

    def _write(self, book: dict[str, Any]) -> None:
        """Replace the file: whoever is killed, or meets a full disk, leaves it as it was."""
        part = self._beside(".part")  # always of this name, so that no more than one is ever left behind
        with suppress(FileNotFoundError):
            part.unlink()
        private = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(private, "w", encoding="ascii") as file:
            file.write(json.dumps({**book, "sha256": _digest(book)}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self._path)
        if hasattr(os, "O_DIRECTORY"):  # else a power cut may bring the old file back
            folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _beside(self, ending: str) -> Path:
        return self._path.with_name(self._path.name + ending)

    def _fail(self, cause: str, remedy: str) -> NoReturn:
        raise LedgerError(f"{self._path}: {cause}; {remedy}") from None


def _hashed(key: str, salt: str) -> str:
    """A speaker's name in the file. Spellings that Unicode holds equal are one speaker."""
    name = unicodedata.normalize("NFC", key).strip()
    if not name:
        raise ValueError("speaker key: is empty; give a name")
    return hashlib.scrypt(name.encode("utf-8", "surrogatepass"), salt=bytes.fromhex(salt), n=2**12, r=8, p=1, dklen=16).hex()


def _digest(book: dict[str, Any]) -> str:
    """Over all of it: a damaged digit would read as a smaller sum."""
    return hashlib.sha256(json.dumps(book, sort_keys=True).encode()).hexdigest()

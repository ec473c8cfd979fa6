"""What cannot be used, and why: a file that is to be anonymized, or what a method needs."""

from __future__ import annotations

import errno
from typing import Self

_REMEDIES = {
    errno.ENOSPC: "free space where the output goes",
    errno.EDQUOT: "free space where the output goes",
    errno.EFBIG: "write to a file system that takes files of this size",
    errno.EACCES: "check the permissions of file and folder",
    errno.EPERM: "check the permissions of file and folder",
    errno.EROFS: "write to another folder",
    errno.ENOENT: "check the path",
    errno.ENAMETOOLONG: "give a shorter name",
}


class Unusable(Exception):  # noqa: N818  (no defect of the program)
    """What a method needs, a graph or a ledger, cannot be used. One line: which, why, remedy."""


class FileFailure(Exception):  # noqa: N818  (no defect of the program: the file is at fault)
    """One file failed, and nothing was written: `cause` and `remedy`, one line each, without the file's name."""

    def __init__(self, cause: str, remedy: str) -> None:
        self.cause = " ".join(cause.split())
        self.remedy = " ".join(remedy.split())
        super().__init__(self.cause, self.remedy)

    def __str__(self) -> str:
        return f"{self.cause}: {self.remedy}"

    @classmethod
    def of(cls, error: OSError) -> Self:
        """What the operating system refused, without the paths that its own message holds."""
        reason = (error.strerror or type(error).__name__).lower()
        return cls(reason, _REMEDIES.get(error.errno or 0, "check that the path can be read and written"))

"""Packages that only this room needs: named in one line where they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..failure import Unusable


def needed(package: str, what: str, extra: str = "content") -> Any:
    """The module `package`. Unusable in one line that says `what` needs it, and which extra brings it."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{package}.".startswith(f"{error.name}."):
            raise  # it is there, and lacks something itself
        raise lacking(package, what, extra) from None


def lacking(package: str, what: str, extra: str = "content") -> Unusable:
    """The error that says so."""
    return Unusable(f"{what} needs {package.partition('.')[0]}: pip install 'velavox[{extra}]'")

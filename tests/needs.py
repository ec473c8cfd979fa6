"""Real parts that a machine may lack: on one that checks changes (CI=true) nothing is skipped for want of them."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def lacking(part: str) -> NoReturn:
    """Skip, or fail where CI=true; `part` says what is missing and how to get it."""
    if os.environ.get("CI") == "true":
        pytest.fail(part)
    pytest.skip(part)

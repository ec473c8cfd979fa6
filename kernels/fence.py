"""Memory fences: what one thread wrote before a fence, another one that sees what was written after it sees, too.

On x86 they cost nothing but the compiler's freedom to reorder; ARM needs an instruction (`dmb`).
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import types
from numba.extending import intrinsic


def _fence(ordering: str) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def fence(typing_context: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            builder.fence(ordering)
            return context.get_dummy_value()

        return types.void(), emit

    return fence


def _nothing() -> None:
    """As plain Python the interpreter's lock orders everything."""


if numba.config.DISABLE_JIT:
    acquire = release = _nothing
else:
    acquire, release = _fence("acquire"), _fence("release")

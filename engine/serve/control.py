"""The control channel of a call: what the page says, as JSON, and what it is told."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from . import choices
from .voice import Voice

MOST_BYTES = 4096  # of a message
MOST_WAITING = 32  # messages: a slider that is dragged sends about 10 a second

Ask = Callable[[Voice], Awaitable[None]]


def parsed(message: object) -> Ask:
    """What a message asks for, still to be done; ValueError in one line.

    {"method": "vtln", "settings": {"amount": [0.2, 0.3]}}, {"voice": "new"} or {"muted": true}
    """
    if not isinstance(message, str) or len(message) > MOST_BYTES:
        raise ValueError(f"a message is a text of up to {MOST_BYTES} characters")
    try:
        found: Any = json.loads(message)
    except (ValueError, RecursionError):
        raise ValueError("a message is JSON") from None
    match found:
        case {"method": str(method), **rest} if set(rest) <= {"settings"}:
            settings = choices.checked(method, rest.get("settings", {}))
            return lambda voice: voice.change(method, settings)
        case {"voice": "new", **rest} if not rest:
            return Voice.new_voice
        case {"muted": bool(muted), **rest} if not rest:
            return lambda voice: _mute(voice, muted)
    raise ValueError("a message asks for a method with its settings, for a new voice, or for muted to be true or false")


async def _mute(voice: Voice, muted: bool) -> None:
    voice.muted = muted

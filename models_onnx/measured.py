"""What was measured of the graphs that are shipped: how much the content tells of the speaker, whatever the voice.

`measured.json` is written by `python -m velavox.bench.measured`, and counts for the graphs that it was measured with alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from . import manifest

FILE = "measured.json"


@dataclass(frozen=True)
class ContentLeak:
    """Equal error rate of an attacker on all that the decoder gets but the voice, with its 95 % interval, from 0 to 1."""

    eer: float
    low: float
    high: float
    speakers: int  # attacked; nothing was trained on them


def content_leak(folder: Traversable | None = None) -> dict[str, ContentLeak]:
    """By mode of the stage; empty where it was measured with another encoder than the folder's (by default the package's)."""
    place = folder or files(__package__)
    found = json.loads((place / FILE).read_text(encoding="utf-8"))
    if found["encoder_sha256"] != manifest.read(place)["encoder"].sha256:
        return {}
    return {mode: ContentLeak(**leak) for mode, leak in found["content_leak"].items()}

"""What of the speech is kept in an audit: the utility of some trials, and whether voices can still be told from one another."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from ..attackers import Voices
from ..bootstrap import Figure
from ..judged import Judges
from ..selection import spread
from .distinct import distinctiveness
from .material import Material, Side
from .utility import Pair, utility

RECOGNISED = "en", "zh"  # languages whose words are judged
_JUDGES = "ctranslate2", "tokenizers", "speechmos"  # of the extra `audit`
_ENCODER = "ge2e"  # by which voices are compared: it is always there


def can_judge() -> bool:
    """Whether the recogniser and the judge of quality are installed."""
    return all(map(find_spec, _JUDGES))


def kept(
    material: Material, original: Side, side: Side, trials: int, judges: Judges | None
) -> tuple[dict[str, Figure], list[str]]:
    """Figures of so many trials, spread evenly, of `side` (of the originals, too), and what is to be said of them."""
    rows = zip(material.parts["trial"], original.sounds["trial"], side.sounds["trial"], strict=True)
    there = [(r, before, after) for r, before, after in rows if before is not None and after is not None]
    chosen = spread(there, trials)
    pairs = [
        Pair(r.speaker, r.language, r.text if r.language in RECOGNISED else "", before.samples, after.samples)
        for r, before, after in chosen
    ]
    found = utility(pairs, judges, material.seed)
    notes = [*found.notes]
    other = sum(bool(r.text) and r.language not in RECOGNISED for r, _, _ in chosen)
    if judges and other:
        notes.append(f"words of {other} trials are not judged: only those in {' and '.join(RECOGNISED)} are")
    if side is original:
        return dict(found.figures), notes
    return {**found.figures, **_told_apart(material, original, side, notes)}, notes


def _told_apart(material: Material, original: Side, side: Side, notes: list[str]) -> dict[str, Figure]:
    before, after = (s.vectors[_ENCODER]["trial"] for s in (original, side))
    rows = np.flatnonzero(~np.isnan(before + after).any(1))
    speakers = [material.parts["trial"][i].speaker for i in rows]
    try:
        found = distinctiveness(Voices(before[rows], speakers), Voices(after[rows], speakers), material.seed)
    except ValueError as error:
        notes.append(f"distinctiveness: {error}")
        return {}
    return {"distinctiveness": found.gain, "deidentification": found.deidentification}

"""The attacker who undoes the change: he tries parameters, and keeps the one that makes a voice most like the enrolled one.

He knows the method and the ranges that its voices are drawn from, not what was drawn. Each candidate is the product's own
signal processing with the inverse parameter; the kernels run it, as the stages refuse what could leave a speaker's own voice.

Of McAdams he has an EER of 6 %, without having learnt anything; who does not undo it has 33 % (28 speakers, 207 trials, two
encoders joined). One power for all voices gives 13 to 33 %.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ...engine.mcadams import McAdams
from ...engine.parameter import Value
from ...engine.stage import Stage
from ...engine.voicemask import VoiceMask
from ...engine.vtln import Vtln, bend
from ...kernels import mcadams, vtln, warp
from ...kernels.jit import F32, F64
from ..condition import Condition

ALPHAS = 8  # powers that are tried for McAdams
AMOUNTS = 4  # of VTLN, in each direction
DRAWS = 12  # of VoiceMask's two numbers, which depend on each other
_MOST = 2.0  # power of the angles that the kernel takes: alpha below 0.5 is undone in part only

_HOW = {
    McAdams.method: "pole angles are raised to 1/alpha: approximate, since poles are found anew, in a narrowed band",
    Vtln.method: "frequencies go back by the inverse map: exact as a map, of an envelope that is estimated anew",
    VoiceMask.method: "frequencies go back by the inverse map; the pitch stays, as how far it was moved is not known",
}


@dataclass(frozen=True)
class Undoing:
    """One candidate: speech as it was, if the voice had this parameter. Samples at 16 kHz, mono, shape (n,), stay as many."""

    name: str
    run: Callable[[F32], F32] = field(repr=False)

    def __call__(self, samples: F32) -> F32:
        return self.run(samples)


def undoings(condition: Condition) -> tuple[Undoing, ...]:
    """Candidates for speech that `condition` made; none where the method has no inverse."""
    if condition.method not in _HOW:
        return ()
    return tuple(_candidates(condition.stage()))


def how(condition: Condition) -> str:
    """How exactly it is undone, in a sentence; "" where it is not."""
    return _HOW.get(condition.method, "")


def _candidates(stage: Stage) -> Iterator[Undoing]:
    if isinstance(stage, McAdams):
        for alpha in _along(stage.value("alpha"), ALPHAS):
            yield Undoing(f"alpha={alpha:.3f}", partial(_poles_back, alpha=alpha))
    elif isinstance(stage, Vtln):
        for up in _directions(stage.value("direction")):
            for amount in _along(stage.value("amount"), AMOUNTS):
                moved = np.empty_like(vtln.GRID)
                bend(moved, stage.warp, amount, up)
                yield _back(f"amount={amount:.3f},direction={2 * up - 1}", moved, stage.on)
    else:
        for alpha, beta in _drawn(stage):
            yield _back(f"alpha={alpha:.3f},beta={beta:.3f}", warp.voicemask(vtln.GRID, alpha, beta), "envelope")


def _poles_back(x: F32, alpha: float) -> F32:
    return np.asarray(mcadams.offline(x, min(1.0 / alpha, _MOST)), np.float32)


def _back(name: str, moved: F64, on: str) -> Undoing:
    back = warp.inverse(vtln.GRID, moved)
    return Undoing(name, lambda x: vtln.offline(x, back, on))


def _drawn(stage: Stage) -> list[tuple[float, float]]:
    """Alpha and beta of some voices, always the same ones."""
    found = []
    for n in range(DRAWS):
        stage.new_voice(n.to_bytes(16, "little"))
        found.append((stage.voice["alpha"], stage.voice["beta"]))
    return sorted(set(found))


def _along(value: Value, count: int) -> list[float]:
    """So many numbers of a range, evenly, ends included; the number itself where it is one."""
    low, high = _ends(value)
    return [low + (high - low) * i / (count - 1) for i in range(count)] if low < high else [low]


def _directions(value: Value) -> list[bool]:
    low, high = _ends(value)
    return [up for up in (False, True) if (high > 0 if up else low <= 0)]


def _ends(value: Value) -> tuple[float, float]:
    return value if isinstance(value, tuple) else (float(value), float(value))

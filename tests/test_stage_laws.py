"""What holds for every anonymizer as a stage, whatever it does to the sound."""

from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np
import pytest
from memory import net_growth
from signals import noise, voice
from stages import prepared, run
from velavox import DpVoice, McAdams, VoiceMask, Vtln
from velavox.engine.stage import Stage

CASES: dict[str, tuple[type[Stage], dict[str, Any]]] = {
    "mcadams": (McAdams, {"alpha": (0.6, 0.8)}),
    "vtln": (Vtln, {"amount": (0.2, 0.3), "warp": "bilinear"}),
    "vtln on the spectrum": (Vtln, {"amount": (0.2, 0.3), "on": "spectrum", "warp": "power"}),
    "voicemask": (VoiceMask, {"pitch": (100, 120)}),
    "dp": (DpVoice, {"mu": 2.0, "flatten": 0.5}),
    "dp, low": (DpVoice, {"mode": "low"}),
}
FIXED = {"mode"}  # cannot change once a stage is prepared
every_stage = pytest.mark.parametrize(("kind", "values"), CASES.values(), ids=CASES)


@every_stage
def test_equal_entropy_equal_voice(kind: type[Stage], values: dict[str, Any]) -> None:
    stage, other = prepared(kind, **values), prepared(kind, **values)
    stage.new_voice(bytes(range(16)))
    first = stage.voice
    other.new_voice(bytes(range(16)))
    assert other.voice == first
    stage.new_voice(bytes(16))
    assert stage.voice != first


@every_stage
def test_a_clone_has_the_parameters_and_a_voice_of_its_own(kind: type[Stage], values: dict[str, Any]) -> None:
    stage = prepared(kind, **values)
    other = stage.clone()
    other.prepare()
    assert other.values == stage.values
    assert other.voice != stage.voice


@every_stage
def test_reset_is_fresh(kind: type[Stage], values: dict[str, Any]) -> None:
    x, stage = voice(1.0), prepared(kind, **values)
    first = run(stage, x)
    run(stage, noise(x.size))
    stage.reset()
    np.testing.assert_array_equal(run(stage, x), first)


@every_stage
def test_saved_and_restored(kind: type[Stage], values: dict[str, Any]) -> None:
    x, stage = voice(1.0), prepared(kind, **values)
    other = prepared(kind, **{name: value for name, value in values.items() if name in FIXED})
    other.restore(json.loads(json.dumps(stage.save())))
    other.reset()
    np.testing.assert_array_equal(run(other, x), run(stage, x))
    assert other.values == stage.values


@every_stage
def test_voices_from_another_thread(kind: type[Stage], values: dict[str, Any]) -> None:
    x, stage = voice(2.0), prepared(kind, **values)

    def redraw() -> None:
        for _ in range(100):
            stage.new_voice()

    thread = threading.Thread(target=redraw)
    thread.start()
    y = run(stage, x)
    thread.join()
    assert np.isfinite(y).all()
    assert np.abs(y).max() <= 4 * np.abs(x).max()
    run(stage, noise(4 * stage.hop))
    settled = stage.clone()
    settled.prepare()
    settled.restore(stage.save())
    settled.reset()
    stage.reset()
    np.testing.assert_array_equal(run(stage, x), run(settled, x))


@every_stage
def test_step_and_reset_allocate_nothing(kind: type[Stage], values: dict[str, Any]) -> None:
    stage = prepared(kind, **values)
    x, y = noise(stage.hop), np.empty(stage.hop, np.float32)
    stage.step(x, y)
    stage.reset()

    def steps() -> None:
        for _ in range(3000):
            stage.step(x, y)

    def resets() -> None:
        for _ in range(100):
            stage.reset()

    assert net_growth(steps) <= 256
    assert net_growth(resets) <= 1024

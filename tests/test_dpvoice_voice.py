"""The voice of the neural anonymizer: who gets one, what it spent, what an attacker makes of it."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dpvoices import prepared, write
from signals import voice
from test_mechanism import CHANCE
from velavox import DpVoice, Engine
from velavox.bench.audit.binomial import clopper_pearson
from velavox.bench.audit.mechanism import farthest
from velavox.bench.audit.tradeoff import proven
from velavox.engine.accountant import Calibration, eer_floor
from velavox.engine.card import Format
from velavox.engine.dpvoice import arithmetic
from velavox.engine.dummy import DummyCard
from velavox.engine.files import anonymize_file
from velavox.engine.ledger import Ledger, OverBudgetError
from velavox.engine.live import Live
from velavox.engine.mechanism import Mechanism
from velavox.kernels.jit import F64

pytestmark = pytest.mark.usefixtures("few_nodes")


def test_every_session_and_channel_has_a_voice_of_its_own() -> None:
    engines = [Engine(DpVoice(), sample_rate=16_000, channels=2) for _ in range(3)]
    vectors = np.array([list(lane.stages[0].voice.values()) for engine in engines for lane in engine._lanes])
    alike = vectors @ vectors.T / 16
    assert np.allclose(np.diag(alike), 1, atol=1e-5)
    assert alike[np.triu_indices(6, 1)].max() < 0.97
    before = vectors[0]
    engines[0].new_voice()
    assert before @ list(engines[0].stages[0].voice.values()) / 16 < 0.97


def test_every_file_has_a_voice_of_its_own(tmp_path: Path) -> None:
    source = write(tmp_path / "a.wav", voice(1.0))
    stage = DpVoice()
    sounds = []
    for k in range(2):
        anonymize_file(source, tmp_path / f"{k}.wav", stage.clone())
        sounds.append((tmp_path / f"{k}.wav").read_bytes())
    assert sounds[0] != sounds[1]


def test_every_process_has_a_voice_of_its_own() -> None:
    code = "from velavox import DpVoice; stage = DpVoice(); stage.new_voice(); print(stage.voice)"
    found = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout for _ in range(2)}
    assert len(found) == 2
    assert "" not in found


def test_a_seed_repeats_and_says_that_no_bound_holds() -> None:
    speaker = np.eye(256)[0]
    first, second = (Engine(DpVoice(enroll=speaker), sample_rate=16_000, channels=2, seed=5) for _ in range(2))
    assert first.save()["lanes"] == second.save()["lanes"]
    assert first.stages[0].voice != first._lanes[1].stages[0].voice
    assert "no bound holds" in first.stages[0].promise
    other = Engine(DpVoice(enroll=np.eye(256)[1]), sample_rate=16_000, seed=5)
    assert np.dot(list(first.stages[0].voice.values()), list(other.stages[0].voice.values())) / 16 < 0.97


def test_without_a_seed_a_voice_does_not_repeat_the_one_before() -> None:
    stage = DpVoice(enroll=np.eye(256)[0])
    stage.new_voice(bytes(16))
    before = stage.voice
    stage.new_voice()
    assert stage.release is not None
    assert not stage.release.seeded
    assert stage.voice != before


def test_every_number_of_the_voice_reaches_the_decoder_in_its_place() -> None:
    stage = prepared()
    for _ in range(2):
        assert stage.release is not None
        np.testing.assert_array_equal(stage._decoder.inputs["voice"][0], stage.release.vector)
        stage.new_voice()


def test_it_says_what_it_spent() -> None:
    assert "mu 0" in prepared().promise
    assert "mu 2 for this session" in prepared(enroll=np.eye(256)[0], calibration="paper").promise
    restored = prepared()
    restored.restore(prepared().save())
    assert (restored.release, restored.promise) == (None, "")


def attack(calibration: Calibration, releases: int = 2500) -> tuple[float, float]:
    """The best attacker on voices of two speakers as far apart as can be: the mu proven, and the largest error rate that the
    errors leave room for."""
    pair = farthest(Mechanism(1.0, 256, 16, arithmetic()))
    scores: list[F64] = []
    for speaker in (pair.one, pair.other):
        stage = DpVoice(enroll=speaker, calibration=calibration)
        found = []
        for _ in range(releases):
            stage.new_voice()
            found.append(list(stage.voice.values()) @ pair.line)
        scores.append(np.array(found))
    errors = int((scores[0] <= 0).sum() + (scores[1] > 0).sum())
    shown = proven(scores[0], scores[1], np.linspace(-2, 2, 9), 2 * CHANCE)
    return shown.max(), float(clopper_pearson(errors, 2 * releases, 2 * CHANCE)[1])


def test_the_best_attacker_on_voices_stays_within_mu() -> None:
    shown, errors = attack("sound")
    assert 0.7 < shown <= 1
    assert errors >= eer_floor(1)


def test_the_same_attack_catches_the_papers_calibration() -> None:
    shown, errors = attack("paper")
    assert 1.6 < shown <= 2
    assert eer_floor(2) <= errors < eer_floor(1)


def test_the_ledger_counts_before_the_voice_is_there(tmp_path: Path) -> None:
    file = tmp_path / "ledger.json"
    values: dict[str, Any] = {"enroll": np.eye(256)[0], "ledger": str(file), "speaker": "ada", "budget": 1.5}
    stage = prepared(**values)
    stage.new_voice()
    assert Ledger(file).total("ada").total == pytest.approx(math.sqrt(2))
    before, release = stage.voice, stage.release
    with pytest.raises(OverBudgetError, match=r"past the budget of 1.5"):
        stage.new_voice()
    assert stage.voice == before
    assert stage.release is release
    with pytest.raises(ValueError, match="ledger: with a seed"):
        Engine(DpVoice(**values), sample_rate=16_000, seed=1)
    prepared(**values | {"enroll": None})  # tells nothing: no account
    assert Ledger(file).total("ada").releases == 2
    prepared(**values | {"speaker": "bob", "mu": 0.5, "calibration": "paper"})  # which spends twice its mu
    assert Ledger(file).total("bob").total == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("voice", "what"),
    [
        ({}, "16 numbers"),
        ({f"private{i}": 0.0 for i in range(16)}, "norm 4"),
        ({f"private{i}": math.nan for i in range(16)}, "norm 4"),
        ({f"p{i}": 1.0 for i in range(16)}, "16 numbers"),
    ],
)
def test_voices_that_no_draw_gives_are_refused(voice: dict[str, float], what: str) -> None:
    stage = prepared()
    with pytest.raises(ValueError, match=what):
        stage.restore({**stage.save(), "voice": voice})


def test_a_device_that_comes_back_costs_no_release(tmp_path: Path) -> None:
    """At another rate `Live` makes another engine, which goes on with the voice that was there."""
    file = tmp_path / "ledger.json"
    stage = DpVoice(enroll=np.eye(256)[0], ledger=file)
    live = Live(stage, card=DummyCard())
    first = live._engine_for(Format(16_000, 16_000, 160, 160, 1, 1, True))
    second = live._engine_for(Format(48_000, 48_000, 480, 480, 1, 1, True))
    assert second is not first
    assert second.stages[0].voice == first.stages[0].voice
    assert Ledger(file).total("speaker").releases == 1

"""Who is enrolled with the neural anonymizer: kept, saved, restored, in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dpvoices import damage, prepared, write
from signals import voice
from velavox import DpVoice, Engine
from velavox.engine.batch import anonymize_folder
from velavox.engine.enrolment import Enrolment
from velavox.engine.failure import FileFailure
from velavox.engine.files import anonymize_file
from velavox.engine.plan import PlanError

pytestmark = pytest.mark.usefixtures("few_nodes")


@pytest.mark.parametrize("enroll", [np.eye(256)[3], "recording", "sound"], ids=["embedding", "path", "sound"])
def test_the_embedding_is_never_saved(tmp_path: Path, enroll: Any) -> None:
    if isinstance(enroll, str):
        enroll = write(tmp_path / "ada.wav", voice(3.0)) if enroll == "recording" else voice(3.0)
    stage = prepared(enroll=enroll, mu=100.0)
    saved = json.loads(json.dumps(stage.save()))
    assert saved.keys() == {"version", "method", "values", "voice"}
    assert stage.release is not None
    assert list(saved["voice"].values()) == stage.release.vector.tolist()
    assert all(isinstance(value, (str, float)) for value in saved["values"].values())
    other = stage.clone()
    other.prepare()
    assert np.dot(list(stage.voice.values()), list(other.voice.values())) / 16 > 0.9  # at this mu nothing is hidden


def test_the_next_voice_is_of_whom_was_enrolled_last() -> None:
    stage = prepared(enroll=np.eye(256)[0])
    stage.enroll = None
    stage.new_voice()
    assert "no enrolment" in stage.promise
    stage.enroll = np.eye(256)[1]
    stage.new_voice()
    assert "mu 1 for this session" in stage.promise


def test_who_is_enrolled_goes_with_what_is_restored() -> None:
    """Else the next voice would tell of the speaker who was enrolled before."""
    saved, stage = prepared().save(), prepared(enroll=np.eye(256)[0])
    stage.restore(saved)
    stage.new_voice()
    assert "no enrolment" in stage.promise
    stage.restore(prepared(enroll=np.eye(256)[0]).save())
    with pytest.raises(ValueError, match="enroll=given: the array is not kept"):
        stage.new_voice()


def test_an_engine_that_refuses_what_was_saved_keeps_enrolment_and_promise() -> None:
    stage = DpVoice(enroll=np.eye(256)[0])
    engine = Engine(stage, sample_rate=16_000, channels=2)
    release, saved = stage.release, engine.save()
    saved["lanes"][0][0]["values"]["enroll"] = "nowhere.wav"
    damaged = {**saved, "generation": -1}, {**saved, "lanes": [saved["lanes"][0], [{**saved["lanes"][1][0], "voice": {}}]]}
    for each in damaged:
        with pytest.raises(ValueError, match="nothing was changed"):
            engine.restore(each)
    assert stage.release is release
    engine.new_voice()
    assert "mu 1 for this session" in stage.promise


def test_an_array_that_enrols_is_a_copy_and_its_numbers_fit() -> None:
    speaker = np.eye(256, dtype=np.float32)[0]
    stage = DpVoice(enroll=speaker, mu=100.0)
    speaker[:] = np.eye(256)[1]
    stage.prepare()
    first = prepared(enroll=np.eye(256)[0], mu=100.0)
    assert np.dot(list(stage.voice.values()), list(first.voice.values())) / 16 > 0.9
    with pytest.raises(ValueError, match="NaN or infinity"):
        DpVoice(enroll=np.full(256, 1e300))


def test_a_recording_enrols_itself_each_channel_for_its_own(tmp_path: Path) -> None:
    low, high = voice(3.0, 90), voice(3.0, 220, seed=4)
    write(tmp_path / "two.wav", np.stack([low, high], 1))
    write(tmp_path / "silent.wav", np.zeros(32_000, np.float32))
    heard = [Engine(DpVoice(enroll="self", mu=100.0), sample_rate=16_000, channels=2, recording=tmp_path / "two.wav")._lanes]
    for lanes in heard:
        voices = [np.array(list(lane.stages[0].voice.values())) for lane in lanes]
        for x, found in zip((low, high), voices, strict=True):
            alone = np.array(list(prepared(enroll=x, mu=100.0).voice.values()))
            assert alone @ found / 16 > 0.9  # of each other: 0.8
        for x, lane in zip((low, high), lanes, strict=True):
            stage = lane.stages[0]
            assert isinstance(stage, DpVoice)
            enrolled, own = stage._enrolment.embedding, Enrolment(x).embedding
            assert enrolled is not None
            assert own is not None
            np.testing.assert_allclose(enrolled, own, atol=1e-3)
    report = anonymize_file(tmp_path / "two.wav", tmp_path / "out.wav", DpVoice(enroll="self"))
    assert (report.frames, report.muted) == (48_000, 0)
    with pytest.raises(FileFailure, match=r"less than 0.5 s of speech"):
        anonymize_file(tmp_path / "silent.wav", tmp_path / "out2.wav", DpVoice(enroll="self"))
    assert not (tmp_path / "out2.wav").exists()


def test_whom_a_recording_enrols_no_other_one_does(tmp_path: Path) -> None:
    ada = write(tmp_path / "ada.wav", voice(3.0, 90))
    for enroll in (ada, None):
        stage = DpVoice(enroll=enroll)
        Engine(stage, sample_rate=16_000, recording=write(tmp_path / "bob.wav", voice(3.0, 220, seed=4)))
        expected = None if enroll is None else Enrolment(ada).embedding
        np.testing.assert_array_equal(np.array(stage._enrolment.embedding), np.array(expected))


def test_files_of_a_speaker_that_enrol_themselves_cannot_share_a_voice(tmp_path: Path) -> None:
    write(tmp_path / "a.wav", voice(2.0))
    with pytest.raises(PlanError, match="enroll=self gives every file a voice of its own"):
        anonymize_folder(tmp_path, tmp_path / "out", "dp", settings={"enroll": "self"}, voices="per-speaker")


def test_a_file_fails_in_a_line_where_graph_or_budget_does(tmp_path: Path, few_nodes: Path) -> None:
    source, out = write(tmp_path / "a.wav", voice(2.0)), tmp_path / "out.wav"
    stage = DpVoice(enroll=np.eye(256)[0], ledger=tmp_path / "ledger.json", budget=0.5, mode="low")
    with pytest.raises(FileFailure, match=r"past the budget of 0.5: give a smaller mu"):
        anonymize_file(source, out, stage)
    damage(few_nodes, "decoder", "altered")
    with pytest.raises(FileFailure, match=r"graph decoder: file damaged[^\n]*: install velavox again"):
        anonymize_file(source, out, DpVoice())
    assert not out.exists()

"""Scores: of who knows all, of who is always wrong, and of nobody's silence or unknown frames."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from trainingdata import pack
from velavox.engine.content import phones
from velavox.models_onnx.training import evaluate, pitch
from velavox.models_onnx.training.evaluate import Scores, accuracy, run
from velavox.models_onnx.training.packs import BANDS, Pack, Row, write_rows
from velavox.models_onnx.training.student import LATE, SOON, Outputs, Shape, Student

torch.set_num_threads(1)

ALL = ("late", "soon", "late_top3", "voicing", "pitch")


class Knowing(Student):
    """Says what the first three bands hold, state, phone and pitch class, as late as it may; others say `wrong` of them."""

    def __init__(self, wrong: int = 0) -> None:
        super().__init__(Shape(width=2, hidden=2, taps=2, dilations=(1,)))
        self.wrong = wrong

    def forward(self, mel: Tensor, memory: list[Tensor]) -> tuple[Outputs, list[Tensor]]:
        sizes = (phones.STATES, len(phones.PHONES), 1 + pitch.PITCHES)
        logits = []
        for head, (size, delay, repeat) in enumerate(zip(sizes, (LATE, SOON, SOON), (3, 1, 1), strict=True)):
            of_frame = (mel[..., head].long() + self.wrong * repeat) % size
            known = torch.nn.functional.one_hot(of_frame.roll(delay, 1), size) * 20.0
            logits.append(known)
        return Outputs(*logits), memory


def told(folder: Path, lengths: list[int]) -> Pack:
    """A pack whose features give its labels away."""
    made = pack(folder, lengths)
    mel = np.zeros((len(made.state), BANDS), np.float16)
    mel[:, 0], mel[:, 1], mel[:, 2] = made.state, phones.phone_of_state()[made.state], made.pitch
    np.save(folder / "mel.npy", mel)
    return Pack(folder)


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The features are the pack's."""
    monkeypatch.setattr(evaluate, "features", lambda mel: mel)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    return told(tmp_path_factory.mktemp("packs") / "known", [81, 200, 33, 60])


def test_who_knows_all_is_always_right(known: Pack) -> None:
    assert astuple(accuracy(Knowing(), known)) == (1.0,) * 5


def test_who_is_always_wrong_never_is(known: Pack) -> None:
    """By a phone, and by one class of pitch, which is close enough, or three, which are not."""
    one, three = accuracy(Knowing(1), known), accuracy(Knowing(3), known)
    assert (one.late, one.soon) == (0, 0)
    assert one.pitch > 0.95
    assert three.pitch < 0.05


def test_frames_that_nobody_knows_or_that_are_silent_do_not_count(known: Pack, tmp_path: Path) -> None:
    other = told(tmp_path / "other", [81, 200, 33, 60])
    mel = np.array(other.mel)
    quiet, unknown = np.arange(len(mel)) % 7 == 0, np.arange(len(mel)) % 7 == 1
    mel[quiet | unknown, :2] += 6  # said wrongly
    mel[unknown, 2] += 9
    state, tone = np.array(other.state), np.array(other.pitch)
    state[quiet], state[unknown], tone[unknown] = 0, phones.IGNORED, pitch.IGNORED
    for name, array in (("mel", mel), ("state", state), ("pitch", tone)):
        np.save(tmp_path / "other" / f"{name}.npy", array)
    assert astuple(accuracy(Knowing(), Pack(tmp_path / "other"))) == (1.0,) * 5


def test_scores_are_of_the_speakers_asked_for(tmp_path: Path) -> None:
    """One corpus is told, the other one's features say nothing."""
    mixed = told(tmp_path / "mixed", [100, 100])
    mel = np.array(mixed.mel)
    mel[100:] = 0
    np.save(tmp_path / "mixed" / "mel.npy", mel)
    write_rows(tmp_path / "mixed" / "rows.csv", [Row("u0", "good:s", 0, 100), Row("u1", "bad:s", 100, 100)])
    mixed = Pack(tmp_path / "mixed")
    assert accuracy(Knowing(), mixed, "good").late == 1
    assert accuracy(Knowing(), mixed, "bad").late < 0.2
    assert accuracy(Knowing(), mixed).late == pytest.approx(0.5, abs=0.12)


def test_a_pack_without_what_is_scored_scores_nothing(tmp_path: Path) -> None:
    silent = told(tmp_path / "silent", [50])
    np.save(tmp_path / "silent" / "state.npy", np.zeros(50, np.uint8))
    assert accuracy(Knowing(), Pack(silent.folder)).late == 0


def test_outputs_are_of_each_row_whatever_it_is_padded_to(known: Pack) -> None:
    torch.manual_seed(0)
    net = Student(Shape(width=16, hidden=16, taps=4, dilations=(1, 2))).eval()
    ((rows, outputs),) = run(net, known)
    assert sorted(row.utterance for row in rows) == ["u0", "u1", "u2", "u3"]
    for b, row in enumerate(rows):
        even = row.frames - row.frames % 2
        mel = torch.from_numpy(known.mel[row.start : row.start + even].astype(np.float32))[None]
        with torch.no_grad():
            alone, _ = net(mel, net.fresh(1))
        for found, expected in zip(outputs, alone, strict=True):
            assert (found[b, :even] - expected[0]).abs().max() < 0.1  # of 16-bit floats


def test_some_rows_stand_for_all(known: Pack) -> None:
    assert sum(len(rows) for rows, _ in run(Knowing(), known, most=2)) == 2
    assert sum(len(rows) for rows, _ in run(Knowing(), known, most=100)) == 4


def test_scores_are_told_by_name() -> None:
    text = str(Scores(*(n / 10 for n in range(1, 6))))
    assert text == "late 0.100 (top 3 0.300) soon 0.200 voicing 0.400 F0 0.500"

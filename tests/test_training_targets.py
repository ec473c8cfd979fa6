"""What the decoder is trained on: which speech, its targets on the clock of the features, what is heard, and whose voice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from signals import voice
from trainingdata import recorded, utterance
from velavox.engine.content.phones import STATES
from velavox.kernels import fbank, prosody
from velavox.models_onnx.training import hearing, targets, voices
from velavox.models_onnx.training.corpora import DEV, TRAIN, Utterance
from velavox.models_onnx.training.encoder import encode
from velavox.models_onnx.training.journal import Journal
from velavox.models_onnx.training.student import LATE, SOON, Shape, Student
from velavox.models_onnx.training.targets import TargetPack, chosen
from velavox.models_onnx.training.whiten import DIMENSIONS, Projection

torch.set_num_threads(1)


def listed(
    name: str, seconds: float, *, speaker: str, source: str = "c", split: str = TRAIN, language: str = "en"
) -> Utterance:
    return Utterance(name, f"{source}:{speaker}", source, "", seconds, split, language=language)


def test_of_each_speaker_so_much_and_of_noisy_corpora_nothing() -> None:
    spoken = [listed(f"a{i}", 10, speaker="a") for i in range(40)]
    spoken += [listed(f"b{i}", 10, speaker="b") for i in range(3)]
    spoken += [listed(f"d{i}", 10, speaker="d", split=DEV) for i in range(40)]
    spoken += [listed(f"n{i}", 10, speaker="n", source="picovoice_sti") for i in range(3)]
    seconds = {
        (split, speaker): sum(u.seconds for u in chosen(spoken, split, 0) if u.speaker == f"c:{speaker}")
        for split in (TRAIN, DEV)
        for speaker in "abd"
    }
    assert seconds == {(TRAIN, "a"): 150, (TRAIN, "b"): 30, (TRAIN, "d"): 0, (DEV, "a"): 0, (DEV, "b"): 0, (DEV, "d"): 30}
    assert not [u for split in (TRAIN, DEV) for u in chosen(spoken, split, 0) if u.source == "picovoice_sti"]


def test_the_choice_is_the_seeds() -> None:
    spoken = [listed(f"a{i}", 10, speaker="a") for i in range(40)]
    assert chosen(spoken, TRAIN, 1) == chosen(spoken, TRAIN, 1)
    assert chosen(spoken, TRAIN, 1) != chosen(spoken, TRAIN, 2)


def test_of_synthetic_speech_so_much_in_each_language() -> None:
    spoken = [
        listed(f"{language}{i}", 20, speaker=f"{i}", source="synth", language=language)
        for language in ("en", "zh")
        for i in range(50)
    ]
    for language in ("en", "zh"):
        assert sum(u.seconds for u in chosen(spoken, TRAIN, 0) if u.language == language) == pytest.approx(610, abs=15)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Utterance]]:
    """A folder of two utterances with their targets in `targets`: each is silent up to sample 8000."""
    folder = tmp_path_factory.mktemp("decoder")
    found = []
    for number, hertz in enumerate((110.0, 210.0)):
        samples = voice(2.0, hertz, seed=number)
        samples[:8000] = 0
        path = recorded(folder / f"u{number}.wav", samples)
        found.append(utterance(f"u{number}", path, speaker=f"s{number}"))
    targets.make(folder / "targets", found, Journal(folder))
    return folder, found


def test_targets_are_on_the_clock_of_the_features(work: tuple[Path, list[Utterance]]) -> None:
    """As many, and as loud as these at the same frame rather than at a neighbour's: frame t is about sample 160 t + 200."""
    folder, found = work
    pack = TargetPack(folder / "targets")
    for row, u in zip(pack.rows, found, strict=True):
        loud = np.log(np.exp(fbank.offline(u.audio())).mean(1))[60:-10]
        assert row.frames == len(loud) + 70
        level = np.log(np.exp(pack.of(row).envelope).mean(1))
        alike = [np.corrcoef(level[60 + lag : len(level) - 10 + lag], loud)[0, 1] for lag in range(-4, 5)]
        assert np.argmax(alike) == 4
        assert max(alike) > 0.8


def test_targets_there_are_kept(work: tuple[Path, list[Utterance]]) -> None:
    folder, _ = work
    assert targets.make(folder / "targets", [], Journal(folder)).rows == TargetPack(folder / "targets").rows


def decided() -> Student:
    """A student that was not trained, but is sure."""
    torch.manual_seed(0)
    student = Student(Shape(width=16, hidden=24, taps=4, dilations=(1, 2))).eval()
    for head in (student.states, student.phones):
        head.weight.data *= 20
    return student


def test_what_is_heard_is_about_its_frame() -> None:
    """Row t holds what the student says of frame t: later, as it is late."""
    student = decided()
    mels = [np.random.default_rng(n).normal(size=(n, 80)).astype(np.float32) for n in (40, 31)]
    for mel, (states, known, followed) in zip(mels, hearing.hear(student, mels), strict=True):
        n = len(mel)
        assert (len(states), len(known), len(followed)) == (n, n, n)
        with torch.no_grad():
            said = encode(student, torch.from_numpy(np.pad(mel, ((0, 12 + n % 2), (0, 0)), "edge"))[None])
        best = said.content[0, LATE : n + LATE, :STATES].argmax(-1).numpy()
        assert (states[:, 0, 0] == best).mean() > 0.7  # the rest are equal levels
        best = said.content[0, SOON : n + SOON, STATES:].argmax(-1).numpy()
        assert (known[:, 0, 0] == best).mean() > 0.7
        for i, late in enumerate((LATE, SOON)):
            rows = prosody.offline(said.pitch[0], said.voicing[0], said.energy[0], late)[late : n + late]
            np.testing.assert_allclose(followed[:, i], rows, atol=0.1)


def test_a_variant_is_its_seeds(work: tuple[Path, list[Utterance]], tmp_path: Path) -> None:
    folder, found = work
    student = decided()
    rows, by_name = TargetPack(folder / "targets").rows, {u.utterance: u for u in found}
    made = [
        hearing.make(tmp_path / name, student, by_name, rows, seed, Journal(tmp_path))
        for name, seed in (("a", 1), ("b", 1), ("c", 2), ("d", None))
    ]
    levels = [variant.states.astype(int) for variant in made]
    assert (levels[0] == levels[1]).all()
    assert (levels[0] != levels[2]).any()
    assert (levels[0] != levels[3]).any()


def test_a_voice_is_that_of_its_copy(work: tuple[Path, list[Utterance]], tmp_path: Path) -> None:
    """Vectors have one norm, are the seed's, and another variant is another voice; the speakers' own has no change."""
    folder, _ = work
    pack = TargetPack(folder / "targets")
    random = np.random.default_rng(0)
    project = Projection(np.zeros(256, np.float32), random.normal(size=(256, DIMENSIONS)).astype(np.float32), 1.0)
    own, one, again, other = (
        voices.make(tmp_path / name, pack, project, seed, Journal(tmp_path))
        for name, seed in (("own", None), ("one", 1), ("again", 1), ("other", 2))
    )
    np.testing.assert_allclose(np.linalg.norm(own.vectors, axis=1), 4, rtol=1e-5)
    assert own.changes == [voices.Change()] * 2
    assert one.changes == again.changes
    assert np.array_equal(one.vectors, again.vectors)
    assert one.changes != other.changes
    assert np.abs(one.vectors - own.vectors).max() > 0.1

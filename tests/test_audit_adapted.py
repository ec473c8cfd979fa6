"""The adapted encoder: it begins as the shipped one, learns, goes on where it was, and runs as a graph without torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from signals import noise, voice
from velavox.bench.audit import adapted
from velavox.bench.encoders import ge2e
from velavox.kernels.jit import F32

torch = pytest.importorskip("torch")
adapting = pytest.importorskip("velavox.bench.audit.adapting")

Speech = list[tuple[str, F32]]


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def speech() -> Speech:
    """Four speakers, told apart by their pitch, with three utterances each."""
    return [(f"c:{p}", voice(2.0, 90.0 + 40 * p, seed=10 * p + n)) for p in range(4) for n in range(3)]


def _train(speech: Speech, folder: Path, steps: int, seed: int = 0, batch: int = 4) -> bytes:
    return bytes(adapting.train(speech, folder, steps, seed, lambda line: None, batch))


def test_without_training_it_is_the_shipped_one(speech: Speech, tmp_path: Path) -> None:
    encoder = adapted.adapt(speech, tmp_path, steps=0, say=lambda line: None)
    for _, samples in speech[::5]:
        assert encoder(samples) == pytest.approx(ge2e(samples), abs=1e-5)


def test_training_lowers_the_loss_and_tells_speakers_apart(speech: Speech, tmp_path: Path) -> None:
    before, after = adapted.Adapted(_train(speech, tmp_path, 0)), adapted.Adapted(_train(speech, tmp_path, 12))
    assert before.key != after.key

    def apart(encoder: adapted.Adapted) -> float:
        """How much liker two utterances of one speaker are than of two."""
        vectors = np.array([encoder(samples) for _, samples in speech])
        cosines, same = vectors @ vectors.T, np.equal.outer(*[np.array([s for s, _ in speech])] * 2)
        return float(cosines[same & ~np.eye(len(speech), dtype=bool)].mean() - cosines[~same].mean())

    assert apart(after) > apart(before) + 0.05
    vector = after(speech[0][1])
    assert vector.shape == (256,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_an_interrupted_training_ends_as_one_that_was_not(
    speech: Speech, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapting, "_SAVE_EVERY", 2)
    whole = _train(speech, tmp_path / "whole", 4)

    def interrupt(line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adapting.train(speech, tmp_path / "part", 4, 0, interrupt, 4)
    assert list((tmp_path / "part").iterdir())
    assert _train(speech, tmp_path / "part", 4) == whole
    said: list[str] = []
    assert bytes(adapting.train(speech, tmp_path / "part", 4, 0, said.append, 4)) == whole
    assert not said  # all was done


def test_other_speech_or_another_seed_begins_anew(speech: Speech, tmp_path: Path) -> None:
    first = _train(speech, tmp_path, 2)
    assert _train(speech, tmp_path, 2, seed=1) != first
    assert _train([(name, 0.5 * x + noise(len(x), 1e-3)) for name, x in speech], tmp_path, 2) != first
    assert len(list(tmp_path.iterdir())) == 3


def test_too_little_speech(speech: Speech, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="2 speakers with two utterances"):
        _train([*speech[:6], speech[6]], tmp_path, 1)
    with pytest.raises(ValueError, match=r"less than 0\.5 s"):
        adapted.adapt(speech, tmp_path, steps=0, say=lambda line: None)(np.zeros(16_000, np.float32))


def test_without_torch_it_says_what_to_install(speech: Speech, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.delitem(sys.modules, "velavox.bench.audit.adapting")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ValueError, match=r"needs torch: pip install 'velavox\[train\]'"):
        adapted.adapt(speech, tmp_path)

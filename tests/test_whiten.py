"""The projection: white over speakers, each of whom counts once, and the same from the same recordings in any order."""

from __future__ import annotations

import numpy as np
import pytest
from velavox.kernels.jit import F32
from velavox.models_onnx.training.corpora import Utterance
from velavox.models_onnx.training.whiten import fit, labelled

pytestmark = pytest.mark.nojit


def recordings(speakers: int = 60, size: int = 24, seed: int = 0) -> tuple[F32, list[str]]:
    """One to nine of each speaker; speakers differ most in the first dimensions."""
    random = np.random.default_rng(seed)
    names = [f"s{i:02d}" for i in range(speakers) for _ in range(1 + i % 9)]
    voices = {name: random.normal(size=size) / np.arange(1, size + 1) + 2 for name in names}
    x = np.array([voices[name] + 0.01 * random.normal(size=size) for name in names])
    return x.astype(np.float32), names


def means(x: F32, names: list[str]) -> F32:
    return np.array([x[np.array(names) == name].mean(0) for name in sorted(set(names))])


def test_speakers_are_white() -> None:
    x, names = recordings()
    projected = fit(x, names, 8)(means(x, names))
    assert np.allclose(projected.mean(0), 0, atol=1e-5)
    assert np.allclose(np.cov(projected.T), np.eye(8), atol=1e-4)


def test_what_it_explains_is_the_variance_that_is_kept() -> None:
    x, names = recordings()
    centred = means(x, names).astype(float) - means(x, names).mean(0)
    for k in (1, 8, 24):
        found = fit(x, names, k)
        kept, _ = np.linalg.qr(found.matrix.astype(float))
        assert found.explained == pytest.approx(((centred @ kept) ** 2).sum() / (centred**2).sum(), rel=1e-4)
    assert found.explained == pytest.approx(1)


def test_the_order_does_not_matter_and_neither_does_how_much_somebody_talks() -> None:
    x, names = recordings()
    first = fit(x, names, 8)
    order = np.random.default_rng(5).permutation(len(x))
    other = fit(x[order], [names[i] for i in order], 8)
    assert np.array_equal(first.matrix, other.matrix)
    assert np.array_equal(first.mean, other.mean)
    often = np.array(names) == "s05"
    more = fit(np.concatenate([x, *[x[often]] * 20]), names + ["s05"] * 20 * int(often.sum()), 8)
    assert np.allclose(first.matrix, more.matrix, rtol=1e-3, atol=1e-4)


def test_too_few_speakers_are_refused() -> None:
    x, names = recordings(speakers=8)
    with pytest.raises(ValueError, match="8 speakers: 8 dimensions need more"):
        fit(x, names, 8)


def test_only_labelled_training_speakers_count() -> None:
    def utterance(name: str, speaker: str, source: str = "corpus", split: str = "train") -> Utterance:
        return Utterance(name, f"{source}:{speaker}", source, "", 1.0, split)

    good = utterance("a", "1")
    others = [utterance("b", "b"), utterance("c", "1", split="dev"), utterance("d", "af*1.0", source="synth")]
    assert labelled([*others, good]) == [good]

